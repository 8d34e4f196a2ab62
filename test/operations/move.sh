# SPDX-License-Identifier: Apache-2.0
# Move an installation to a new machine: the database as a backup file, the files of customers, and the secret key.
. "$(dirname "$0")/lib.sh"
OLD=$(free_port) NEW=$(free_port) NODE=$(free_port)
new_postgres "$WORK/old" "$OLD"
start_node old "$NODE" DATABASE_URL="postgres://pamoja@127.0.0.1:$OLD/pamoja"
start_load "https://127.0.0.1:$NODE"
acknowledged_more 50
stop_load
is 'failed requests' "$(loaded failed)" 0
stop_node old

step 'on the old machine: a backup, when nothing runs any more'
DATABASE_URL=postgres://pamoja@127.0.0.1:$OLD/pamoja pamoja backup "$WORK/pamoja.backup"
stop_postgres "$WORK/old"

step 'on the new machine: an empty database, the secret key, the files, and the backup'
new_postgres "$WORK/new" "$NEW"
mkdir "$WORK/new-home"
cp -r "$WORK/home/secret-key" "$WORK/new-home/"
[ ! -e "$WORK/home/files" ] || cp -r "$WORK/home/files" "$WORK/new-home/"
begun=$(now_ms)
DATABASE_URL=postgres://pamoja@127.0.0.1:$NEW/pamoja PAMOJA_HOME=$WORK/new-home pamoja restore "$WORK/pamoja.backup"
echo "restored in $(seconds_since "$begun") s: $(du -k "$WORK/pamoja.backup" | cut -f1) kB"
start_node new "$NODE" DATABASE_URL="postgres://pamoja@127.0.0.1:$NEW/pamoja" PAMOJA_HOME="$WORK/new-home"
curl -sfk "https://127.0.0.1:$NODE/api/v1/auth/whoami" -H "Authorization: Bearer $(credential api_key)" > /dev/null
echo 'keys of customers work as before'
checked "$NEW"
