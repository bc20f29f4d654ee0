# The commands of the guide, for a migration history of Frontdesk that is separate from the application's.
set -e

flask --app app db init

# [files]
cat > migrations/env.py <<'PYTHON'
from flask_frontdesk import run_migrations

run_migrations()
PYTHON
sed -i 's|^\[alembic\]$|&\nversion_locations = %(here)s/versions flask_frontdesk:migrations/versions\npath_separator = space|' \
  migrations/alembic.ini
# [end]

# [steps]
flask --app app db revision --head base --branch-label shop -m "Existing tables" \
  --version-path migrations/versions
flask --app app db upgrade heads
flask --app app frontdesk doctor || true # lists the columns missing from users
flask --app app db migrate --head shop@head -m "Add the columns of an account"
flask --app app db upgrade heads
flask --app app frontdesk doctor
# [end]
