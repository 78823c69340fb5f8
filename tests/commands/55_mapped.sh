# Tables of other programs: River's, pg-boss's and Oban's are listed and decided about, and nothing is written into them.

layouts=$here/../cases/tables
mapped() { local queue=$1; shift; run "$@" -d "$server dbname=${database}_$queue"; }
in_queue() { [ "$(psql -XAtq "$server dbname=${database}_$1" -c "$2")" = "$3" ]; }
to_queue() { psql -XAtq -v ON_ERROR_STOP=1 "$server dbname=${database}_$1" -c "$2" >/dev/null; }
while read -r queue table mapping groups events; do
    psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE ${database}_$queue ENCODING 'UTF8' TEMPLATE template0" </dev/null
    psql -XAtq -v ON_ERROR_STOP=1 "$server dbname=${database}_$queue" -f "$layouts/$mapping.sql" </dev/null >/dev/null
    rows=$(psql -XAtq "$server dbname=${database}_$queue" -c "SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM $table t" </dev/null)
    mapped "$queue" groups --table "$table"
    ok "$mapping: without a mapping it is no table of dead letters" not exits 0
    mapped "$queue" migrate --table "$table" --mapping "$mapping" </dev/null
    ok "$mapping: migrate" all exits 0 ';' warns "created the schema redrive"
    mapped "$queue" groups --json
    ok "$mapping: groups" all exits 0 ';' lines "$groups" ';' json "sum(r['count'] for r in rows) == $events"
    mapped "$queue" events --json
    ok "$mapping: events, only those that are dead" all exits 0 ';' lines "$events" ';' json 'all(r["status"] == "PENDING" and r["event_type"] and r["error_message"] and r["id"] > 0 for r in rows)'
    mapped "$queue" show 3
    ok "$mapping: an event whole" all exits 0 ';' says "event 3" ';' says "created       2026-11-20T10:00:03" ';' says "stack" ';' says "payload" ';' says "the event names no topic"
    mapped "$queue" stats --json
    ok "$mapping: stats" all exits 0 ';' says "$events"
    mapped "$queue" discard --id 3 --yes --reason "not this one" --json
    ok "$mapping: a decision is kept" all exits 0 ';' json 'rows[-1]["done"] == 1'
    mapped "$queue" events --status discarded --json
    ok "$mapping: and told" all lines 1 ';' json 'rows[0]["id"] == 3'
    mapped "$queue" restore --id 3 --yes --reason "this one after all" --json
    ok "$mapping: and taken back" json 'rows[-1]["done"] == 1'
    mapped "$queue" reprocess --all --yes --detach
    ok "$mapping: a reprocess without a topic says how the queue tries again" all exits 2 ';' one_sentence ';' warns "no topic is known for" ';' warns "tries a job again"
    mapped "$queue" archive --older-than 1d --yes
    ok "$mapping: nothing is archived" all exits 2 ';' one_sentence ';' warns "reads and never writes to"
    printf '{"event_id": "a", "event_type": "t", "event_payload": {}, "error_message": "x"}\n' >"$work/mapped.jsonl"
    mapped "$queue" import "$work/mapped.jsonl"
    ok "$mapping: nothing is imported" all not exits 0 ';' warns "reads and never writes to"
    mapped "$queue" doctor
    ok "$mapping: doctor says whose table it is" all says "read by the mapping $mapping; redrive writes nothing into it" ';' says "the last look at" ';' not says "is missing instead of"
    ok "$mapping: its owner's rows are as they were" in_queue "$queue" "SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM $table t" "$rows"
done <<'QUEUES'
river public.river_job river 2 30
boss pgboss.job pg-boss 3 21
oban public.oban_jobs oban 2 12
QUEUES

# The owner's tool tries two jobs again, and one of them fails again: another event, whatever was decided about the first.
mapped river discard --filter 'event-id:="5"' --yes --reason "known" --json
to_queue river "UPDATE river_job SET state = 'available', finalized_at = NULL WHERE id IN (5, 6)"
mapped river events --filter 'event-id:="6"' --json
ok "a job that is tried again is pending no more" exits 0
ok "and is not listed" lines 0
to_queue river "UPDATE river_job SET state = 'discarded', attempt = 4, finalized_at = now() WHERE id = 5"
arrived() { mapped river events --filter 'event-id:="5"' --json && json 'len(rows) == 1 and rows[0]["id"] > 30 and rows[0]["status"] == "PENDING"' >/dev/null; }
for _ in {1..60}; do
    ! arrived || break
    sleep 0.5
