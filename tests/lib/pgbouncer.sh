#!/usr/bin/env bash
# pgbouncer.sh ACTION DIR: a PgBouncer in transaction mode before a PostgreSQL of pg.sh.
#
#   start DIR PGDIR [NAME=VALUE…]   prints PGHOST, PGPORT, PGUSER as NAME=value lines; every database of that server is
#                                   reachable, always as its superuser. NAME=VALUE are settings of pgbouncer.ini.
#   env DIR, stop DIR, kill DIR, again DIR, remove DIR   as in pg.sh
set -eu
. "$(dirname "$0")/common.sh"

start()
{
    local pg_dir=${1:?PGDIR} option
    shift
    mkdir -p "$DIR"
    [ ! -e "$DIR/state" ] || fail "$DIR is in use"
    eval "$("$(dirname "$0")/pg.sh" env "$pg_dir")"
    SOCKETS=$(mktemp -d "/tmp/redrive-pgbouncer.XXXXXX")
    remember "$DIR" SOCKETS "$SOCKETS"
    {
        cat <<END
[databases]
* = host=$PGHOST port=$PGPORT user=$PGUSER
[pgbouncer]
listen_port = 6432
unix_socket_dir = $SOCKETS
auth_type = any
admin_users = postgres
pool_mode = transaction
max_client_conn = 200
default_pool_size = 20
ignore_startup_parameters = extra_float_digits
server_reset_query = DISCARD ALL
logfile = $SOCKETS/log
pidfile = $SOCKETS/pid
END
        for option in "$@"; do echo "${option%%=*} = ${option#*=}"; done
    } >"$SOCKETS/pgbouncer.ini"
    chmod 700 "$SOCKETS"
    hand_over "$SOCKETS"
    guard "$DIR" "$0" remove "$DIR"
    again
    address
}

again()
{
    local try
    is_alive "$(main_process)" || rm -f "$SOCKETS/pid" "$SOCKETS"/.s.*
    as_server pgbouncer -q -d "$SOCKETS/pgbouncer.ini" </dev/null >/dev/null 2>&1 9>&- || true
    for try in {1..100}; do
        [ ! -S "$SOCKETS/.s.PGSQL.6432" ] || return 0
        sleep 0.05
    done
    cat "$SOCKETS/log" >&2
    fail "PgBouncer did not start"
}

address()
{
    echo "PGHOST=$SOCKETS"
    echo "PGPORT=6432"
    echo "PGUSER=postgres"
}

main_process()
{
    cat "$SOCKETS/pid" 2>/dev/null || true
}

remove()
{
    end_process "$(main_process)" 3
    rm -rf "$SOCKETS" "$DIR"
}

ACTION=${1:?pgbouncer.sh ACTION DIR} DIR=${2:?pgbouncer.sh ACTION DIR}
shift 2
case $ACTION in
start) start "$@" ;;
again | remove) recall "$DIR"; "$ACTION" ;;
env) recall "$DIR"; address ;;
stop) recall "$DIR"; end_process "$(main_process)" 3 ;;
kill)
    recall "$DIR"
    pid=$(main_process)
    [ -z "$pid" ] || kill -KILL "$pid"
    wait_gone "$pid" 5
    ;;
*) fail "unknown action $ACTION" ;;
esac
