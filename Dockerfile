# The service and, with another command, its worker. The image includes metrics and tracing.
# Any Debian-based image with Python 3.11 or newer. compose.yaml describes the date.
# 2026-09-22
ARG PYTHON=python:3.12.15-slim-trixie

FROM ${PYTHON} AS build
WORKDIR /build
RUN python -m venv /venv
COPY requirements.txt .
RUN /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.txt

FROM ${PYTHON}
RUN useradd --uid 10001 --shell /usr/sbin/nologin --no-create-home --home-dir /srv/frontdesk frontdesk
WORKDIR /srv/frontdesk
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
COPY wsgi.py config.py gunicorn.conf.py ./
COPY app app
COPY migrations migrations
COPY templates templates
# The only folder that the service writes to, apart from /tmp: without a database server, a bucket
# or a mail server, it has the data.
RUN python -m compileall -q app config.py wsgi.py && install -d -m 700 -o frontdesk instance
USER frontdesk
VOLUME /srv/frontdesk/instance
ENV BIND=0.0.0.0:8000 CORE__PRODUCTION_CHECKS=refuse PROFILES__VISIBILITY=workspaces
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:8000' + os.environ.get('CORE__API_V1_STR', '/api/v1') + '/health', timeout=4)"]
CMD ["gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
