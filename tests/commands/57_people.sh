# What people say about groups: taking one, notes, letting one wait; who may, and what the audit has of it.

root_of_people=$(cd "$here/../.." && pwd)
people_db=redrive_people_$$
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $people_db ENCODING 'UTF8' TEMPLATE template0"
people="$server dbname=$people_db"
hostile_role=$'evil\e[31m'$$
people_sql() { psql -XAtq -v ON_ERROR_STOP=1 "$people" -c "$1"; }
psql -Xq "$people" -f "$here/table.sql"

run take 0123456789abcdef -d "$people"
ok "taking without the schema names the command" all not exits 0 ';' one_sentence ';' warns "redrive migrate"
run migrate -d "$people"
run groups -d "$people" --json
group=$(sed -n '1s/.*"group":"\([^"]*\)".*/\1/p' "$work/out")
second=$(sed -n '2s/.*"group":"\([^"]*\)".*/\1/p' "$work/out")
group_is() { run groups -d "$people" --json; json "[row for row in rows if row['group'] == '$1'][0]['$2'] $3"; }
ok "before anybody does anything" json "rows[0]['assignee'] is None and rows[0]['note'] is None and rows[0]['snoozed_until'] is None"

run take "$group" -d "$people" --until 2h --note "looking at the schema"
ok "a group is taken" all exits 0 ';' warns "group $group is yours until"
ok "and groups say so" all group_is "$group" assignee "is not None" ';' group_is "$group" note "== 'looking at the schema'"
run groups -d "$people"
ok "for people too" says "@postgres "
run take "$group" -d "$people" --json
ok "again, for eight hours, and the note stays" all exits 0 ';' names group assignee until note snoozed_until ';' json "rows[0]['note'] == 'looking at the schema'"
run take "$group" --until yesterday -d "$people"
ok "what is no time is said" all exits 2 ';' one_sentence ';' warns "14:30"
run take "$group" --until 2020-01-01T10:00 -d "$people"
ok "and what is over" all exits 2 ';' one_sentence ';' warns "over"
run take "${group:0:8}" -d "$people"
ok "a key is whole" all exits 2 ';' one_sentence ';' warns "16 digits"
run take -d "$people"
ok "and is there" all exits 2 ';' one_sentence
for command in "take $group" "release $group" "snooze $group 4h"; do
    run $command more -d "$people"
    ok "${command%% *}: too many words" all exits 2 ';' one_sentence ';' warns "expected redrive ${command%% *} GROUP" ';' warns '"more" is left over'
done
run take "$group" --until 25:00 -d "$people"
ok "there is no hour 25" all exits 2 ';' one_sentence
run take "$group" --until 23:59 -d "$people"
ok "a time of day" all exits 0 ';' warns "23:59:00"

run release "$group" -d "$people" --json
ok "it is released, and its note stays" all exits 0 ';' json "rows[0]['assignee'] is None and rows[0]['note'] == 'looking at the schema'"
run release "$group" -d "$people"
ok "once" all exits 5 ';' one_sentence ';' warns "nobody has taken"
run note "$group" rollback at 14:30 -d "$people"
ok "a note" all exits 0 ';' group_is "$group" note "== 'rollback at 14:30'"
run note "$group" "$(printf 'x%.0s' {1..1001})" -d "$people"
ok "that is too long" all exits 2 ';' one_sentence ';' warns "1000 bytes"
harmless() { ! grep -q $'[\e\a]' "$work/out" && ! grep -q $'[\e\a]' "$work/err"; }
run note "$group" $'\e]52;c;aGk=\a' -d "$people"
run audit -d "$people"
ok "a hostile one harms no terminal" all says "]52;c" ';' harmless
people_sql "CREATE ROLE \"$hostile_role\" SUPERUSER LOGIN" >/dev/null
people_sql "SET SESSION AUTHORIZATION \"$hostile_role\"; SELECT redrive.group_take(('x$group')::bit(64)::bigint, '1 h', NULL)" >/dev/null
run groups -d "$people"
ok "nor does a hostile name" all says "@" ';' says "[31m" ';' harmless

people_sql "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = now() WHERE error_message LIKE '%is closed'" >/dev/null
run note "$group" "came back in October" -d "$people"
people_sql "UPDATE dlq_events SET status = 'PENDING', resolved_at = NULL WHERE error_message LIKE '%is closed'" >/dev/null
ok "a note outlives the events of its group" group_is "$group" note "== 'came back in October'"
run note "$group" -d "$people"
ok "a note is removed" all exits 0 ';' group_is "$group" note "is None"

run snooze "$group" --until 4h -d "$people" --json
ok "a group waits" all exits 0 ';' json "rows[0]['snoozed_until'] is not None"
run groups -d "$people" --json
ok "at the end of the list" json "rows[-1]['group'] == '$group' and rows[-1]['snoozed_until'] is not None and rows[0]['group'] == '$second'"
run groups -d "$people"
ok "for people with its time" says "until "
people_sql "UPDATE redrive.group_care SET snoozed_above = 400 WHERE snoozed_until IS NOT NULL" >/dev/null
ok "until it has grown" group_is "$group" snoozed_until "is None"
run snooze "$group" 4h -d "$people"
people_sql "UPDATE redrive.group_care SET snoozed_until = now() - interval '1 s' WHERE snoozed_until IS NOT NULL" >/dev/null
ok "or its time has come" group_is "$group" snoozed_until "is None"
run snooze "$group" 4h -d "$people"
run snooze "$group" 0 -d "$people"
ok "or somebody ends it" all exits 0 ';' group_is "$group" snoozed_until "is None"
run snooze "$group" -d "$people"
ok "a snooze needs an end" all exits 2 ';' one_sentence ';' warns "--until"

