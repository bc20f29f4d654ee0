# [env]
from flask_frontdesk import run_migrations

run_migrations()
# [end]
