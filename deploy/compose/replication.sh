#!/bin/sh
# Runs once, when the first primary is created: it lets the replica connect, and has each commit wait for the replica.
# The settings are part of the data, so a copy has them too. The second one begins with the next start of the server.
set -eu
echo "host replication $POSTGRES_USER samenet scram-sha-256" >>"$PGDATA/pg_hba.conf"
psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --command "ALTER SYSTEM SET synchronous_standby_names = '*'"
