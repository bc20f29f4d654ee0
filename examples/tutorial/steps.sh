# The commands of the tutorial; a test runs them.
set -e

# The first version of pinboard/__init__.py, without the notes.
cp first_run.py pinboard/__init__.py

# [schema]
export SECRET_KEY=$(flask frontdesk generate-key)
flask --app wsgi db init
flask --app wsgi db migrate -m "Accounts and workspaces"
flask --app wsgi db upgrade
flask --app wsgi frontdesk doctor
# [end]

cp final.py pinboard/__init__.py

# [notes]
flask --app wsgi db migrate -m "Notes"
flask --app wsgi db upgrade
# [end]

flask --app wsgi run --debug --no-reload --port 5000 >server.log 2>&1 &
trap 'kill $!' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  curl --silent --fail --output /dev/null http://127.0.0.1:5000/api/health && break
  sleep 0.5
done

# [sign-up]
api=http://127.0.0.1:5000/api
PASSWORD=$(openssl rand -base64 18)
curl $api/registration -H 'Content-Type: application/json' \
  -d '{"email": "ada@example.com", "password": "'"$PASSWORD"'", "name": "Ada"}'
# [end]

# The email is sent after the response.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  ls instance/outbox/*.eml >/dev/null 2>&1 && break
  sleep 0.1
done

# [verify]
code=$(grep -ohE '\b[0-9]{8}\b' instance/outbox/*.eml | tail -1)
curl $api/email-verification -H 'Content-Type: application/json' \
  -d '{"email": "ada@example.com", "token": "'"$code"'"}'
# [end]

# [sign-in]
token=$(curl --silent $api/login -d username=ada@example.com --data-urlencode "password=$PASSWORD" |
  python -c 'import json, sys; print(json.load(sys.stdin)["access_token"])')
curl $api/account -H "Authorization: Bearer $token"
# [end]

# [requests]
curl -w '\n' $api/ada/notes/ -H "Authorization: Bearer $token" \
  -H 'Content-Type: application/json' -d '{"text": "Water the plants"}'
curl -w '\n' $api/ada/notes/ -H "Authorization: Bearer $token"
# [end]

rm instance/outbox/*.eml

# [recovery]
curl $api/password-recovery -H 'Content-Type: application/json' \
  -d '{"email": "ada@example.com"}'
# [end]

# The email is sent after the response, and the server ends with this script.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  ls instance/outbox/*.eml >/dev/null 2>&1 && break
  sleep 0.1
done

# [reset]
code=$(grep -ohE '\b[0-9]{8}\b' instance/outbox/*.eml | tail -1)
NEW_PASSWORD=$(openssl rand -base64 18)
curl $api/reset-password -H 'Content-Type: application/json' \
  -d '{"email": "ada@example.com", "token": "'"$code"'", "new_password": "'"$NEW_PASSWORD"'"}'
# [end]
