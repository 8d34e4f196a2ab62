# SPDX-License-Identifier: Apache-2.0
# Upgrade two nodes behind HAProxy, one after the other, while customers send texts: no request fails.
. "$(dirname "$0")/lib.sh"
needs haproxy
MANY=$((2 * ${RATE:-25}))
DATABASE=$(free_port) A=$(free_port) B=$(free_port) FRONT=$(free_port)
new_postgres "$WORK/postgres" "$DATABASE"
export DATABASE_URL=postgres://pamoja@127.0.0.1:$DATABASE/pamoja
version() { curl -sfk "https://127.0.0.1:$1/healthz" | node -p 'JSON.parse(require("fs").readFileSync(0)).version'; }

step 'the next version: another number, a migration more, and a function that changed'
NEXT=$WORK/next
mkdir "$NEXT"
cp -r "$ROOT/dist" "$ROOT/src" "$NEXT/"
for shared in node_modules console docs openapi.json deploy; do [ ! -e "$ROOT/$shared" ] || ln -s "$ROOT/$shared" "$NEXT/$shared"; done
sed 's/"version": "[^"]*"/"version": "99.0.0"/' "$ROOT/package.json" > "$NEXT/package.json"
echo 'alter table sms.messages add column of_the_next_version text;' > "$NEXT/src/migrations/9999-01-01_next.sql"
sed -i "s/^begin$/begin -- as the next version has it/" "$NEXT/src/migrations/functions/sms.receipt.sql"
cmp -s "$ROOT/src/migrations/functions/sms.receipt.sql" "$NEXT/src/migrations/functions/sms.receipt.sql" && fail 'no function changed'

step 'two nodes of the version before, behind HAProxy'
start_node a "$A"
start_node b "$B"
start_haproxy "$FRONT" "$A" "$B"
in_front "$A"
in_front "$B"
start_load "http://127.0.0.1:$FRONT"
acknowledged_more "$MANY"

for name in a b; do
  port=$A; [ $name = a ] || port=$B
  step "node $name is stopped, started with the next version, and has its place again before the other one is stopped"
  stop_node $name
  PROGRAM=$NEXT start_node $name "$port"
  in_front "$port"
  acknowledged_more "$MANY"
  is "versions after node $name" "$(version "$A") $(version "$B")" "$([ $name = a ] && echo "99.0.0 $(node -p "require('$ROOT/package.json').version")" || echo '99.0.0 99.0.0')"
done
stop_load
is 'failed requests' "$(loaded failed)" 0
is 'columns that the next version added' "$(sql "$DATABASE" "select count(*) from information_schema.columns where table_name = 'messages' and column_name = 'of_the_next_version'")" 1
PROGRAM=$NEXT checked "$DATABASE"
