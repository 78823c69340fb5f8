# Alerts: what is listed, who may silence and acknowledge, what a file may say, and a watcher that evaluates.

alerts_db=redrive_alerts_$$
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $alerts_db ENCODING 'UTF8' TEMPLATE template0"
alerted="$server dbname=$alerts_db"
alerted_sql() { psql -XAtq -v ON_ERROR_STOP=1 "$alerted" -c "$1"; }
psql -Xq "$alerted" -f "$here/table.sql"

run alerts -d "$alerted"
ok "alerts without the schema name the command" all not exits 0 ';' one_sentence ';' warns "redrive migrate"
run migrate -d "$alerted"
run alerts -d "$alerted"
ok "before anybody watches" all exits 0 ';' lines 0 ';' warns "start one"

run alerts --check
ok "the built-in alerts are sound" all exits 0 ';' warns "17 alerts"
cat >"$work/alerts.conf" <<'CONF'
alert "TooMany" {
    when = "pending"    above = 1000    clear = 500
    severity = "page"    labels = { "team=orders" }
    description = "Open redrive."    runbook = "https://wiki.example/dlq"
}
alert "Arrivals" { when = "rate" above = "1000/s" }
CONF
run alerts --check "$work/alerts.conf"
ok "a file of one's own" all exits 0 ';' warns "sound: 2 alerts"
sed 's/above = 1000 /above = many /' "$work/alerts.conf" >"$work/wrong.conf"
run alerts --check "$work/wrong.conf"
ok "a mistake has file and line" all exits 2 ';' one_sentence ';' warns "wrong.conf:2: alert \"TooMany\": \"many\" is not a number"
printf 'alerts = "%s/alerts.conf"\nwatch_every = "200ms"\n' "$work" >"$work/alerts.config"

# watches: starts a watcher, and waits until it has evaluated the rules once.
watches()
{
    REDRIVE_CONFIG=$work/alerts.config "$REDRIVE" watch -d "$alerted" --listen 127.0.0.1:0 --json 2>>"$work/alerts.log" &
    alerting=$!
}
# alerts_say STATE…: `redrive alerts` gets to these states of TooMany, in some seconds.
alerts_say()
{
    for _ in {1..150}; do
        run alerts -d "$alerted" --json
        ! json "[row['state'] for row in rows if row['alert'] == 'TooMany'] == '$1'.split()" >/dev/null || return 0
        sleep 0.1
    done
    return 1
}
watches
ok "an alert fires" alerts_say firing
ok "its status is for scripts" all exits 1 ';' names alert state firing since value threshold condition severity summary description runbook \
    silenced_until silenced_by acknowledged_by resolved_at labels ';' json "rows[0]['value'] == 1003 and rows[0]['labels'] == {'team': 'orders'}"
run alerts -d "$alerted"
ok "for people, what fires comes first" all exits 1 ';' [ "${out%% *}" = firing ] ';' says "1,003 events are pending" ';' says "rate above 60,000/min within 5m"
run alert TooMany -d "$alerted"
ok "one alert" all exits 1 ';' says "Open redrive." ';' says "https://wiki.example/dlq" ';' says "team=orders"
run alert Nobody -d "$alerted"
ok "an alert that is not there" all exits 5 ';' one_sentence
run alert TooMany acknowledge -d "$alerted" --reason "rollback at 14:30"
ok "somebody is on it" all exits 0 ';' warns acknowledged
run alerts -d "$alerted" --json
ok "which ends the alarm" all exits 0 ';' json "rows[0]['state'] == 'acknowledged' and rows[0]['firing']"
run alert Arrivals acknowledge -d "$alerted"
ok "what does not fire cannot be acknowledged" all exits 5 ';' one_sentence
run alert TooMany silence -d "$alerted"
ok "a silence needs a length" all exits 2 ';' one_sentence ';' warns "--for"
run alert TooMany silence --for 2h -d "$alerted" --reason "deploy"
ok "it is silenced" all exits 0 ';' warns "2h"
run alerts -d "$alerted"
ok "and says so" all exits 0 ';' says silenced
run audit -d "$alerted"
ok "both are in the audit" all says acknowledge ';' says "silence" ';' says "alert TooMany"
run alert TooMany silence --for 0 -d "$alerted"
ok "a silence ends early" exits 0

alerted_sql "CREATE ROLE redrive_alert_look_$$ LOGIN" >/dev/null
alerted_sql "SELECT redrive.grants('redrive_alert_look_$$', 'viewer')" | psql -Xq "$alerted"
run alerts -d "$alerted user=redrive_alert_look_$$"
ok "a viewer sees them" says TooMany
run alert TooMany silence --for 1h -d "$alerted user=redrive_alert_look_$$"
ok "and may not silence" all exits 4 ';' one_sentence ';' warns alert_silence

# A restart in between: still firing, since the same moment.
run alerts -d "$alerted" --json
since=$(sed -n 's/.*"alert":"TooMany".*"since":"\([^"]*\)".*/\1/p' "$work/out")
disown "$alerting" # bash says nothing about its end
kill -9 "$alerting"
watches
sleep 1
run alerts -d "$alerted" --json
ok "a watcher that was killed takes nothing along" json "[row['since'] for row in rows if row['alert'] == 'TooMany'] == ['$since']"
alerted_sql "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = now() WHERE id > 500" >/dev/null
ok "and it is over" alerts_say inactive
kill -TERM "$alerting"
wait "$alerting"
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS $alerts_db WITH (FORCE)" -c "DROP ROLE redrive_alert_look_$$" >/dev/null 2>&1
