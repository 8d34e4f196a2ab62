# SPDX-License-Identifier: Apache-2.0
# Lose the database and get it back; then fill its disk and make room again. What was acknowledged stays.
. "$(dirname "$0")/lib.sh"
DATABASE=$(free_port) NODE=$(free_port)
mkdir "$WORK/postgres"
# A disk of its own, to be filled; where none can be mounted, that part is left out.
mount -t tmpfs -o size=400m tmpfs "$WORK/postgres" 2> /dev/null && MOUNTED=yes || true
new_postgres "$WORK/postgres" "$DATABASE" 'max_wal_size = 64MB' 'min_wal_size = 32MB'
start_node node "$NODE" DATABASE_URL="postgres://pamoja@127.0.0.1:$DATABASE/pamoja"
ready() { curl -sk -o /dev/null -w '%{http_code}' "https://127.0.0.1:$NODE/readyz"; }
start_load "https://127.0.0.1:$NODE"
acknowledged_more 50

step 'the database is lost: the node stays, answers 503 with Retry-After, and is not ready'
kill_postgres "$WORK/postgres"
is_503() { [ "$(ready)" = 503 ]; }
until_ok 'the node to say so' is_503

step 'the database is back: the node goes on by itself'
start_postgres "$WORK/postgres"
is_200() { [ "$(ready)" = 200 ]; }
until_ok 'the node to be ready' is_200
acknowledged_more 50
stop_load
checked "$DATABASE"

[ -n "$MOUNTED" ] || { echo 'LEFT OUT: no disk can be mounted here, so it is not filled'; exit 0; }
step 'the disk is full: writes get 503, what was acknowledged is there'
start_load "https://127.0.0.1:$NODE"
acknowledged_more 50
dd if=/dev/zero of="$WORK/postgres/ballast" bs=1M 2> /dev/null || true
failing() { [ "$(curl -sk -o /dev/null -w '%{http_code}' "https://127.0.0.1:$NODE/api/v1/sms/send" -H "Authorization: Bearer $(credential api_key)" \
  -H 'Content-Type: application/json' -d '{"to": "+254711000001", "from": "DUKA", "message": "Habari"}')" = 503 ]; }
until_ok 'writes to be refused' failing

step 'there is room again: PostgreSQL recovers, or is started, and the node goes on'
rm "$WORK/postgres/ballast"
as_postgres "$POSTGRES/pg_ctl" -D "$WORK/postgres/data" status > /dev/null || start_postgres "$WORK/postgres"
until_ok 'the node to be ready' is_200
acknowledged_more 50
stop_load
checked "$DATABASE"
