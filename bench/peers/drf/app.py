"""The WSGI application."""
# mypy: disable-error-code="import-not-found, import-untyped"

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.peers.drf.settings")
app = get_wsgi_application()
