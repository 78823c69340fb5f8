# redrive watch: metrics as a client and as Prometheus see them, over HTTP and HTTPS, and its end.

root_of_tests=$(cd "$here/.." && pwd)
metrics_db=redrive_metrics_$$
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $metrics_db ENCODING 'UTF8' TEMPLATE template0"
watched="$server dbname=$metrics_db"
watched_sql() { psql -XAtq -v ON_ERROR_STOP=1 "$watched" -c "$1"; }
psql -Xq "$watched" -f "$here/table.sql"

run watch -d "$watched" --once
ok "watch without the schema names the command" all exits 2 ';' one_sentence ';' warns "redrive migrate"
run migrate -d "$watched"
run watch -d "$watched" --read-only --once
ok "watch needs to write" all exits 4 ';' one_sentence
run watch -d "$watched" --once
ok "watch --once prints metrics" all exits 0 ';' says 'dlq_events_total{table="public.dlq_events",status="pending"} 1003' ';' \
    says 'dlq_messages_total{table="public.dlq_events"} 1005' ';' silent
if [ -n "${REDRIVE_TEST_PGBOUNCER:-}" ]; then
    run watch -d "$REDRIVE_TEST_PGBOUNCER dbname=$metrics_db" --once
    ok "watch, pooled" all exits 0 ';' says 'dlq_pending_messages{table="public.dlq_events"} 1003'
fi
promtool check metrics <"$work/out" >"$work/promtool" 2>&1
ok "promtool has nothing to say of them" [ ! -s "$work/promtool" ]

# What is shipped: rules that fire when they should, and no name in rules or dashboard that no metric has.
monitoring=$root_of_tests/../monitoring
ran="promtool check rules, promtool test rules" status=0
promtool check rules "$monitoring/rules.yml" "$monitoring/rules-strict.yml" >"$work/promtool" 2>&1 || status=$?
(cd "$monitoring" && promtool test rules rules_test.yml) >>"$work/promtool" 2>&1 || status=$?
out=$(cat "$work/promtool") err=
ok "the rules are good, and fire when they should" exits 0
"$python" -S - "$work/out" "$monitoring" >"$work/names" 2>&1 <<'PY' || status=$?
import json, re, sys
known = {line.split()[2]: line.split()[3] for line in open(sys.argv[1]) if line.startswith("# TYPE")}
known = {name + end for name, kind in known.items() for end in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))}
dashboard = json.load(open(sys.argv[2] + "/dashboard.json"))
texts = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
texts += [open(f"{sys.argv[2]}/{name}").read() for name in ("rules.yml", "rules-strict.yml")]
assert len(texts) > 15
used = {name for text in texts for name in re.findall(r"\b(?:dlq|redrive)_[a-z0-9_]+", text)}
print(sorted(used - known))
sys.exit(1 if used - known else 0)
PY
ran="names in monitoring" out=$(cat "$work/names")
ok "rules and dashboard name metrics that there are" exits 0

# serve ARGUMENT…: a watcher in the background; $watcher is its process, $endpoint its address once it serves.
serve()
{
    ran="redrive watch $*"
    "$REDRIVE" watch -d "$watched" --listen 127.0.0.1:0 --json "$@" >"$work/served" 2>"$work/watch.log" &
    watcher=$!
    endpoint=
    for _ in {1..200}; do
        endpoint=$(sed -n 's/.*"msg":"serving metrics","listen":"\([^"]*\)".*/\1/p' "$work/watch.log")
        [ -z "$endpoint" ] && kill -0 "$watcher" 2>/dev/null || break
        sleep 0.05
    done
}

# end_serving SIGNAL: $status is the watcher's.
end_serving()
{
    status=0
    kill -"$1" "$watcher"
    wait "$watcher" || status=$?
    out= err=$(cat "$work/watch.log")
}

# fetch PATH OPTION…: $status is that of HTTP, $out the body.
fetch()
{
    local path=$1
    shift
    ran="curl $* $path"
    : >"$work/out"
    status=$(curl -sS -o "$work/out" -w '%{http_code}' --max-time 60 "$@" "$path" 2>"$work/err")
    out=$(cat "$work/out") err=$(cat "$work/err")
}

# until_says WORDS PATH OPTION…: fetches for some seconds until the words are there.
until_says()
{
    local words=$1
    shift
    for _ in {1..150}; do
        fetch "$@"
        [[ $out != *"$words"* ]] || return 0
        sleep 0.1
    done
    return 1
}

serve
ok "watch serves" [ -n "$endpoint" ]
fetch "http://$endpoint/healthz"
ok "it is well" all exits 200 ';' says ok
until_says ok "http://$endpoint/readyz"
ok "and ready" exits 200
ok "groups come with the rollup" until_says 'error_class="java.lang.IllegalStateException"} 500' "http://$endpoint/metrics"
ok "groups have their category" says 'category="'
fetch "http://$endpoint/metrics" -H 'Accept: application/openmetrics-text;version=1.0.0'
ok "OpenMetrics where it is asked for" all exits 200 ';' says '# TYPE dlq_messages counter' ';' [ "$(tail -n 1 "$work/out")" = '# EOF' ]
fetch "http://$endpoint/" -X DELETE
ok "nothing else is done there" exits 405

