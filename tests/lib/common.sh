# Sourced by the scripts that start servers: where things are, who runs them, free ports, and an end in every case.
#
# Every server has a folder of its own, DIR, with what is known of it in DIR/state. Servers run in sessions of their own, so that
# Ctrl-C at the terminal reaches the script, which then stops them in order. If the process named by REDRIVE_OWNER ends
# without having done so (kill -9 included), a guard stops the server and removes its folder.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${REDRIVE_CACHE:-$ROOT/build/cache}

fail()
{
    echo "${0##*/}: $*" >&2
    exit 1
}

# remember DIR NAME VALUE: one line of DIR/state; the last one of a name counts.
remember()
{
    printf '%s=%q\n' "$2" "$3" >>"$1/state"
}

# recall DIR: the remembered values as shell variables.
recall()
{
    [ -f "$1/state" ] || fail "nothing was started in $1"
    # shellcheck disable=SC1091
    . "$1/state"
}

# PostgreSQL and PgBouncer refuse to be root. The user to be then, or nothing.
server_user()
{
    [ "$(id -u)" = 0 ] || return 0
    if id postgres >/dev/null 2>&1; then
        echo postgres
    else
        echo nobody
    fi
}

# as_server COMMAND…: carried out by that user. setpriv replaces itself by the command: its process id is the server's.
as_server()
{
    local user
    user=$(server_user)
    if [ -z "$user" ]; then
        "$@"
    else
        setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups env HOME=/nonexistent "$@"
    fi
}

# Gives a path to that user.
hand_over()
{
    local user
    user=$(server_user)
    [ -z "$user" ] || chown -R "$user" "$@"
}

# free_port: prints a port of 127.0.0.1 that nobody listens on and no other run has reserved. Below the range from which the
# kernel serves outgoing connections. The reservation holds until release_port, or until this run's owner is gone.
free_port()
{
    local port try lock holder
    for try in {1..200}; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        lock=${TMPDIR:-/tmp}/redrive-port-$port
        if ! mkdir "$lock" 2>/dev/null; then
            holder=$(cat "$lock/pid" 2>/dev/null || echo none)
            kill -0 "$holder" 2>/dev/null && continue
            # Left over from a run that was killed. Just made and not yet signed looks the same: leave those alone.
            [ -n "$(find "$lock" -maxdepth 0 -mmin +1 2>/dev/null)" ] && rm -rf "$lock"
            continue
        fi
        echo "${REDRIVE_OWNER:-$PPID}" >"$lock/pid"
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            return
        fi
        rm -rf "$lock"
    done
    fail "no free port on 127.0.0.1"
}

release_port()
{
    rm -rf "${TMPDIR:-/tmp}/redrive-port-${1:?}"
}

is_alive()
{
    [ -n "${1:-}" ] && kill -0 "$1" 2>/dev/null && ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

# wait_gone PID SECONDS
wait_gone()
{
    local left=$(($2 * 20))
    while is_alive "$1"; do
        left=$((left - 1))
        [ $left -gt 0 ] || return 1
        sleep 0.05
    done
}

# end_process PID SECONDS: SIGTERM, and SIGKILL for what does not obey.
end_process()
{
    is_alive "$1" || return 0
    kill -TERM "$1" 2>/dev/null || return 0
    kill -CONT "$1" 2>/dev/null || true
    wait_gone "$1" "$2" || kill -KILL "$1" 2>/dev/null || true
    wait_gone "$1" 5 || true
}

# guard DIR COMMAND…: carries COMMAND out once the owner is gone while DIR is still there.
guard()
{
    local dir=$1
    shift
    [ -n "${REDRIVE_OWNER:-}" ] || return 0
    # shellcheck disable=SC2016
    setsid bash -c '
        owner=$1 dir=$2
        shift 2
        while [ -e "$dir/state" ] && kill -0 "$owner" 2>/dev/null; do sleep 1; done
        [ ! -e "$dir/state" ] || "$@"' guard "$REDRIVE_OWNER" "$dir" "$@" </dev/null >/dev/null 2>&1 9>&- &
}

# await_ready DIR PORT PID: remembers a server that was started, and waits until its page /-/ready answers. Otherwise the end
# of its log, and false.
await_ready()
{
    remember "$1" PID "$3"
    remember "$1" PORT "$2"
    guard "$1" "$0" remove "$1"
    for _ in {1..300}; do
        ! curl -sf -o /dev/null "http://127.0.0.1:$2/-/ready" || return 0
        is_alive "$3" || break
        sleep 0.1
    done
    tail -n 5 "$1/log" >&2
    return 1
}

# remove_server DIR: stops what await_ready remembered, and removes its folder.
remove_server()
{
    recall "$1"
    end_process "${PID:-}" 10
    release_port "$PORT"
    rm -rf "$1"
}
