#!/usr/bin/env bash
# prometheus.sh ACTION DIR [OPTION…]: a private Prometheus in DIR, on a free port of 127.0.0.1.
#
#   start DIR CONFIG    with this scrape_configs part of prometheus.yml; prints PROMETHEUS=http://127.0.0.1:PORT
#   remove DIR          stops it and removes everything
set -eu
. "$(dirname "$0")/common.sh"

action=${1:?prometheus.sh start|remove DIR}
dir=${2:?a folder}

case $action in
start)
    mkdir -p "$dir/data"
    port=$(free_port)
    {
        printf 'global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\n'
        cat "${3:?a file with scrape_configs}"
    } >"$dir/prometheus.yml"
    promtool check config "$dir/prometheus.yml" >"$dir/log" 2>&1 || { cat "$dir/log" >&2; fail "promtool refuses the configuration"; }
    setsid prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/data" --web.listen-address="127.0.0.1:$port" \
        </dev/null >>"$dir/log" 2>&1 9>&- &
    await_ready "$dir" "$port" $! || fail "Prometheus did not start"
    echo "PROMETHEUS=http://127.0.0.1:$port"
    ;;
remove) remove_server "$dir" ;;
*) fail "start or remove" ;;
esac
