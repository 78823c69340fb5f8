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
    await_ready "$dir" "$port" $! || fail "Alertmanager did not start"
    echo "ALERTMANAGER=http://127.0.0.1:$port"
    ;;
remove) remove_server "$dir" ;;
*) fail "start or remove" ;;
esac
