# The service and, with another command, its worker: the same image runs both.
FROM python:3.12-slim AS build
WORKDIR /build
RUN python -m venv /venv
COPY requirements.txt .
RUN /venv/bin/pip install --no-cache-dir -r requirements.txt

FROM python:3.12-slim
RUN useradd --system --uid 10001 --create-home --home-dir /srv/frontdesk frontdesk
WORKDIR /srv/frontdesk
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
COPY wsgi.py config.py gunicorn.conf.py ./
COPY app app
COPY migrations migrations
COPY templates templates
# What the service writes where no database, bucket or mail server is set.
RUN python -m compileall -q app && mkdir instance && chown frontdesk instance
USER frontdesk
VOLUME /srv/frontdesk/instance
ENV BIND=0.0.0.0:8000
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/api/v1/health', timeout=4)"]
CMD ["gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
