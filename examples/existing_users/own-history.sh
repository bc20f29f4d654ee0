# The commands of the guide, for Frontdesk's tables in the application's migration history.
set -e

flask --app app db init

# [files]
cat > migrations/env.py <<'PYTHON'
from flask_frontdesk import run_migrations

run_migrations()
PYTHON
# [end]

# [steps]
flask --app app db migrate -m "Add Frontdesk"
flask --app app db upgrade
flask --app app frontdesk doctor
# [end]
