#!/usr/bin/env bash
# alertmanager.sh ACTION DIR: a private Alertmanager in DIR, on a free port of 127.0.0.1. It tells nobody.
#
#   start DIR     prints ALERTMANAGER=http://127.0.0.1:PORT
#   remove DIR    stops it and removes everything
set -eu
. "$(dirname "$0")/common.sh"

action=${1:?alertmanager.sh start|remove DIR}
dir=${2:?a folder}

case $action in
start)
    mkdir -p "$dir/data"
    port=$(free_port)
    printf 'route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n' >"$dir/alertmanager.yml"
    setsid prometheus-alertmanager --config.file="$dir/alertmanager.yml" --storage.path="$dir/data" --cluster.listen-address= \
        --web.listen-address="127.0.0.1:$port" </dev/null >"$dir/log" 2>&1 9>&- &
    remember "$dir" PID $!
    remember "$dir" PORT "$port"
    guard "$dir" "$0" remove "$dir"
    for _ in {1..300}; do
        ! curl -sf -o /dev/null "http://127.0.0.1:$port/-/ready" || { echo "ALERTMANAGER=http://127.0.0.1:$port"; exit 0; }
        is_alive $! || break
        sleep 0.1
    done
    tail -n 5 "$dir/log" >&2
    fail "Alertmanager did not start"
    ;;
remove)
    recall "$dir"
    end_process "${PID:-}" 10
    release_port "$PORT"
    rm -rf "$dir"
    ;;
*) fail "start or remove" ;;
esac
