# A PostgreSQL 15 of Debian's in a temporary directory, over a unix socket. Source it; it sets POSTGRES15_URL.

postgres15_bin=/usr/lib/postgresql/15/bin
postgres15_user=postgres

# PostgreSQL refuses to run as root.
postgres15_as_user() {
  if [ "$(id -u)" = 0 ]; then runuser -u "$postgres15_user" -- "$@"; else "$@"; fi
}

start_postgres15() {
  postgres15_dir=$(mktemp -d)
  chmod 0711 "$postgres15_dir"
  mkdir -m 0700 "$postgres15_dir/data" "$postgres15_dir/socket"
  if [ "$(id -u)" = 0 ]; then chown "$postgres15_user" "$postgres15_dir/data" "$postgres15_dir/socket"; fi
  (cd / && postgres15_as_user "$postgres15_bin/initdb" -D "$postgres15_dir/data" -U pamoja -A trust -E UTF8 --locale=C.UTF-8 >/dev/null)
  (cd / && postgres15_as_user "$postgres15_bin/pg_ctl" -D "$postgres15_dir/data" -w -l "$postgres15_dir/data/log" -o \
    "-c listen_addresses='' -c unix_socket_directories='$postgres15_dir/socket' -c max_connections=500 -c shared_buffers=128MB -c fsync=off -c full_page_writes=off" start >/dev/null)
  POSTGRES15_URL="postgres://pamoja@/postgres?host=$(printf %s "$postgres15_dir/socket" | sed 's|/|%2F|g')&port=5432"
}

stop_postgres15() {
  (cd / && postgres15_as_user "$postgres15_bin/pg_ctl" -D "$postgres15_dir/data" -w -m fast stop >/dev/null)
  rm -rf "$postgres15_dir"
}
