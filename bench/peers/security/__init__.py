"""Flask-Security-Too after its quick start: models from `fsqla_v3`, token authentication."""
