# redrive daemon: the parts of one service, their readiness, their end; two of them share the work.

daemon_db=redrive_daemon_$$
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $daemon_db ENCODING 'UTF8' TEMPLATE template0"
served="$server dbname=$daemon_db"
served_sql() { psql -XAtq -v ON_ERROR_STOP=1 "$served" -c "$1"; }
psql -Xq "$served" -f "$here/table.sql"

run daemon -d "$served" --listen 127.0.0.1:0
ok "a part that fails ends the daemon with its status" all exits 2 ';' warns "redrive migrate" ';' warns "a part of the daemon ended"
run migrate -d "$served"

# A service manager: prints what it is told, a line a datagram.
"$python" -S - "$work/manager" >"$work/told" <<'PY' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    print(s.recv(4096).decode().split("\n")[0], flush=True)
PY
manager=$!
until_there() { for _ in {1..300}; do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done; return 1; }
until_there [ -S "$work/manager" ]

# begin_daemon NAME: in the background; $daemon_NAME is its first process, $work/NAME.log what it logs, $endpoint where it serves.
begin_daemon()
{
    ran="redrive daemon"
    NOTIFY_SOCKET=$work/manager "$REDRIVE" daemon -d "$served" --listen 127.0.0.1:0 --json >/dev/null 2>"$work/$1.log" &
    printf -v "daemon_$1" %s $!
    until_there grep -q "all parts of the daemon are ready" "$work/$1.log"
    endpoint=$(sed -n 's/.*"msg":"serving metrics".*"listen":"\([^"]*\)".*/\1/p' "$work/$1.log" | tail -n 1)
}
part_of() { sed -n "s/.*\"msg\":\"started a part of the daemon\",\"of\":\"$1\",\"pid\":\([0-9]*\).*/\1/p" "$work/$2.log" | tail -n 1; }
workers_are() { [ "$(served_sql "SELECT count(*) FROM redrive.worker WHERE seen_at > clock_timestamp() - interval '3 s'")" = "$1" ]; }
answers() { [ "$(curl -s -o /dev/null -w '%{http_code}' --max-time 5 "http://$1")" = 200 ]; }
is_done() { [ "$(served_sql "SELECT state FROM redrive.operation ORDER BY no DESC LIMIT 1")" = done ]; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }
shows_log() { out= err=$(cat "$work/$1.log"); }

begin_daemon one
shows_log one
ok "the daemon tells the service manager that it is ready" until_there grep -qx READY=1 "$work/told"
ok "its metrics are served" until_there answers "$endpoint/readyz"
ok "its worker lives" until_there workers_are 1
run discard -d "$served" --filter 'id:1..3' --yes --detach
ok "and carries operations out" until_there is_done

# A second one, which nobody told of the first.
first_endpoint=$endpoint
begin_daemon two
ok "two daemons serve and work" all until_there workers_are 2 ';' until_there answers "$endpoint/readyz" ';' answers "$first_endpoint/readyz"
kill -KILL "$daemon_one" "$(part_of work one)" "$(part_of watch one)"
wait "$daemon_one" 2>/dev/null
run discard -d "$served" --filter 'id:4..6' --yes --detach
ok "one is killed, the other has the work" until_there is_done
groups_kept() { curl -s --max-time 5 "http://$endpoint/metrics" | grep -q 'error_class="java.lang.IllegalStateException"} [0-9]'; }
ok "and keeps the counts of groups" until_there groups_kept

# SIGHUP reads the files again, and starts the parts again.
before=$(part_of work two)
kill -HUP "$daemon_two"
is_another() { [ "$(part_of work two)" != "$before" ]; }
ok "SIGHUP starts the parts again" all until_there is_another ';' kill -0 "$daemon_two" ';' until_there grep -qx RELOADING=1 "$work/told"
until_there workers_are 1
hung=("$(part_of work two)" "$(part_of watch two)")
kill -HUP "${hung[@]}"
sleep 1
ok "SIGHUP to a part ends nothing" kill -0 "$daemon_two" "${hung[@]}"
seconds_of() { sed -n 's/^TimeoutStopSec=\([0-9]*\)s$/\1/p' "$here/../../src/commands/$1.service"; }
ok "systemd leaves the daemon the time that its parts have one after the other" \
    [ "$(seconds_of redrive)" -gt $(($(seconds_of redrive-ingest) + $(seconds_of redrive-work) + $(seconds_of redrive-watch))) ]
ready_again() { [ "$(grep -c "all parts of the daemon are ready" "$work/two.log")" = 2 ]; }
ok "and they are ready again" until_there ready_again

status=0
kill -TERM "$daemon_two"
wait "$daemon_two" || status=$?
shows_log two
ended=$(sed -n 's/.*"msg":"ended a part of the daemon","of":"\([a-z]*\)","status":0.*/\1/p' "$work/two.log" | tail -n 2 | tr '\n' ' ')
ok "SIGTERM ends work, then watch" all exits 0 ';' [ "$ended" = "work watch " ]
ok "and the service manager is told" until_there grep -qx STOPPING=1 "$work/told"
ok "nothing of it is left" all is_gone "$(part_of work two)" ';' is_gone "$(part_of watch two)" ';' until_there workers_are 0

# A part that ends by itself takes the rest with it.
begin_daemon three
kill -KILL "$(part_of watch three)"
status=0
wait "$daemon_three" || status=$?
shows_log three
ok "a part that is killed ends the daemon" all exits 137 ';' warns '"of":"watch","status":137' ';' warns '"msg":"ended a part of the daemon","of":"work","status":0'

# A configuration that went wrong changes nothing.
mkdir -p "$work/etc"
printf 'refresh = "2s"\n' >"$work/etc/config"
export REDRIVE_CONFIG="$work/etc/config"
begin_daemon four
printf 'refresh = "soon"\n' >"$work/etc/config"
before=$(part_of work four)
kill -HUP "$daemon_four"
ok "a wrong configuration is said and not taken" all until_there grep -q "the daemon continues with the one it has" "$work/four.log" ';' \
    kill -0 "$before"
printf 'alerts = "%s"\n' "$work/etc/alerts" >"$work/etc/config"
printf 'alert "broken" { when = "pendin" }\n' >"$work/etc/alerts"
kill -HUP "$daemon_four"
ok "nor is a wrong file of alerts" all until_there grep -q "no condition.*pendin" "$work/four.log" ';' kill -0 "$daemon_four" ';' kill -0 "$before"
unset REDRIVE_CONFIG
kill -TERM "$daemon_four"
wait "$daemon_four"
kill "$manager"
wait "$manager" 2>/dev/null
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE $daemon_db WITH (FORCE)"
