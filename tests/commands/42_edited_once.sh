# Nine ways in which editors of failed messages have gone wrong elsewhere, each named after what holds here. Some need the screen: its keys are
# played from a script. Needs a real Kafka.

brokers=${REDRIVE_TEST_KAFKA-}
topic_tool=${REDRIVE_TEST_BUILD-}/tests/tools/topic
if [ -z "$brokers" ] || [ ! -x "$topic_tool" ] || ! command -v kcat >/dev/null; then
    skip "an edited event is sent once" "REDRIVE_TEST_KAFKA, tests/tools/topic or kcat is missing"
    return 0
fi

edited=edited_$$
edited_topic=commands-edited-$$
whole=$PG
PG="$server dbname=$edited"
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $edited ENCODING 'UTF8' TEMPLATE template0"
sed '/^-- 1 to 1000/,$d' "$here/table.sql" | psql -Xq "$PG" -f -
whole_db=("${db[@]}")
db=(-d "$PG" -b "$brokers")
"$topic_tool" "$brokers" "$edited_topic" 1
"$REDRIVE" migrate "${db[@]}" --quiet >/dev/null

# event N: a pending event of order N with its record: key, two headers, and a payload whose bytes no JSON printer would make.
event()
{
    sql "INSERT INTO dlq_events (id, event_id, event_type, source_id, correlation_id, event_payload, error_message, kafka_topic, kafka_partition, kafka_offset)
         SELECT $1, 'edited-$1', 'order', 'c-1', '00000000-0000-4000-8000-000000000001', '{\"n\": $1, \"amount\": \"1,50\"}', 'amount is no number', '$edited_topic', 0, 1000 + $1;
         INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", key, value, header_names, header_values)
         VALUES ($1, '$edited_topic', 0, 1000 + $1, 'c-1', '{ \"n\":$1 ,\"amount\":\"1,50\" }', '{trace,tenant}', '{t-$1,north}')"
}
for n in {1..16}; do event "$n"; done
# sent FORMAT N: of the records in Kafka that are event N, in kcat's words
sent() { kcat -b "$brokers" -t "$edited_topic" -C -e -q -o beginning -X isolation.level=read_committed -f "%h|$1\n" 2>/dev/null | grep "redrive-event-id=$2[,|]" | sed 's/.*|//'; }
# press EVENT KEYS…: on the screen, with the list of this event alone; the lines are those of a script
press()
{
    local one=$1
    shift
    printf '%s\n' 'size 100x30' 'await live' 'keys 2' 'await all pending' 'keys /' "type event-id:=$one" 'keys <Enter>' "await /event-id:=$one " wait "$@" >"$work/keys"
    REDRIVE_START_WORKER=off run -d "$PG" --script "$work/keys" --script-out "$work/pictures"
    ran="redrive, by keys: ${*//$'\n'/ }"
}
mkdir -p "$work/pictures"


run correct "${db[@]}" 1 --set '$.amount=1.50'
run reprocess "${db[@]}" --filter id:1..2 --yes
run reprocess "${db[@]}" --id 1 --yes
ok "1: an edited event and its original are never both sent" all exits 5 ';' [ "$(sent %s 1)" = '{ "n":1 ,"amount":1.50 }' ] ';' [ "$(sent %s 2)" = '{ "n":2 ,"amount":"1,50" }' ]

press edited-3 'keys e' 'await exact' 'keys <C-t>' 'type $.amount' 'keys <Enter><Del><Right><Del>.<Right><Right><Del>' 'expect "amount":1.50 }' 'keys <C-s>' \
    'await 1 value changed' 'keys <Enter>' 'await save and reprocess' 'keys r' 'await Save the correction' 'type INC-1' 'keys <Tab>' 'expect [ Save ]' 'keys <Enter>' \
    'await 1 event of id 3' 'keys <Tab>' 'expect [ Reprocess ]' 'keys <Enter>' 'keys <Enter>' 'keys <Enter>' 'await operation'
