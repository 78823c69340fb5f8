#!/usr/bin/env bash
# pg.sh ACTION DIR [OPTION…]: a private PostgreSQL in DIR, away from the machine's own.
#
#   start DIR [--tcp] [--durable] [--data=FOLDER] [NAME=VALUE…]   a new server, of what `save` has kept; prints PGHOST, PGPORT, PGUSER, PGDATABASE as NAME=value lines.
#                            A unix socket only, in a folder that nobody else may enter; --tcp also listens on a free port of
#                            127.0.0.1. Without --durable it does not fsync. NAME=VALUE are settings of postgresql.conf.
#   env DIR                  those lines again
#   stop DIR [fast|immediate]                     immediate: as after a loss of power, with recovery at the next start
#   kill DIR                 SIGKILL to every process of it at once
#   freeze DIR, thaw DIR     SIGSTOP and SIGCONT to every process of it
#   again DIR                start the same data folder on the same address
#   save DIR FOLDER          keeps the data of a server that runs, as a snapshot of its disk would
#   put_back DIR FOLDER      SIGKILL, and the same address goes on with what was kept
#   remove DIR               stop it and remove everything
set -eu
. "$(dirname "$0")/common.sh"

find_bin()
{
    local dir
    for dir in "${REDRIVE_PG_BIN:-}" $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -Vr) \
        "$(dirname "$(command -v initdb 2>/dev/null || echo /nowhere/initdb)")"; do
        if [ -x "$dir/initdb" ]; then
            echo "$dir"
            return
        fi
    done
    fail "PostgreSQL's server is missing: make packages"
}

# A data folder as initdb leaves it, made once and kept: copying it takes a tenth of the time.
template()
{
    local version template
    version=$("$BIN/postgres" --version | sed 's/[^0-9.]*\([0-9.]*\).*/\1/')
    template=$CACHE/pg-$version-$(server_user)
    if [ ! -e "$template/PG_VERSION" ]; then
        local work
        mkdir -p "$CACHE"
        work=$(mktemp -d "${TMPDIR:-/tmp}/redrive-initdb.XXXXXX")
        hand_over "$work"
        as_server "$BIN/initdb" --no-sync -D "$work/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 >"$work.log" 2>&1 </dev/null ||
            { cat "$work.log" >&2; fail "initdb failed"; }
        rm -f "$work.log"
        # Another run may have been quicker: its folder is as good.
        cp -a "$work/data" "$template.$$"
        mv -T "$template.$$" "$template" 2>/dev/null || rm -rf "$template.$$"
        rm -rf "$work"
    fi
    echo "$template"
}

# Where the server's user can get at it: below DIR, or else (a checkout in somebody's home) below /var/tmp.
data_place()
{
    local user
    user=$(server_user)
    if [ -z "$user" ] || as_server test -x "$1"; then
        echo "$1"
    else
        mktemp -d /var/tmp/redrive-pg.XXXXXX
    fi
}

configure()
{
    local durable=off
    [ "$DURABLE" = no ] || durable=on
    cat <<END
listen_addresses = '$([ "$TCP" = no ] || echo 127.0.0.1)'
port = $PORT
unix_socket_directories = '$SOCKETS'
unix_socket_permissions = 0700
max_connections = 100
shared_buffers = 256MB
max_wal_size = 4GB
checkpoint_timeout = 15min
fsync = $durable
synchronous_commit = $durable
full_page_writes = $durable
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
log_min_messages = warning
log_line_prefix = '%m [%p] %a '
END
}

