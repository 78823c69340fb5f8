# Events from files: what consumers wrote down while the database was away, and what export wrote.

import_db=redrive_import_$$
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $import_db ENCODING 'UTF8' TEMPLATE template0"
imported="$server dbname=$import_db"
imported_sql() { psql -XAtq -v ON_ERROR_STOP=1 "$imported" -c "$1"; }
psql -Xq "$imported" -f "$here/table.sql"
imported_sql "DELETE FROM dlq_events"
run migrate -d "$imported"

cat >"$work/fallback.jsonl" <<'LINES'
{"event_id": "f-1", "event_type": "order.created", "event_payload": {"n": 1, "amount": 1.50}, "error_message": "boom", "kafka_topic": "orders", "kafka_partition": 2, "kafka_offset": 7}
{"eventId": "f-2", "eventType": "order.created", "eventPayload": "{\"n\": 2}", "errorMessage": "boom", "stackTrace": "at A\n\tat B", "retryCount": 2, "createdAt": "2026-11-19T10:00:00.5+02:00", "correlationId": "00000000-0000-0000-0000-000000000007"}

{"event_id": "f-3", "event_type": "t", "event_payload": [3], "error_message": "boom"
{"event_id": "f-4", "event_type": "t", "event_payload": {"n": 4}, "error_message": "boom", "retry_count": "many"}
{"event_type": "t", "event_payload": {}, "error_message": "boom"}
{"event_id": "f-5", "event_type": "t", "event_payload": {"a": "\u0000"}, "error_message": "boom"}
{"event_id": "f-6", "event_type": "t", "event_payload": "text", "error_message": "boom", "createdAt": [2026, 11, 19, 0, 0, 2, 500000000], "nobody": "knows"}
{"event_id": "f-1", "event_type": "order.created", "event_payload": {"n": 1}, "error_message": "boom"}
{"event_id": "f-7", "event_type": "t", "event_payload": null, "error_message": "boom", "created_at": 1763510400}
LINES
run import "$work/fallback.jsonl" -d "$imported" --dry-run --json
ok "import --dry-run counts and writes nothing" all exits 1 ';' [ "$(imported_sql "SELECT count(*) FROM dlq_events")" = 0 ] ';' \
    json '(rows[0]["read"], rows[0]["inserted"], rows[0]["duplicate"], rows[0]["rejected"]) == (9, 4, 1, 4)'
run import "$work/fallback.jsonl" -d "$imported" --json --reason "outage of 19 November"
ok "import: what is wrong does not stop the rest" all exits 1 ';' json 'rows[0] == {"read": 9, "inserted": 4, "duplicate": 1, "rejected": 4, "is_dry": False}'
ok "and is told with file and line" all warns "fallback.jsonl:4: it is no JSON object on one line" ';' \
    warns 'fallback.jsonl:5: invalid input syntax for type integer: "many"' ';' warns "fallback.jsonl:6: it has no event_id" ';' \
    warns "fallback.jsonl:7: unsupported Unicode escape sequence"
ok "the rows are what the lines say" [ "$(imported_sql "SELECT string_agg(concat_ws(' ', event_id, event_payload, retry_count, max_retries, status, stack_trace,
    to_char(created_at AT TIME ZONE (SELECT zone FROM redrive.install), 'YYYY') >= '2025', kafka_topic, kafka_partition, kafka_offset, right(correlation_id::text, 2)),
    '|' ORDER BY id) FROM dlq_events")" = 'f-1 {"n": 1, "amount": 1.50} 0 3 PENDING t orders 2 7|f-2 {"n": 2} 2 3 PENDING at A
	at B t 07|f-6 "text" 0 3 PENDING t|f-7 null 0 3 PENDING t' ]
ok "times are instants, or of the table's zone" [ "$(imported_sql "SELECT string_agg((created_at AT TIME ZONE (SELECT zone FROM redrive.install) AT TIME ZONE 'UTC')::text
    || (event_id = 'f-6' AND created_at = '2026-11-19 00:00:02.5'), ' ' ORDER BY id) FILTER (WHERE event_id IN ('f-2', 'f-7')) FROM dlq_events")" = \
    "2026-11-19 08:00:00.5false 2025-11-19 00:00:00false" ]
run import "$work/fallback.jsonl" -d "$imported" --json
ok "again: nothing twice" all exits 1 ';' json 'rows[0]["inserted"] == 0 and rows[0]["duplicate"] == 5'
run audit -d "$imported" --json
ok "the audit says who brought how many" json 'rows[0]["action"] == "import" and rows[0]["events"] == 4 and rows[0]["reason"] == "outage of 19 November"'
run import -d "$imported"
ok "import of nothing" all exits 2 ';' one_sentence
run import "$work/nowhere.jsonl" -d "$imported"
ok "a file that is missing" all exits 2 ';' one_sentence ';' warns "nowhere.jsonl"

# Export, and back into another table: records byte for byte, revisions, and what is no JSON.
imported_sql "DELETE FROM dlq_events; INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, kafka_topic, kafka_partition, kafka_offset)
    VALUES ('x-1', 't', '{\"bytes\": 29, \"not_json\": \"PostgreSQL cannot hold it\"}', E'boom\u2028', 'orders', 1, 5), ('x-2', 't', '{\"bytes\": 3, \"not_json\": \"bytes that are not text\"}', 'boom', NULL, NULL, NULL), ('x-3', 't', '\"text\"', '', NULL, NULL, NULL),
    ('x-4', 't', '{\"n\": 1}', 'boom', NULL, NULL, NULL);
    UPDATE dlq_events SET status = 'RESOLVED', resolved_at = '2026-11-20', resolved_by = 'api', retry_count = 4 WHERE event_id = 'x-3';
    INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", \"timestamp\", key, value, header_names, header_values)
    SELECT id, 'orders-dlq', 3, 9, '2026-11-19 00:00:00.123+00', CASE event_id WHEN 'x-2' THEN '\\x00ff'::bytea END,
           CASE event_id WHEN 'x-1' THEN convert_to('{ \"a\" : 1.00,  \"b\":\"\\u0000\" }', 'UTF8') ELSE '\\xff00fe'::bytea END,
           '{a,a,b}', ARRAY['\\x01ff'::bytea, NULL, ''] FROM dlq_events WHERE event_id < 'x-3';
    INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", value, cluster, generation, identity, format, consumer, failed_at, crc32c)
    SELECT id, 'orders-dlq', 0, 1, convert_to('{\"originalTopic\":\"orders\",\"originalValue\":\"{\\\"n\\\": 1}\"}', 'UTF8'), 'k-1', 2, -9223372036854775807, 'dlq-wrapper',
           'billing', '2026-11-19 00:00:00.456789+00', 4294967295 FROM dlq_events WHERE event_id = 'x-4'" >/dev/null
run correct "$(imported_sql "SELECT id FROM dlq_events WHERE event_id = 'x-1'")" --set '$.a=2' --set 'header:c="d"' --reason "two is right" -d "$imported" --quiet
run export -d "$imported" --status all -o "$work/there.jsonl"
kept="SELECT string_agg(concat_ws('|', e.event_id, e.event_type, e.event_payload, e.error_message, e.status, e.retry_count, e.created_at, e.resolved_at, e.resolved_by,
      e.kafka_topic, e.kafka_partition, e.kafka_offset, r.topic, r.partition, r.\"offset\", r.\"timestamp\", r.key, r.value, r.header_names, r.header_values,
      r.cluster, r.generation, r.identity, r.format, r.consumer, r.failed_at, r.crc32c,
      v.no, v.parent, v.payload, v.has_key, v.header_names, v.header_values, v.topic), E'\n' ORDER BY e.event_id)
      FROM dlq_events e LEFT JOIN redrive.record r ON r.dlq_id = e.id LEFT JOIN redrive.revision v ON v.dlq_id = e.id"
