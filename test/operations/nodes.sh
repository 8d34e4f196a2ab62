# SPDX-License-Identifier: Apache-2.0
# Add a node, lose a node without a word, and change the secret key node by node, while customers send texts.
. "$(dirname "$0")/lib.sh"
needs haproxy
DATABASE=$(free_port) A=$(free_port) B=$(free_port) FRONT=$(free_port)
new_postgres "$WORK/postgres" "$DATABASE"
export DATABASE_URL=postgres://pamoja@127.0.0.1:$DATABASE/pamoja
OLD=$(openssl rand -base64 32) NEW=$(openssl rand -base64 32)
export PAMOJA_SECRET_KEY=$OLD
start_node a "$A"
start_haproxy "$FRONT" "$A" "$B"
start_load "http://127.0.0.1:$FRONT"
acknowledged_more 50

step 'a node is added: it needs DATABASE_URL and PAMOJA_SECRET_KEY; HAProxy finds it ready'
start_node b "$B"
in_front "$B"
acknowledged_more 50
stop_load
is 'failed requests' "$(loaded failed)" 0

step 'a node is lost (kill -9): requests that it had are repeated by their senders, its jobs are taken by the other'
start_load "http://127.0.0.1:$FRONT"
acknowledged_more 30
kill_node b
acknowledged_more 50
stop_load
taken() { [ "$(sql "$DATABASE" "select count(*) from sms.messages where status = 'queued'")" = 0 ]; }
until_ok 'the other node to send what was left' taken
checked "$DATABASE"

step 'the secret key is changed: first every node knows both, then everything is sealed anew, then the old one goes'
ID=$(curl -sfk "https://127.0.0.1:$A/api/v1/webhooks" -H "Authorization: Bearer $(credential api_key)" -H 'Content-Type: application/json' \
  -d '{"url": "https://example.com/hook", "events": ["sms.status"]}' | node -p 'const { id, data } = JSON.parse(require("fs").readFileSync(0)); id ?? data.id')
stop_node a
export PAMOJA_SECRET_KEY=$NEW,$OLD
start_node a "$A"
pamoja keys rotate
stop_node a
export PAMOJA_SECRET_KEY=$NEW
start_node a "$A"
# A webhook is signed with a secret of the account, which is sealed under the key.
curl -sfk -X POST "https://127.0.0.1:$A/api/v1/webhooks/$ID/rotate-secret" -H "Authorization: Bearer $(credential api_key)" > /dev/null
checked "$DATABASE"