start()
{
    PORT=5433 TCP=no DURABLE=no DATA=
    local option extra=
    for option in "$@"; do
        case $option in
        --tcp) TCP=yes ;;
        --durable) DURABLE=yes ;;
        --data=*) DATA=${option#*=} ;;
        *=*) extra="$extra${option%%=*} = '${option#*=}'"$'\n' ;;
        *) fail "unknown option $option" ;;
        esac
    done
    mkdir -p "$DIR"
    [ ! -e "$DIR/state" ] || fail "$DIR is in use"
    [ $TCP = no ] || PORT=$(free_port)

    local place
    place=$(data_place "$DIR")
    # Socket paths end at 107 bytes: a folder of its own, short wherever the checkout is.
    SOCKETS=$(mktemp -d "/tmp/redrive-pg.XXXXXX")
    hand_over "$SOCKETS"
    remember "$DIR" SOCKETS "$SOCKETS"
    remember "$DIR" PLACE "$place"
    remember "$DIR" PORT "$PORT"
    remember "$DIR" TCP $TCP
    cp -a "${DATA:-$(template)}" "$place/data"
    rm -f "$place/data/postmaster.pid"
    { configure; echo "$extra"; } >>"$place/data/postgresql.conf"
    [ "$place" = "$DIR" ] || hand_over "$place"
    guard "$DIR" "$0" remove "$DIR"
    recall "$DIR"
    again
    address
}

again()
{
    # A killed server that nobody has reaped yet still looks alive to PostgreSQL.
    is_alive "$(main_process)" || rm -f "$PLACE/data/postmaster.pid" "$SOCKETS"/.s.*
    as_server "$BIN/pg_ctl" -D "$PLACE/data" -l "$PLACE/data/server.log" -t 60 -w -s start </dev/null >/dev/null 9>&- ||
        { tail -n 20 "$PLACE/data/server.log" >&2; fail "PostgreSQL did not start"; }
}

address()
{
    echo "PGHOST=$SOCKETS"
    echo "PGPORT=$PORT"
    echo "PGUSER=postgres"
    echo "PGDATABASE=postgres"
    [ "$TCP" = no ] || echo "PGHOSTADDR_TCP=127.0.0.1"
}

# All its processes stand still meanwhile, so it is one moment.
save()
{
    signal_all STOP
    cp -a "$PLACE/data" "$1"
    signal_all CONT
}

put_back()
{
    signal_all KILL
    rm -rf "$PLACE/data"
    cp -a "$1" "$PLACE/data"
    rm -f "$PLACE/data/postmaster.pid"
    again
}

main_process()
{
    head -n 1 "$PLACE/data/postmaster.pid" 2>/dev/null || true
}

# signal_all SIGNAL: the parent first, so that it neither restarts nor tidies up after its children.
signal_all()
{
    local parent children child
    parent=$(main_process)
    is_alive "$parent" || return 0
    kill -STOP "$parent"
    children=$(cat "/proc/$parent/task/$parent/children")
    # shellcheck disable=SC2086
    kill "-$1" "$parent" $children 2>/dev/null || true
    [ "$1" != KILL ] || for child in $parent $children; do wait_gone "$child" 10; done
}

stop()
{
    local parent
    parent=$(main_process)
    is_alive "$parent" || return 0
    signal_all CONT
    as_server "$BIN/pg_ctl" -D "$PLACE/data" -m "${1:-fast}" -t 30 -w -s stop </dev/null >/dev/null 2>&1 ||
        signal_all KILL
}

remove()
{
    stop immediate
    [ "$TCP" = no ] || release_port "$PORT"
    rm -rf "$SOCKETS" "$PLACE/data"
    [ "$PLACE" = "$DIR" ] || rm -rf "$PLACE"
    rm -rf "$DIR"
}

ACTION=${1:?pg.sh ACTION DIR} DIR=${2:?pg.sh ACTION DIR}
shift 2
BIN=$(find_bin)
case $ACTION in
start) start "$@" ;;
again | stop | save | put_back | remove) recall "$DIR"; "$ACTION" "$@" ;;
env) recall "$DIR"; address ;;
kill) recall "$DIR"; signal_all KILL ;;
freeze) recall "$DIR"; signal_all STOP ;;
thaw) recall "$DIR"; signal_all CONT ;;
*) fail "unknown action $ACTION" ;;
esac