done
ok "its next failure is another event" arrived

# Arrivals while a service runs: what it publishes as metrics rises.
"$REDRIVE" watch -d "$server dbname=${database}_river" --listen 127.0.0.1:0 >"$work/mapped.watch" 2>&1 &
watching=$!
for _ in {1..300}; do # what it does when it connects is over
    ! in_queue river "SELECT count(*) FROM redrive.rollup_state WHERE lease_until > clock_timestamp()" 1 || break
    sleep 0.1
done
sleep 3
to_queue river "INSERT INTO river_job (state, attempt, max_attempts, finalized_at, args, errors, kind) SELECT 'discarded', 3, 3, now(), '{}', ARRAY['{\"error\": \"brand new\"}'::jsonb], 'late' FROM generate_series(1, 7)"
for _ in {1..60}; do
    ! in_queue river "SELECT count(*) FROM redrive.mapped WHERE event_type = 'late'" 7 || break
    sleep 0.5
done
ok "arrivals are seen while a service runs" in_queue river "SELECT count(*) FROM redrive.mapped WHERE event_type = 'late'" 7
kill $watching
wait $watching
mapped river groups --filter 'type:late' --json
ok "and counted" json 'sum(r["count"] for r in rows) == 7'

run migrate -d "$server dbname=${database}_river" --table public.river_job --mapping nonsense
ok "an unknown mapping names the known ones" all exits 2 ';' one_sentence ';' warns "only river, pg-boss, oban"
printf 'mapping "x" {\n  idd = "id"\n}\n' >"$work/wrong.mapping"
run migrate -d "$PG" --table public.river_job --mapping "$work/wrong.mapping"
ok "a mistake in a file is told with its line" all exits 2 ';' one_sentence ';' warns "wrong.mapping:2:"
run migrate -d "$PG" --mapping river --table public.dlq_events
ok "a table of redrive's own is not mapped" all exits 2 ';' one_sentence ';' warns "without a mapping already"

# With a topic, a job is sent as any event is: once, and its queue knows nothing of it.
mapped_sends()
{
    local topic=commands-mapped-$$ rows
    "$topic_tool" "$brokers" "$topic" 2
    sed "s/^    pending /    topic = \"$topic\"\n    source_id = \"id\"\n    pending /" "$here/../../mappings/river.mapping" >"$work/sends.mapping"
    mapped river migrate --table public.river_job --mapping "$work/sends.mapping"
    ok "another mapping of the same table" exits 0
    rows=$(psql -XAtq "$server dbname=${database}_river" -c "SELECT md5(string_agg(t::text, '|' ORDER BY id)) FROM river_job t")
    mapped river reprocess -b "$brokers" --filter 'type:sync id:..30' --yes --json
    ok "with a topic, jobs are sent" all exits 0 ';' json 'rows[-1]["state"] == "done" and rows[-1]["done"] == rows[-1]["total"] and rows[-1]["done"] >= 8'
    sent=$(sed -n 's/.*"done":\([0-9]*\).*/\1/p' "$work/out" | tail -n 1)
    consumed "$topic" '%s\n' >"$work/mapped.sent"
    ok "a consumer has each once" eval '[ "$(sort -u "$work/mapped.sent" | grep -c order)" = "$sent" ] && [ "$(grep -c order "$work/mapped.sent")" = "$sent" ]'
    ok "they are resolved here" in_queue river "SELECT count(*) FROM redrive.mapped WHERE status = 'RESOLVED' AND resolved_by = session_user AND retry_count = 4" "$sent"
    ok "and as they were there" in_queue river "SELECT md5(string_agg(t::text, '|' ORDER BY id)) FROM river_job t" "$rows"
    mapped river reprocess -b "$brokers" --filter 'type:sync id:..30' --yes
    ok "again finds nothing" exits 5
}
if [ -n "${brokers-}" ] && [ -x "${topic_tool-}" ] && command -v kcat >/dev/null; then
    mapped_sends
else
    skip "jobs are sent to a real Kafka" "REDRIVE_TEST_KAFKA, tests/tools/topic or kcat is missing"
fi
for queue in river boss oban; do
    psql -XAtq "$server dbname=postgres" -c "DROP DATABASE ${database}_$queue WITH (FORCE)"
done
