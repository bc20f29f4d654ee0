# The commands of the guide, for a migration history of Frontdesk that is separate from the application's.
set -e

flask --app app db init

# [steps]
flask --app app frontdesk migrations init
flask --app app db upgrade heads
flask --app app frontdesk doctor || true # lists the columns missing from users
flask --app app db migrate -m "Add the columns of an account"
flask --app app db upgrade heads
flask --app app frontdesk doctor
# [end]
