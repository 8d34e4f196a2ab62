# SPDX-License-Identifier: Apache-2.0
# What the operations in this folder have in common: PostgreSQL of Debian's package, nodes of this build, HAProxy in front of
# them, and customers who send texts meanwhile. Everything lives in a temporary folder, and ends with the script.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
POSTGRES=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1 || true)
WORK=$(mktemp -d /tmp/pamoja-operations-XXXXXX)
chmod 755 "$WORK"
declare -A NODES=()
BEGUN=()
MOUNTED=

# Says why an operation cannot be tried here; the test shows it.
leave_out() { echo "LEFT OUT: $1"; exit 0; }
needs() { for program in "$@"; do command -v "$program" > /dev/null || leave_out "$program is not installed"; done; }
[ -n "$POSTGRES" ] || leave_out 'PostgreSQL is not installed: apt-get install postgresql'
needs curl openssl

step() { echo "--- $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
is() { [ "$2" = "$3" ] || fail "$1: $2, not $3"; echo "$1: $2"; }
# Below the ports that outgoing connections take, so that none of them takes it before the program does.
free_port() { node -e "(function next() { const port = 10000 + Math.floor(Math.random() * 22000); const s = require('net').createServer().on('error', next).listen(port, '127.0.0.1', () => { console.log(port); s.close() }) })()"; }
seconds_since() { node -p "((Date.now() - $1) / 1000).toFixed(1)"; }
now_ms() { date +%s%3N; }

# Tries a command until it succeeds, for two minutes at least.
until_ok() {
  local what=$1; shift
  for _ in $(seq 1 600); do "$@" > /dev/null 2>&1 && return; sleep 0.2; done
  fail "waited in vain for $what"
}

# PostgreSQL refuses to run as root.
as_postgres() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
# In the background, in the place of its shell: so it is the program itself that is ended.
serve_as_postgres() { if [ "$(id -u)" = 0 ]; then exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; else exec "$@"; fi; }
folder() { mkdir -p "$1"; if [ "$(id -u)" = 0 ]; then chown postgres "$1"; fi; }

# new_postgres <folder> <port> [line of postgresql.conf...]
new_postgres() {
  local dir=$1 port=$2; shift 2
  folder "$dir"
  as_postgres "$POSTGRES/initdb" -D "$dir/data" -U pamoja --auth=trust -E UTF8 > /dev/null
  printf '%s\n' "port = $port" "listen_addresses = '127.0.0.1'" "unix_socket_directories = '$dir'" 'shared_buffers = 64MB' "$@" |
    as_postgres tee -a "$dir/data/postgresql.conf" > /dev/null
  start_postgres "$dir"
  "$POSTGRES/createdb" -h 127.0.0.1 -p "$port" -U pamoja pamoja
}
start_postgres() { as_postgres "$POSTGRES/pg_ctl" -D "$1/data" -l "$1/log" -w -t 120 start > /dev/null; }
stop_postgres() { as_postgres "$POSTGRES/pg_ctl" -D "$1/data" -w -t 60 -m fast stop > /dev/null; }
kill_postgres() { local pid; pid=$(head -1 "$1/data/postmaster.pid"); kill -9 "$pid"; until_ok 'PostgreSQL to be gone' gone "$pid"; }
gone() { ! kill -0 "$1"; }
sql() { "$POSTGRES/psql" -h 127.0.0.1 -p "$1" -U pamoja -d pamoja -Atqc "$2"; }

# start_node <name> <port> [SETTING=value...]: a node with the home $WORK/home, or another by PAMOJA_HOME=... As under systemd, one
# that could not start, because the database did not answer yet, is started again.
start_node() {
  local name=$1 port=$2; shift 2
  for _ in 1 2 3; do
    env PAMOJA_HOME="$WORK/home" PAMOJA_PORT="$port" PAMOJA_ADMIN_PORT=0 PAMOJA_RATE_LIMITS=off PAMOJA_LOG_LEVEL=warn \
      PAMOJA_TRUSTED_PROXIES=127.0.0.1 "$@" node "${PROGRAM:-$ROOT}/dist/program/main.js" >> "$WORK/$name.log" 2>&1 &
    NODES[$name]=$!
    until_ok "$name to be ready" is_ready_or_gone "$port" "$!"
    gone "${NODES[$name]}" 2> /dev/null || return 0
  done
  fail "$name did not start"
}
is_ready_or_gone() { gone "$2" || curl -sfk "https://127.0.0.1:$1/readyz"; }
# SIGTERM: the node takes no new requests, finishes those it has, and exits.
stop_node() { kill "${NODES[$1]}"; wait "${NODES[$1]}" || fail "$1 exited with $?"; unset "NODES[$1]"; }
kill_node() { kill -9 "${NODES[$1]}"; wait "${NODES[$1]}" 2> /dev/null || true; unset "NODES[$1]"; }
pamoja() { env PAMOJA_HOME="${PAMOJA_HOME:-$WORK/home}" PAMOJA_LOG_LEVEL=warn node "${PROGRAM:-$ROOT}/dist/program/main.js" "$@"; }
credential() { node -p "require('$WORK/home/credentials.json').$1"; }

# start_haproxy <port> <port of a node...>: asks every node whether it is ready, and sends to those that are.
start_haproxy() {
  local port=$1; shift
  FRONT_STATE=$(free_port)
  { cat << END
defaults
  mode http
  timeout connect 10s
  timeout client 60s
  timeout server 60s
  timeout check 10s
  # What a node that is leaving did not take is sent to the next one.
  option redispatch 1
  retries 5
  retry-on all-retryable-errors
frontend api
  bind 127.0.0.1:$port
  http-request set-header X-Forwarded-Proto https
  option forwardfor
  default_backend nodes
# What HAProxy thinks of each node: for operators, not for the world.
listen state
  bind 127.0.0.1:$FRONT_STATE
  stats enable
  stats uri /
backend nodes
  option httpchk GET /readyz
  default-server check check-ssl ssl verify none inter 20s downinter 1s fall 2 rise 1
END
    local node; for node in "$@"; do echo "  server node-$node 127.0.0.1:$node"; done; } > "$WORK/haproxy.cfg"
  haproxy -f "$WORK/haproxy.cfg" > "$WORK/haproxy.log" 2>&1 &
  BEGUN+=($!)
  until_ok 'HAProxy to answer' curl -sf "http://127.0.0.1:$port/healthz"
}

# Waits until HAProxy sends to a node. in_front <port of the node>
in_front() { until_ok "HAProxy to send to node $1" is_in_front "$1"; }
is_in_front() { curl -sf "http://127.0.0.1:$FRONT_STATE/;csv" | grep -q "^nodes,node-$1,.*,UP,"; }

# Customers who send texts at a rate and remember each one that was acknowledged. Every failed request is counted.
start_load() { node "$ROOT/test/operations/load.mjs" "$1" "$(credential api_key)" "$WORK/acknowledged" "${RATE:-50}" > "$WORK/load.json" & LOAD=$!; }
# Waits until so many more texts were acknowledged.
acknowledged_more() { local until=$(($(acknowledged) + $1)); until_ok "$1 more texts to be acknowledged" acknowledged_are "$until"; }
acknowledged() { if [ -e "$WORK/acknowledged" ]; then wc -l < "$WORK/acknowledged"; else echo 0; fi; }
acknowledged_are() { [ "$(acknowledged)" -ge "$1" ]; }
stop_load() { kill -TERM "$LOAD"; wait "$LOAD"; cat "$WORK/load.json"; }
loaded() { node -p "JSON.parse(require('fs').readFileSync('$WORK/load.json')).$1"; }

# Each text that was acknowledged is there once, and the ledger adds up. checked <port of PostgreSQL>
checked() {
  local lost doubled
  read -r lost doubled < <("$POSTGRES/psql" -h 127.0.0.1 -p "$1" -U pamoja -d pamoja -Atq -F ' ' \
    -c 'create temp table said (reference text)' -c "\\copy said from '$WORK/acknowledged'" \
    -c 'select count(*) filter (where n = 0), count(*) filter (where n > 1) from (select (select count(*) from sms.messages m where m.reference = said.reference) n from said) found')
  is 'acknowledged texts that are lost' "$lost" 0
  is 'acknowledged texts that are there twice' "$doubled" 0
  DATABASE_URL="postgres://pamoja@127.0.0.1:$1/pamoja" pamoja ledger verify
}

finish() {
  local code=$?
  for pid in "${NODES[@]}" "${BEGUN[@]}" ${LOAD:-}; do { kill -9 "$pid" && wait "$pid"; } 2> /dev/null || true; done
  for pidfile in "$WORK"/*/data/postmaster.pid; do
    [ -e "$pidfile" ] && as_postgres "$POSTGRES/pg_ctl" -D "$(dirname "$pidfile")" -m immediate stop > /dev/null 2>&1 || true
  done
  if [ "$code" != 0 ]; then tail -n 20 "$WORK"/*.log >&2 || true; fi
  if [ -n "$MOUNTED" ]; then umount -l "$WORK/postgres"; fi
  rm -rf "$WORK"
}
trap finish EXIT
