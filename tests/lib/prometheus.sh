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
    remember "$dir" PID $!
    remember "$dir" PORT "$port"
    guard "$dir" "$0" remove "$dir"
    for _ in {1..300}; do
        ! curl -sf -o /dev/null "http://127.0.0.1:$port/-/ready" || { echo "PROMETHEUS=http://127.0.0.1:$port"; exit 0; }
        is_alive $! || break
        sleep 0.1
    done
    tail -n 5 "$dir/log" >&2
    fail "Prometheus did not start"
    ;;
remove)
    recall "$dir"
    end_process "${PID:-}" 10
    release_port "$PORT"
    rm -rf "$dir"
    ;;
*) fail "start or remove" ;;
esac
