# Notices of alerts on their way: to a real Alertmanager and back to resolved, to a webhook behind TLS, to a command; and none is lost
# where a receiver does not answer or a watcher is killed.

notices_db=redrive_notices_$$
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $notices_db ENCODING 'UTF8' TEMPLATE template0"
noticed="$server dbname=$notices_db"
noticed_sql() { psql -XAtq -v ON_ERROR_STOP=1 "$noticed" -c "$1"; }
psql -Xq "$noticed" -f "$here/table.sql"
run migrate -d "$noticed"

# A receiver behind TLS that writes each body down, and does not answer while $work/silent is there.
"$root_of_tests/lib/certificates.sh" "$work/certificates" >/dev/null
cat >"$work/receiver.py" <<'PY'
import http.server, os, ssl, sys, time
work = sys.argv[1]
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with open(work + "/received", "a") as out:
            out.write(body + "\n")
        while os.path.exists(work + "/silent"):
            time.sleep(0.05)
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(work + "/certificates/server.pem", work + "/certificates/server.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
PY
: >"$work/received" >"$work/mails"
"$python" -S "$work/receiver.py" "$work" >"$work/receiver.port" 2>"$work/receiver.log" &
receiver=$!
for _ in {1..100}; do [ -s "$work/receiver.port" ] || sleep 0.1; done
hook="https://127.0.0.1:$(cat "$work/receiver.port")/hook/a-secret"
(umask 077 && echo "$hook" >"$work/hook.url")

ran="tests/lib/alertmanager.sh start" status=0
REDRIVE_OWNER=$$ "$root_of_tests/lib/alertmanager.sh" start "$work/alertmanager" >"$work/out" 2>"$work/err" || status=$?
out=$(cat "$work/out") err=$(cat "$work/err")
ok "Alertmanager starts" exits 0
alertmanager=$(sed -n 's/^ALERTMANAGER=//p' "$work/out")

cat >"$work/notices.conf" <<CONF
alert "TooMany" {
    when = "pending"    above = 1000    clear = 500    severity = "page"    labels = { "team=orders" }
    description = "Open redrive."    runbook = "https://wiki.example/dlq"
}
destination "alertmanager" { url = "$alertmanager" }
destination "slack" { url.file = "$work/hook.url"    ca = "$work/certificates/ca.pem" }
destination "command" { command = { "/bin/sh", "-c", "cat >>$work/mails" }    to = "oncall@example.com" }
CONF
printf 'alerts = "%s/notices.conf"\nwatch_every = "200ms"\n' "$work" >"$work/notices.config"

notify() # begins a watcher: $notifying
{
    REDRIVE_CONFIG=$work/notices.config no_proxy=127.0.0.1 "$REDRIVE" watch -d "$noticed" --listen 127.0.0.1:0 --json 2>>"$work/notices.log" &
    notifying=$!
}
received() # received COUNT WORDS FILE: so many lines with the words get there
{
    for _ in {1..200}; do
        [ "$(grep -c -- "$2" "$3" 2>/dev/null)" -lt "$1" ] || break
        sleep 0.1
    done
    ran="waiting for $1 times \"$2\"" out=$(cat "$3" 2>/dev/null) err=$(tail -n 5 "$work/notices.log")
    [ "$(grep -c -- "$2" "$3")" = "$1" ]
}
settle() # settle COUNT: so many events are pending, from now on
{
    noticed_sql "UPDATE dlq_events SET status = CASE WHEN id <= $1 THEN 'PENDING' ELSE 'RESOLVED' END" >/dev/null
}

notify
ok "Alertmanager has the alert" until_says '"alertname":"TooMany"' "$alertmanager/api/v2/alerts?active=true"
ok "with its labels, sentence and link" all says '"severity":"page"' ';' says '"team":"orders"' ';' says '"table":"public.dlq_events"' ';' \
    says '"summary":"1,003 events are pending"' ';' says '"runbook_url":"https://wiki.example/dlq"' ';' says '"state":"active"'
ok "the webhook has it" received 1 'firing\* page: \*TooMany\*' "$work/received"
ok "and the command" received 1 '^Subject: \[firing\] TooMany: 1,003 events are pending' "$work/mails"
settle 400
ok "Alertmanager knows that it is over" until_says '[]' "$alertmanager/api/v2/alerts?active=true"
ok "so does the webhook" received 1 'resolved\* page: \*TooMany\*' "$work/received"
ok "and the command" received 1 '^Subject: \[resolved\] TooMany' "$work/mails"
run alerts -d "$noticed"
ok "nothing waits" all exits 0 ';' not warns "wait"

# A second watcher of the same table: all is sent once.
first=$notifying
notify
settle 1003
ok "two watchers send once" received 2 'firing\* page' "$work/received"
ok "all of it" received 2 '^Subject: \[firing\]' "$work/mails"
sleep 1
ok "and no more" [ "$(grep -c 'firing\* page' "$work/received")" = 2 ]
settle 400
ok "that it is over, too" received 2 'resolved\* page' "$work/received"
disown "$first" "$notifying"
kill -9 "$first"

# The receiver takes the request and does not answer; its watcher is killed. Nobody can know whether it counted: it is sent again.
touch "$work/silent"
settle 1003
ok "a request is on its way" received 3 'firing\* page' "$work/received"
kill -9 "$notifying"
rm "$work/silent"
noticed_sql "UPDATE redrive.alert_notice SET lease_until = lease_until - interval '30 s' WHERE lease_until IS NOT NULL" >/dev/null
notify
ok "another watcher sends it again" received 4 'firing\* page' "$work/received"

# A certificate of somebody else, and a webhook that is gone.
disown "$notifying"
kill -9 "$notifying"
sed -i "s|certificates/ca.pem|certificates/stranger.pem|" "$work/notices.conf"
settle 400
notify
waits_for() # the destination slack is told to fail with these words
{
    for _ in {1..100}; do
        run alerts -d "$noticed"
        ! warns "$1" || return 0
        sleep 0.1
    done
    return 1
}
ok "a stranger's certificate is refused, and told" all waits_for "slack: 1 notice waits: https://127.0.0.1" ';' warns certificate
ok "others go on" received 3 '^Subject: \[resolved\]' "$work/mails"
ok "the address is a secret" [ "$(cat "$work/notices.log" "$work/err" | grep -c a-secret)" = 0 ]
kill -TERM "$notifying"
kill "$receiver"
"$root_of_tests/lib/alertmanager.sh" remove "$work/alertmanager"
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS $notices_db WITH (FORCE)" >/dev/null 2>&1
