# SPDX-License-Identifier: Apache-2.0
# Lose the primary of a Patroni cluster while customers send texts, through PgBouncer and HAProxy at one node, with several hosts
# in DATABASE_URL at another: the standby that has every commit takes its place within the time that Patroni is given for it
# (ttl) and five seconds, and both nodes find it.
. "$(dirname "$0")/lib.sh"
needs patroni etcd pgbouncer haproxy
TTL=20
ETCD=$(free_port) PEER=$(free_port) POOLER=$(free_port) PRIMARY=$(free_port) A=$(free_port) B=$(free_port)
ONE=$(free_port) TWO=$(free_port) REST_ONE=$(free_port) REST_TWO=$(free_port)

step 'etcd, and Patroni with a synchronous standby'
folder "$WORK/etcd"
etcd --data-dir "$WORK/etcd/data" --listen-client-urls "http://127.0.0.1:$ETCD" --advertise-client-urls "http://127.0.0.1:$ETCD" \
  --listen-peer-urls "http://127.0.0.1:$PEER" --initial-advertise-peer-urls "http://127.0.0.1:$PEER" \
  --initial-cluster "default=http://127.0.0.1:$PEER" > "$WORK/etcd.log" 2>&1 &
BEGUN+=($!)
until_ok 'etcd' curl -sf "http://127.0.0.1:$ETCD/health"

# start_patroni <name> <port> <port of its REST interface>
start_patroni() {
  folder "$WORK/$1"
  cat > "$WORK/$1/patroni.yml" << END
scope: pamoja
name: $1
restapi: { listen: 127.0.0.1:$3, connect_address: 127.0.0.1:$3 }
etcd3: { hosts: ['127.0.0.1:$ETCD'] }
bootstrap:
  dcs:
    ttl: $TTL
    loop_wait: 5
    retry_timeout: 5
    synchronous_mode: true
    postgresql: { use_pg_rewind: true, parameters: { shared_buffers: 64MB, max_connections: 60 } }
  initdb: [{ encoding: UTF8 }]
  pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
postgresql:
  listen: 127.0.0.1:$2
  connect_address: 127.0.0.1:$2
  data_dir: $WORK/$1/data
  pgpass: $WORK/$1/pgpass
  bin_dir: $POSTGRES
  authentication: { superuser: { username: pamoja }, replication: { username: pamoja } }
  parameters: { unix_socket_directories: '$WORK/$1' }
END
  serve_as_postgres patroni "$WORK/$1/patroni.yml" > "$WORK/$1.log" 2>&1 &
  PATRONI=$!
  BEGUN+=("$PATRONI")
}
start_patroni one "$ONE" "$REST_ONE"
PATRONI_ONE=$PATRONI
until_ok 'the primary' curl -sf "http://127.0.0.1:$REST_ONE/primary"
start_patroni two "$TWO" "$REST_TWO"
until_ok 'the synchronous standby' curl -sf "http://127.0.0.1:$REST_TWO/sync"
"$POSTGRES/createdb" -h 127.0.0.1 -p "$ONE" -U pamoja pamoja

step 'HAProxy leads to the primary, and PgBouncer shares its connections'
cat > "$WORK/haproxy.cfg" << END
defaults
  timeout connect 5s
  timeout client 1h
  timeout server 1h
listen primary
  bind 127.0.0.1:$PRIMARY
  option httpchk GET /primary
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
  server one 127.0.0.1:$ONE check port $REST_ONE
  server two 127.0.0.1:$TWO check port $REST_TWO
END
haproxy -f "$WORK/haproxy.cfg" > "$WORK/haproxy.log" 2>&1 &
BEGUN+=($!)
folder "$WORK/pgbouncer"
cat > "$WORK/pgbouncer/pgbouncer.ini" << END
[databases]
* = host=127.0.0.1 port=$PRIMARY user=pamoja
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $POOLER
unix_socket_dir =
auth_type = any
pool_mode = transaction
server_login_retry = 1
END
serve_as_postgres pgbouncer "$WORK/pgbouncer/pgbouncer.ini" > "$WORK/pgbouncer.log" 2>&1 &
BEGUN+=($!)
until_ok 'PgBouncer' "$POSTGRES/psql" -h 127.0.0.1 -p "$POOLER" -U pamoja -d pamoja -c 'select 1'
start_node pooled "$A" DATABASE_URL="postgres://pamoja@127.0.0.1:$POOLER/pamoja" \
  PAMOJA_DATABASE_DIRECT_URL="postgres://pamoja@127.0.0.1:$ONE,127.0.0.1:$TWO/pamoja"
start_node direct "$B" DATABASE_URL="postgres://pamoja@127.0.0.1:$ONE,127.0.0.1:$TWO/pamoja"
start_load "https://127.0.0.1:$A"
acknowledged_more 50
ask() { curl -sk -o /dev/null -w '%{http_code}' "https://127.0.0.1:$1/api/v1/$2" -H "Authorization: Bearer $3" "${@:4}"; }
SPARE=$(curl -sfk "https://127.0.0.1:$A/api/v1/api-keys" -H "Authorization: Bearer $(credential api_key)" -H 'Content-Type: application/json' \
  -d '{"name": "Lost laptop"}' | node -p 'const { id, key, data } = JSON.parse(require("fs").readFileSync(0)); `${id ?? data.id} ${key ?? data.key}`')
is 'a second key at the other node' "$(ask "$B" auth/whoami "${SPARE#* }")" 200

step 'the primary and its Patroni are killed'
kill -9 "$PATRONI_ONE"
kill_postgres "$WORK/one"
until_ok 'the standby to be primary' curl -sf "http://127.0.0.1:$REST_TWO/primary"
acknowledged_more 100
stop_load
echo "longest time without an answer: $(loaded longest_gap_seconds) s; it shall be below $TTL + 5 where nothing else keeps the machine busy"
checked "$TWO"

step 'both nodes have found it: a key that is revoked at one stops at the other'
proved() { curl -sfk "https://127.0.0.1:$1/readyz" | grep -q '"signals":"ok"'; }
until_ok 'the node behind the pooler to hear signals' proved "$A"
until_ok 'the node with several hosts to hear signals' proved "$B"
is 'revoked' "$(ask "$A" "api-keys/${SPARE% *}" "$(credential api_key)" -X DELETE)" 200
stopped() { [ "$(ask "$B" auth/whoami "${SPARE#* }")" = 401 ]; }
until_ok 'the key to stop at the other node' stopped
