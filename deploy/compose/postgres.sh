#!/bin/sh
# Starts PostgreSQL. A server without data that is not the primary copies the primary, and becomes its replica.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ] && [ "$NAME" != "$PRIMARY" ]; then
    mkdir -p "$PGDATA"
    # find deletes the files of an interrupted copy. --write-recovery-conf stores the address and the password
    # of the primary.
    until find "$PGDATA" -mindepth 1 -delete && PGPASSWORD="$POSTGRES_PASSWORD" pg_basebackup --pgdata "$PGDATA/copy" \
        --host "$PRIMARY" --username "$POSTGRES_USER" --no-password --checkpoint fast --write-recovery-conf; do
        sleep 2
    done
    # PG_VERSION marks complete data, so the script moves it last.
    find "$PGDATA/copy" -mindepth 1 -maxdepth 1 ! -name PG_VERSION -exec mv --target-directory "$PGDATA" {} +
    mv "$PGDATA/copy/PG_VERSION" "$PGDATA"
    rmdir "$PGDATA/copy"
fi
# A replica whose primary is lost can be promoted only between two attempts to connect.
exec docker-entrypoint.sh postgres -c wal_retrieve_retry_interval=500ms