imported_sql "$kept" >"$work/there.txt"
imported_sql "DELETE FROM redrive.revision; DELETE FROM redrive.record; DELETE FROM dlq_events"
run import - -d "$imported" --json <"$work/there.jsonl"
ok "what export wrote comes back" all exits 0 ';' json 'rows[0]["inserted"] == 4 and rows[0]["rejected"] == 0'
imported_sql "$kept" >"$work/back.txt"
ok "byte for byte" diff "$work/there.txt" "$work/back.txt"
ok "a dead letter stays one, and is found by what it is" [ "$(imported_sql "SELECT concat_ws(' ', format, generation, identity, is_imported) FROM redrive.record WHERE format IS NOT NULL")" = \
    "dlq-wrapper 2 -9223372036854775807 t" ]
run events -d "$imported" --json --filter "format:dlq-wrapper consumer:billing dlq-topic:orders-dlq"
ok "events --json has its columns" json '[(r["event_id"], r["format"], r["consumer"], r["dlq_topic"]) for r in rows] == [("x-4", "dlq-wrapper", "billing", "orders-dlq")]'
ok "a revision says whose it was" [ "$(imported_sql "SELECT reason LIKE 'imported, by %: two is right' FROM redrive.revision")" = t ]
run export -d "$imported" --status all -o "$work/back.jsonl"
without_own() { "$python" -S -c '
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    del row["id"]
    for revision in row["revisions"]:
        del revision["at"], revision["reason"], revision["author"]
    print(json.dumps(row))' "$1" | sort; }
ok "and exports as before" diff <(without_own "$work/there.jsonl") <(without_own "$work/back.jsonl")

# An event whose first line the table refuses, and a later one not.
printf '{"event_id":"d-1","event_type":"t","event_payload":{"n":%s},"error_message":"boom","retry_count":"%s"}\n' 1 many 2 lots 3 3 4 4 >"$work/doubled.jsonl"
run import "$work/doubled.jsonl" -d "$imported" --json
ok "a line that is refused stands in no other's way" all exits 1 ';' json 'rows[0] == {"read": 4, "inserted": 1, "duplicate": 1, "rejected": 2, "is_dry": False}' ';' \
    [ "$(imported_sql "SELECT event_payload->>'n' FROM dlq_events WHERE event_id = 'd-1'")" = 3 ]

# A constraint of the team's own, and more lines than a batch has: two connections insert what comes behind the first batch. Every tenth event occurs
# again far below.
imported_sql "ALTER TABLE dlq_events ADD CONSTRAINT no_hundreds CHECK (event_payload->>'n' NOT LIKE '%00')"
"$python" -S -c '
for n in list(range(1, 45501)) + list(range(10, 45501, 10)):
    print("{\"event_id\":\"m-%d\",\"event_type\":\"t\",\"event_payload\":{\"n\":%d},\"error_message\":\"boom\"}" % (n, n))' >"$work/many.jsonl"
run import "$work/many.jsonl" -d "$imported" --json
ok "many lines, of which the table refuses some" all exits 1 ';' json 'rows[0] == {"read": 50050, "inserted": 45045, "duplicate": 4095, "rejected": 910, "is_dry": False}' ';' \
    warns 'many.jsonl:20500: new row for relation "dlq_events" violates check constraint "no_hundreds"' ';' \
    warns 'many.jsonl:45500: new row for relation "dlq_events" violates check constraint "no_hundreds"'
ok "and each event once" [ "$(imported_sql "SELECT concat_ws(' ', count(*), count(DISTINCT event_id)) FROM dlq_events WHERE event_id LIKE 'm-%'")" = "45045 45045" ]
ok "the audit has all of them" [ "$(imported_sql "SELECT sum(events) FROM redrive.audit WHERE action = 'import' AND detail LIKE '%many.jsonl'")" = 45045 ]

# Two people import the same file at the same time.
imported_sql "ALTER TABLE dlq_events DROP CONSTRAINT no_hundreds; DELETE FROM dlq_events"
"$REDRIVE" import "$work/many.jsonl" -d "$imported" --json >"$work/beside.json" 2>&1 &
beside=$!
run import "$work/many.jsonl" -d "$imported" --json
wait $beside || true
ok "two imports of one file at a time: each event once" all exits 0 ';' [ "$(imported_sql "SELECT concat_ws(' ', count(*), count(DISTINCT event_id)) FROM dlq_events")" = "45500 45500" ] ';' \
    [ "$(cat "$work/out" "$work/beside.json" | "$python" -S -c 'import json, sys; print(sum(json.loads(line)["inserted"] for line in sys.stdin))')" = 45500 ]

imported_sql "DELETE FROM dlq_events; CREATE ROLE $import_db LOGIN CONNECTION LIMIT 1"
imported_sql "SELECT redrive.grants('$import_db')" | psql -XAtq "$imported"
run import "$work/many.jsonl" -d "$imported user=$import_db" --json
ok "where a second connection cannot be had, one inserts all" all exits 0 ';' json 'rows[0]["inserted"] == 45500 and rows[0]["duplicate"] == 4550'
imported_sql "DROP OWNED BY $import_db; DROP ROLE $import_db"
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE $import_db WITH (FORCE)"
