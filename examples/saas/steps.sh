# What the tutorial has its reader type; a test types it too.
set -e

# [schema]
export SECRET_KEY=$(python -c 'import secrets; print(secrets.token_urlsafe(48))')
flask --app wsgi db init
flask --app wsgi db migrate -m "accounts, workspaces and notes"
flask --app wsgi db upgrade
flask --app wsgi frontdesk doctor
# [end]

flask --app wsgi run --port 5000 >server.log 2>&1 &
trap 'kill $!' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  curl --silent --fail http://127.0.0.1:5000/api/health && break
  sleep 0.5
done

# [requests]
api=http://127.0.0.1:5000/api
PASSWORD=$(openssl rand -base64 18)
curl --fail $api/sign-up -H 'Content-Type: application/json' \
  -d '{"email": "ada@example.com", "password": "'"$PASSWORD"'", "name": "Ada"}'
token=$(curl --fail --silent $api/login -d username=ada@example.com --data-urlencode "password=$PASSWORD" |
  python -c 'import json, sys; print(json.load(sys.stdin)["access_token"])')
curl --fail $api/ada/notes/ -H "Authorization: Bearer $token" \
  -H 'Content-Type: application/json' -d '{"text": "Water the plants"}'
curl --fail $api/ada/notes/ -H "Authorization: Bearer $token"
# [end]

# [recovery]
curl --fail $api/password-recovery -H 'Content-Type: application/json' -d '{"email": "ada@example.com"}'
# [end]

# The email is sent after the response, and the server ends with this script.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  ls instance/outbox/*.eml && break
  sleep 0.1
done
