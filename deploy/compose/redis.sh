#!/bin/sh
# Starts a Redis server. The sentinels change masters and replicas, and the server stores in its configuration file
# what it is; with an empty volume, redis1 is the master.
set -eu
if [ ! -s redis.conf ]; then
    cat >redis.conf <<END
requirepass $REDISCLI_AUTH
masterauth $REDISCLI_AUTH
replica-announce-ip $NAME
# Persistence keeps codes and counters over a restart; sign-outs are also in the database.
appendonly yes
maxmemory-policy noeviction
# A master that has lost its replicas rejects writes, which would be lost with it.
min-replicas-to-write 1
min-replicas-max-lag 10
END
    [ "$NAME" = redis1 ] || echo "replicaof redis1 6379" >>redis.conf
fi
exec redis-server "$PWD/redis.conf"
