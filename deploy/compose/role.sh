#!/bin/sh
# Runs once, when the server has no data: creates the role of the service, which owns its database and is no superuser.
set -eu
psql --username "$POSTGRES_USER" --dbname postgres --set ON_ERROR_STOP=1 --set password="$SERVICE_PASSWORD" <<END
CREATE ROLE frontdesk LOGIN PASSWORD :'password';
CREATE DATABASE frontdesk OWNER frontdesk;
END
