# The quickstart of README.md; a test runs these commands and compares what they print.
set -e

# [account]
export SECRET_KEY=$(flask frontdesk generate-key)
openssl rand -base64 18 | tr -d '\n' >password.txt
flask --app app accounts create ada@example.com --password-file password.txt
# [end]

flask --app app run --port 8000 >server.log 2>&1 &
trap 'kill $!' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  curl --silent http://127.0.0.1:8000/hello >/dev/null && break
  sleep 0.5
done

# [requests]
token=$(curl -s http://127.0.0.1:8000/api/login -d username=ada@example.com \
  --data-urlencode password@password.txt |
  python -c 'import json, sys; print(json.load(sys.stdin)["access_token"])')
curl http://127.0.0.1:8000/hello -H "Authorization: Bearer $token"
curl http://127.0.0.1:8000/hello
# [end]