ok "2: save and reprocess asks for one sending, however often it is pressed" all exits 0 ';' in_table "SELECT count(*) || ' ' || sum(total) FROM redrive.operation o JOIN redrive.item i ON i.operation_no = o.no WHERE i.dlq_id = 3" "1 1"
run work "${db[@]}" --once --quiet
ok "   and what is sent is the edit" [ "$(sent %s 3)" = '{ "n":3 ,"amount":1.50 }' ]

run correct "${db[@]}" 4 --set '$.amount=1.50'
sql "UPDATE dlq_events SET kafka_topic = 'commands-missing-$$' WHERE id = 6" >/dev/null
run correct "${db[@]}" 6 --set '$.amount=1.50'
run reprocess "${db[@]}" --filter id:4..6 --yes --json
# What differs between any two events is left out.
headers() { sent %h "$1" | tr ',' '\n' | grep -v '^redrive-event-id=' | sed -E "s/t-$1\$/t-N/; s/$((1000 + $1))\$/OFFSET/; s/=[0-9]{13}\$/=TIME/; s/=[0-9a-f-]{36}(:[0-9]+)?\$/=UUID/"; }
ok "3: an edited event keeps the key and every header that an unedited one has" all [ -n "$(headers 5)" ] ';' [ "$(headers 4)" = "$(headers 5)" ] ';' [ "$(sent %k 4)" = c-1 ] ';' eval '[[ "$(sent %h 4)" == *trace=t-4,tenant=north* ]]'
ok "   and one that Kafka does not take stays open, with its edit" all exits 1 ';' in_table "SELECT status FROM dlq_events WHERE id = 6" PENDING ';' in_table "SELECT count(*) FROM redrive.revision WHERE dlq_id = 6" 1

run correct "${db[@]}" 7 --set '$.amount=1.50' --reason first
run reprocess "${db[@]}" --id 7 --yes
sql "INSERT INTO dlq_events (id, event_id, event_type, source_id, event_payload, error_message, kafka_topic) VALUES (107, 'edited-7', 'order', 'c-1', '{\"n\": 7, \"amount\": 1.50}', 'amount is too small', '$edited_topic')" >/dev/null
run work "${db[@]}" --once --quiet
run correct "${db[@]}" 107 --set '$.amount=2.75' --reason second --json
ok "4: an event that was edited and failed again is edited again" all exits 0 ';' json 'rows[0]["revision"] == 2'
run show "${db[@]}" 107 --revisions --json
ok "   with its history" json '[r["reason"] for r in rows] == ["second", "first"]'
run reprocess "${db[@]}" --id 107 --yes
ok "   and sent again" all exits 0 ';' [ "$(sent %s 107)" = '{ "n":7 ,"amount":2.75 }' ] ';' [ "$(sent %s 7)" = '{ "n":7 ,"amount":1.50 }' ]

run correct "${db[@]}" 8 --set '$.amount=1.50'
run reprocess "${db[@]}" --filter id:8..9 --yes --json
result=$(operation_of)
run operation "${db[@]}" "$result" --json
ok "5: what became of an edited event is told as of any other" json 'rows[0]["state"] == "done" and rows[0]["done"] == 2 and rows[0]["total"] == 2'
press edited-8 'keys 4' 'await sent' "keys /^$result " 'keys <Enter>' 'keys <Enter>' "await operation $result" 'await sent 2'
ok "   and on the screen" exits 0
sql "INSERT INTO dlq_events (id, event_id, event_type, event_payload, error_message) VALUES (108, 'edited-8', 'order', '{}', 'no'), (109, 'edited-9', 'order', '{}', 'no')" >/dev/null
run work "${db[@]}" --once --quiet
run operation "${db[@]}" "$result" --json
ok "   and when it fails again" json 'rows[0]["returned"] == 2'

