# Of an event with several revisions reprocess sends the newest, or the one asked for, which a revert makes the newest. What Kafka then holds is
# compared with that revision byte for byte. Needs a real Kafka.

brokers=${REDRIVE_TEST_KAFKA-}
topic_tool=${REDRIVE_TEST_BUILD-}/tests/tools/topic
if [ -z "$brokers" ] || [ ! -x "$topic_tool" ] || ! command -v kcat >/dev/null; then
    skip "the revision asked for is sent" "REDRIVE_TEST_KAFKA, tests/tools/topic or kcat is missing"
    return 0
fi

revised=revised_$$
revised_topic=commands-revised-$$
whole=$PG
PG="$server dbname=$revised"
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $revised ENCODING 'UTF8' TEMPLATE template0"
sed '/^-- 1 to 1000/,$d' "$here/table.sql" | psql -Xq "$PG" -f -
whole_db=("${db[@]}")
db=(-d "$PG" -b "$brokers")
"$topic_tool" "$brokers" "$revised_topic" 1
"$REDRIVE" migrate "${db[@]}" --quiet >/dev/null

# Five events with their records, whose bytes no JSON printer would make and no shell keeps: a line end stands behind each.
sql "INSERT INTO dlq_events (id, event_id, event_type, source_id, event_payload, error_message, kafka_topic, kafka_partition, kafka_offset)
     SELECT n, 'revised-' || n, 'order', 'c-1', '{}', 'amount is no number', '$revised_topic', 0, 1000 + n FROM generate_series(1, 5) n;
     INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", key, value, header_names, header_values)
     SELECT n, '$revised_topic', 0, 1000 + n, 'c-1', convert_to(E'{ \"n\":' || n || E' ,\"amount\":\"1,50\",\\n\\t\"who\":\"\\\\u00e9\" }\\n', 'UTF8'),
            '{trace,tenant}', '{first,north}' FROM generate_series(1, 5) n"
# Three revisions of each: the second has a key and a header of its own, which the third keeps.
for n in {1..5}; do
    "$REDRIVE" correct "${db[@]}" "$n" --set '$.amount=1.50' --quiet >/dev/null
    "$REDRIVE" correct "${db[@]}" "$n" --set '$.amount=2.750' --set 'key="k-2"' --set 'header:trace="second"' --quiet >/dev/null
    "$REDRIVE" correct "${db[@]}" "$n" --set '$.amount=3.99e0' --quiet >/dev/null
done
ok "five events have three revisions each" in_table "SELECT count(*) || ' ' || count(DISTINCT payload) FROM redrive.revision" "15 15"

# about FORMAT N: of the records in Kafka that are event N, in kcat's words
about() { kcat -b "$brokers" -t "$revised_topic" -C -e -q -o beginning -X isolation.level=read_committed -f "%h|$1\n" 2>/dev/null | grep -a "redrive-event-id=$2[,|]" | sed 's/.*|//'; }
# is_revision N REVISION: exactly one record is event N, and its bytes are that revision's
is_revision()
{
    local at
    at=$(about %o "$1")
    [[ $at =~ ^[0-9]+$ ]] || return 1
    kcat -b "$brokers" -t "$revised_topic" -p 0 -C -e -q -o "$at" -c 1 -X isolation.level=read_committed -f %s >"$work/revised.sent" 2>/dev/null
    "$REDRIVE" show "${db[@]}" "$1" --revision "$2" --raw >"$work/revised.kept"
    [ -s "$work/revised.kept" ] && cmp -s "$work/revised.sent" "$work/revised.kept"
}
# has_parts N KEY TRACE
has_parts() { [ "$(about %k "$1")" = "$2" ] && [[ ",$(about %h "$1")," == *",trace=$3,tenant=north,"* ]]; }

run reprocess "${db[@]}" --id 1 --yes
ok "reprocess sends the newest revision" all exits 0 ';' is_revision 1 3 ';' has_parts 1 k-2 second

run correct "${db[@]}" 2 --revert 1 --json
ok "the first of three revisions is asked for" all exits 0 ';' json 'rows[0]["revision"] == 4'
run reprocess "${db[@]}" --id 2 --yes
ok "   and sent, with its key and headers" all exits 0 ';' is_revision 2 1 ';' is_revision 2 4 ';' has_parts 2 c-1 first

run correct "${db[@]}" 3 --revert 2 --reprocess --yes
ok "the second is asked for and sent by one command" all exits 0 ';' is_revision 3 2 ';' has_parts 3 k-2 second

run correct "${db[@]}" 4 --revert 0
run reprocess "${db[@]}" --id 4 --yes
ok "the original is asked for, and sent byte for byte" all exits 0 ';' is_revision 4 0 ';' has_parts 4 c-1 first ';' \
    [ "$(tail -c 2 "$work/revised.sent" | od -An -tx1)" = " 7d 0a" ]

run correct "${db[@]}" 5 --revert 2
"$REDRIVE" show "${db[@]}" 5 --as-sent >"$work/revised.told" 2>/dev/null
run reprocess "${db[@]}" --id 5 --yes
ok "show --as-sent prints what is sent" all exits 0 ';' is_revision 5 2 ';' cmp -s "$work/revised.told" "$work/revised.sent"

ok "each event was sent once" [ "$(for n in {1..5}; do about %o "$n"; done | grep -c .)" = 5 ]

PG=$whole
db=("${whole_db[@]}")
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS $revised WITH (FORCE)" >/dev/null 2>&1
