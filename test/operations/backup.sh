# SPDX-License-Identifier: Apache-2.0
# Back up a running installation with its write-ahead log, and restore it to the moment before an accident. FILL_GB=10 makes the
# database that much larger first.
. "$(dirname "$0")/lib.sh"
DATABASE=$(free_port) NODE=$(free_port) RESTORED=$(free_port)
folder "$WORK/archive"

step 'the database archives its log: here into a folder, elsewhere into an object store (wal-g, pgBackRest)'
new_postgres "$WORK/postgres" "$DATABASE" 'archive_mode = on' "archive_command = 'cp %p $WORK/archive/%f'"
start_node node "$NODE" DATABASE_URL="postgres://pamoja@127.0.0.1:$DATABASE/pamoja"
start_load "https://127.0.0.1:$NODE"
acknowledged_more 50

if [ "${FILL_GB:-0}" -gt 0 ]; then
  step "$FILL_GB GB more"
  sql "$DATABASE" 'create table public.filler (id bigint primary key, content text)'
  for gigabyte in $(seq "$FILL_GB"); do
    sql "$DATABASE" "insert into public.filler select $gigabyte * 1000000::bigint + i, repeat(md5(i::text), 30) from generate_series(1, 920000) i"
    # The base backup below needs only the log that follows it.
    find "$WORK/archive" -type f -mmin +1 -delete
  done
fi

step 'a base backup, while customers send texts'
as_postgres "$POSTGRES/pg_basebackup" -h 127.0.0.1 -p "$DATABASE" -U pamoja -D "$WORK/archive/base" -c fast
acknowledged_more 50
stop_load
before=$(sql "$DATABASE" 'select count(*) from sms.messages')
moment=$(sql "$DATABASE" 'select clock_timestamp()')

step 'the accident'
sql "$DATABASE" 'truncate sms.messages'
sql "$DATABASE" 'select pg_switch_wal()' > /dev/null
is 'texts after the accident' "$(sql "$DATABASE" 'select count(*) from sms.messages')" 0
stop_node node
stop_postgres "$WORK/postgres"

step "restored from the base backup and the log, to $moment"
folder "$WORK/restored"
begun=$(now_ms)
as_postgres cp -a "$WORK/archive/base" "$WORK/restored/data"
printf '%s\n' "port = $RESTORED" "unix_socket_directories = '$WORK/restored'" 'archive_mode = off' \
  "restore_command = 'cp $WORK/archive/%f %p'" "recovery_target_time = '$moment'" 'recovery_target_action = promote' |
  as_postgres tee -a "$WORK/restored/data/postgresql.conf" > /dev/null
as_postgres touch "$WORK/restored/data/recovery.signal"
start_postgres "$WORK/restored"
writable() { [ "$(sql "$RESTORED" 'select pg_is_in_recovery()')" = f ]; }
until_ok 'the end of the recovery' writable
echo "restored in $(seconds_since "$begun") s: $(du -sm "$WORK/archive/base" | cut -f1) MB and $(find "$WORK/archive" -maxdepth 1 -type f | wc -l) segments of the log"
is 'texts' "$(sql "$RESTORED" 'select count(*) from sms.messages')" "$before"
start_node restored "$NODE" DATABASE_URL="postgres://pamoja@127.0.0.1:$RESTORED/pamoja"
checked "$RESTORED"