same() { in_table "SELECT count(DISTINCT ($1)) FROM $2 WHERE $3" 1; }
ok "6: an edited event ends as one that was not edited: resolved, and in the audit" all same "status, resolved_by, resolved_at IS NULL, retry_count" dlq_events "id IN (8, 9)" ';' \
    in_table "SELECT status FROM dlq_events WHERE id = 8" RESOLVED ';' in_table "SELECT count(*) FROM redrive.audit WHERE operation_no = $result AND action = 'finish' AND events = 2" 1

# faster N: somebody corrects event N, which the next save waits for
faster()
{
    psql -XAtq -v ON_ERROR_STOP=1 "$PG" >/dev/null <<SQL &
BEGIN;
SELECT FROM redrive.freeze_turn FOR UPDATE;
INSERT INTO redrive.revision (dlq_id, no, parent, payload, author, reason) VALUES ($1, 1, 0, '{"theirs": true}', 'rui', 'theirs');
DO \$\$ BEGIN
    FOR i IN 1..600 LOOP
        EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE NOT granted);
        PERFORM pg_sleep(0.05);
    END LOOP;
END \$\$;
COMMIT;
SQL
    until [ "$(sql "SELECT count(*) FROM pg_locks WHERE relation = 'redrive.revision'::regclass AND mode = 'RowExclusiveLock'")" != 0 ]; do sleep 0.05; done
}
faster 10
run correct "${db[@]}" 10 --set '$.amount=1.50'
wait
ok "7: whoever is late is told that nothing was saved" all exits 1 ';' one_sentence ';' warns "event 10 was corrected meanwhile"
edit=('keys e' 'await exact' 'keys <C-t>' 'type $.n' 'keys <Enter>' 'type 9' 'expect modified' 'keys <C-s>' 'await 1 value changed' 'keys <Enter>s' 'type mine' 'keys <Tab>' 'expect [ Save ]' 'keys <Enter>')
faster 11
press edited-11 "${edit[@]}" 'await Not saved: revision 1 is by rui' 'keys k' 'expect "n":911 '
wait
ok "   on the screen too, with the text still there" exits 0
ok "   and theirs is what counts" in_table "SELECT string_agg(dlq_id || ' ' || author, ',' ORDER BY dlq_id) FROM redrive.revision WHERE dlq_id IN (10, 11)" "10 rui,11 rui"

run reprocess "${db[@]}" --id 12 --rate 0 --detach --yes --json
result=$(operation_of)
run correct "${db[@]}" 12 --set '$.amount=1.50'
ok "8: an event on its way takes no edit, and says where it is" all exits 1 ';' one_sentence ';' warns "operation $result"
press edited-12 "${edit[@]}" "await Not saved: the event is in operation $result"
ok "   on the screen too" exits 0
run operation "${db[@]}" "$result" rate none
run work "${db[@]}" --once --quiet
run correct "${db[@]}" 12 --set '$.amount=1.50'
ok "   nor one that was sent" all exits 1 ';' one_sentence ';' warns "resolved by" ';' [ "$(sent %s 12)" = '{ "n":12 ,"amount":"1,50" }' ]

sql "UPDATE dlq_events SET event_id = 'twin', created_at = timestamp '2026-11-20 12:00' + id * interval '1 s' WHERE id BETWEEN 13 AND 16" >/dev/null
press twin 'await /4 of' 'keys jj' 'keys e' 'await 14 ▸ edit' 'await "n":14 ' "${edit[@]:2}" 'await saved as revision 1 of event 14'
ok "9: the editor has the event under the cursor, though others share all its ids" all exits 0 ';' in_table "SELECT string_agg(dlq_id || ' ' || convert_from(payload, 'UTF8'), ',') FROM redrive.revision WHERE dlq_id BETWEEN 13 AND 16" '14 { "n":914 ,"amount":"1,50" }'

PG=$whole
db=("${whole_db[@]}")
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS $edited WITH (FORCE)" >/dev/null 2>&1