run audit -d "$people"
ok "all of it is in the audit" all says "take" ';' says "release" ';' says "note" ';' says "snooze" ';' says "group $group"

# The runbook of the team.
run runbook -d "$people"
ok "without a runbook" all exits 0 ';' lines 0 ';' warns "there is no runbook"
run runbook --check "$root_of_people/monitoring/runbook.conf"
ok "the example is sound" all exits 0 ';' warns "sound: 9 causes"
cat >"$work/runbook" <<'CONF'
cause "orders are closed late" {
    class = "IllegalState"    first = "reopen the order, then reprocess"    link = "https://wiki.example/closed"
}
CONF
sed 's/https:/javascript:/' "$work/runbook" >"$work/runbook.wrong"
run runbook --check "$work/runbook.wrong"
ok "a mistake has file and line" all exits 2 ';' one_sentence ';' warns "runbook.wrong:2: cause \"orders are closed late\": a link begins with"
printf 'runbook = "%s/runbook"\nwatch_every = "200ms"\nalerts = "%s/runbook.alerts"\n' "$work" "$work" >"$work/runbook.config"
printf 'alert "Share" { when = "share" of = "group" above = "40%%" }\n' >"$work/runbook.alerts"
export REDRIVE_CONFIG=$work/runbook.config
run runbook -d "$people"
ok "all of it" all exits 0 ';' lines 1 ';' says "orders are closed late: reopen the order, then reprocess · https://wiki.example/closed"
run runbook 0000000000000000 -d "$people"
ok "of a group that is not there" all exits 5 ';' one_sentence
"$REDRIVE" watch -d "$people" --listen 127.0.0.1:0 --json 2>>"$work/runbook.log" &
watching=$!
share_says() { for _ in {1..300}; do run alerts -d "$people" --json; ! grep -q "$1" "$work/out" || return 0; sleep 0.1; done; return 1; }
ok "an alert about a group says the first thing to do" share_says "reopen the order, then reprocess"
run runbook "$group" -d "$people" --json
ok "of a group" all exits 0 ';' names cause first link line ';' json "rows[0]['cause'] == 'orders are closed late'"
run runbook "$second" -d "$people"
ok "of a group that it does not know" all exits 0 ';' lines 0 ';' warns "says nothing"
# The alert about a group that may wait is silent.
told_of() { cat "$work/people.told" 2>/dev/null; }
share_is() { for _ in {1..300}; do run alerts -d "$people" --json; ! json "[row['state'] for row in rows if row['labels'].get('group') == '$group'] == ['$1']" >/dev/null || return 0; sleep 0.1; done; return 1; }
run snooze "$group" 4h -d "$people"
ok "an alert about a group that may wait is silent" all share_is silenced ';' not grep -q '"state":"firing"' "$work/out"
run snooze "$group" 0 -d "$people"
ok "until it waits no longer" share_is firing
kill -TERM "$watching"
wait "$watching"
# Nobody is told of it at all when the group waits before it fires.
people_sql "DELETE FROM redrive.alert; DELETE FROM redrive.alert_notice; DELETE FROM redrive.alert_destination" >/dev/null
run snooze "$group" 4h -d "$people"
printf '#!/bin/sh\ncat >>"%s/people.told"\n' "$work" >"$work/people.tell"
chmod +x "$work/people.tell"
printf 'destination "command" { command = { "%s" } }\n' "$work/people.tell" >>"$work/runbook.alerts"
"$REDRIVE" watch -d "$people" --listen 127.0.0.1:0 --json 2>>"$work/runbook.log" &
watching=$!
ok "it fires" share_is silenced
sleep 1
ok "and nobody is told" [ -z "$(told_of)" ]
run snooze "$group" 0 -d "$people"
is_told() { for _ in {1..300}; do ! told_of | grep "reopen the order" >/dev/null || return 0; sleep 0.1; done; return 1; }
ok "but when it waits no longer, with the first thing to do" is_told
kill -TERM "$watching"
wait "$watching"
unset REDRIVE_CONFIG

people_sql "CREATE ROLE redrive_people_look_$$ LOGIN" >/dev/null
people_sql "SELECT redrive.grants('redrive_people_look_$$', 'viewer')" | psql -Xq "$people"
run groups -d "$people user=redrive_people_look_$$"
ok "a viewer sees groups" exits 0
run take "$group" -d "$people user=redrive_people_look_$$"
ok "and takes none" all exits 4 ';' one_sentence ';' warns group_take
run take "$group" -d "$people" --read-only
ok "nor does anybody who may only read" all exits 4 ';' one_sentence
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS $people_db WITH (FORCE)" -c "DROP ROLE redrive_people_look_$$" -c "DROP ROLE \"$hostile_role\"" >/dev/null 2>&1
