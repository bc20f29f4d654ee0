"""Flask-Security-Too as its quick start shows: models from `fsqla_v3`, token authentication."""
