# The commands of the guide: Frontdesk's migrations in a history of their own.
set -e

# [steps]
flask --app app db init
flask --app app frontdesk migrations init
flask --app app db upgrade heads
flask --app app db migrate -m mine
flask --app app db upgrade heads
flask --app app db check
# [end]
