# The commands of the guide: a new history without Frontdesk's.
set -e

# [steps]
rm -r migrations
flask --app app db init
DATABASE_URL=sqlite:///empty.db flask --app app db migrate -m "All tables"
flask --app app db stamp --purge head
flask --app app db check
# [end]
