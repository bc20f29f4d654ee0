#!/bin/sh
# Starts a sentinel, which stores in its configuration file what it has learned.
set -eu
if [ ! -s sentinel.conf ]; then
    cat >sentinel.conf <<END
port 26379
# Names stay when a container gets another IP address.
sentinel resolve-hostnames yes
sentinel announce-hostnames yes
sentinel announce-ip $NAME
sentinel monitor mymaster redis1 6379 2
sentinel auth-pass mymaster $REDISCLI_AUTH
sentinel down-after-milliseconds mymaster 1000
sentinel failover-timeout mymaster 10000
END
fi
# Clients and other sentinels need the password. A file from before has none.
grep -q '^requirepass ' sentinel.conf || echo "requirepass $REDISCLI_AUTH" >>sentinel.conf
exec redis-server "$PWD/sentinel.conf" --sentinel