printf 'scrape_configs:\n  - job_name: redrive\n    static_configs:\n      - targets: ["%s"]\n' "$endpoint" >"$work/scrape.yml"
ran="tests/lib/prometheus.sh start"
if REDRIVE_OWNER=$$ "$root_of_tests/lib/prometheus.sh" start "$work/prometheus" "$work/scrape.yml" >"$work/out" 2>"$work/err"; then
    prometheus=$(sed -n 's/^PROMETHEUS=//p' "$work/out")
    query() { until_says "$1" "$prometheus/api/v1/query" -G --data-urlencode "query=$2"; }
    ok "Prometheus scrapes it" query '"1"]' 'up{job="redrive"}'
    ok "Prometheus reads pending events" query '"1003"]' 'dlq_pending_messages'
    ok "and the seeds' own query" query '"status":"resolved"' 'dlq_events_total{status="resolved"}'
    ok "a quantile of the histogram" query '"3' 'histogram_quantile(0.95, dlq_resolution_time_seconds_bucket)'
    ok "HELP and TYPE arrive" until_says '"unit":"seconds"' "$prometheus/api/v1/metadata" -G --data-urlencode 'metric=dlq_resolution_time_seconds'
    watched_sql "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message) SELECT 'new-' || i, 'order.created', '{}', 'new' FROM generate_series(1, 25) AS i"
    ok "arrivals arrive" query '"1028"]' 'dlq_pending_messages'
    ok "and are counted" query '"1030"]' 'dlq_messages_total'
    ok "a scrape takes less than 20 ms" query '"true"' 'label_replace(scrape_duration_seconds < 0.02, "quick", "true", "", "")'
    "$root_of_tests/lib/prometheus.sh" remove "$work/prometheus"
else
    out=$(cat "$work/out") err=$(cat "$work/err") status=1
    ok "Prometheus starts" false
fi

# While PostgreSQL does not answer, the page says so and stays.
psql -XAtq "$server dbname=postgres" -c "ALTER DATABASE $metrics_db ALLOW_CONNECTIONS false" -c "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '$metrics_db'" >/dev/null
ok "a database that went away is told" until_says 'redrive_up{table="public.dlq_events"} 0' "http://$endpoint/metrics"
psql -XAtq "$server dbname=postgres" -c "ALTER DATABASE $metrics_db ALLOW_CONNECTIONS true"
ok "and when it is back" until_says 'redrive_up{table="public.dlq_events"} 1' "http://$endpoint/metrics"
serve_again=$("$REDRIVE" watch -d "$watched" --listen "$endpoint" 2>&1)
status=$? out= err=$serve_again ran="a second watcher on the same port"
ok "a port that is taken is told" all exits 2 ';' warns "another program listens there"
end_serving TERM
ok "SIGTERM ends it" all exits 0 ';' warns '"msg":"ending"'

"$root_of_tests/lib/certificates.sh" "$work/certificates" >/dev/null
(umask 077 && echo 'a long token' >"$work/token")
cat >"$work/watch.config" <<CONFIG
watch_certificate = "$work/certificates/server.pem"
watch_key = "$work/certificates/server.key"
watch_token = "$work/token"
CONFIG
export REDRIVE_CONFIG=$work/watch.config
serve
ok "HTTPS" [ -n "$endpoint" ]
fetch "https://$endpoint/metrics" --cacert "$work/certificates/ca.pem"
ok "no token, no metrics" all exits 401 ';' not says dlq_
fetch "https://$endpoint/metrics" --cacert "$work/certificates/ca.pem" -H 'Authorization: Bearer a long token'
ok "the token opens them" all exits 200 ';' says dlq_
fetch "https://$endpoint/metrics" --cacert "$work/certificates/stranger.pem"
ok "the certificate is the one that was given" exits 000
fetch "https://$endpoint/metrics" --cacert "$work/certificates/ca.pem" --tls-max 1.1
ok "no TLS before 1.2" exits 000
fetch "http://$endpoint/healthz"
ok "no plain HTTP there" not exits 200
fetch "https://$endpoint/healthz" --cacert "$work/certificates/ca.pem"
ok "probes need no token" exits 200
ok "the token is in no log" [ "$(grep -c 'a long token' "$work/watch.log")" = 0 ]
end_serving INT
ok "SIGINT ends it" exits 0
chmod 644 "$work/token"
run watch -d "$watched" --listen 127.0.0.1:0
ok "a token that others can read is refused" all exits 2 ';' one_sentence ';' warns "chmod"
unset REDRIVE_CONFIG

# Each level's rights: a login that only looks, and one that works.
watched_sql "CREATE ROLE redrive_watch_look_$$ LOGIN; CREATE ROLE redrive_watch_work_$$ LOGIN" >/dev/null
watched_sql "SELECT redrive.grants('redrive_watch_look_$$', 'viewer') UNION ALL SELECT redrive.grants('redrive_watch_work_$$', 'worker')" | psql -Xq "$watched"
run watch -d "$watched user=redrive_watch_look_$$" --once
ok "a viewer is told what is missing" all exits 4 ';' one_sentence ';' warns watch_look
run watch -d "$watched user=redrive_watch_work_$$" --once
ok "a worker's rights are enough" all exits 0 ';' says dlq_pending_messages

# What systemd is told (src/commands/cli/ready.c).
ran="redrive watch with NOTIFY_SOCKET" err=
out=$(timeout 60 "$python" -S - "$REDRIVE" "$watched" "$work/notify" 2>&1 <<'PY'
import os, socket, subprocess, sys
program, database, path = sys.argv[1:]
told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
told.bind(path)
told.settimeout(30)
watcher = subprocess.Popen([program, "-d", database, "watch", "--listen", "127.0.0.1:0", "--quiet"], env=dict(os.environ, NOTIFY_SOCKET=path))
print(told.recv(100).decode())
watcher.terminate()
print(told.recv(100).decode(), watcher.wait())
PY
)
status=$?
ok "systemd hears when it is ready and when it ends" [ "$out" = "READY=1
STOPPING=1 0" ]

psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS $metrics_db WITH (FORCE)" \
    -c "DROP ROLE redrive_watch_look_$$" -c "DROP ROLE redrive_watch_work_$$" >/dev/null 2>&1
