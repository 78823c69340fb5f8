# Several tables of dead letters in one database: named, found, kept apart, and carried on by one service.

payments=public.payments_dlq
sql "CREATE TABLE $payments (LIKE public.dlq_events INCLUDING ALL)"
sql "INSERT INTO $payments (id, event_id, event_type, event_payload, error_message) SELECT id, 'pay-' || id, 'payment', '{}', 'declined' FROM dlq_events WHERE id <= 50"
first=$(sql "SELECT string_agg(status || id, ' ' ORDER BY id) FROM dlq_events")
operations=$(sql "SELECT count(*) FROM redrive.operation")

run groups "${db[@]}" --table $payments --json
ok "a further table is read without its schema" all exits 0 ';' json 'sum(r["count"] for r in rows) == 50'
run discard "${db[@]}" --table $payments --all --yes
ok "a change names the command" all exits 2 ';' one_sentence ';' warns "redrive migrate --table $payments"
run migrate "${db[@]}" --table $payments --print
ok "what a DBA is shown is this table's schema" all exits 0 ';' says "CREATE SCHEMA redrive_payments_dlq" ';' not says "CREATE SCHEMA redrive "
run migrate "${db[@]}" --table $payments --json
ok "migrate of a further table" all exits 0 ';' json 'rows[0] == {"schema": "redrive_payments_dlq", "table": "public.payments_dlq", "from": 0, "to": 1, "renewed": False}'
run groups "${db[@]}"
ok "without a name the choices are told" all exits 2 ';' one_sentence ';' warns "name one with --table: public.dlq_events, public.payments_dlq"
REDRIVE_TABLE=payments_dlq run groups "${db[@]}" --json
ok "a name from the environment" all exits 0 ';' json 'sum(r["count"] for r in rows) == 50'
run migrate "${db[@]}" --table public.misspelt
ok "migrate says that the table does not exist" all exits 0 ';' warns "there is no table public.misspelt"
sql "DROP SCHEMA redrive_misspelt CASCADE" 2>/dev/null
run work "${db[@]}" --once
ok "work --once carries all of them on" exits 0
run migrate "${db[@]}"
ok "migrate upgrades all of them" all exits 0 ';' warns "the schema redrive is up to date" ';' warns "the schema redrive_payments_dlq is up to date"

run discard "${db[@]}" --table $payments --filter 'id:..20' --yes --reason "not these" --json
ok "an action on one table" all exits 0 ';' json 'rows[-1]["operation"] == 1 and rows[-1]["done"] == 20'
ok "leaves the same ids of the other alone" in_table "SELECT string_agg(status || id, ' ' ORDER BY id) FROM dlq_events" "$first"
run operations "${db[@]}" --table $payments --json
ok "operations are apart" all exits 0 ';' lines 1
run audit "${db[@]}" --table public.dlq_events --json
ok "the audit too" all exits 0 ';' not says "not these"
ok "the other has no more operations" in_table "SELECT count(*) FROM redrive.operation" "$operations"
run doctor "${db[@]}" --table $payments
ok "doctor is about the table's schema" all says "the schema redrive_payments_dlq is version" ';' not says "schema redrive "

# A service for all of them: a process for each, and none left behind.
run restore "${db[@]}" --table $payments --operation 1 --yes --reason back --detach
"$REDRIVE" "${db[@]}" work >"$work/service" 2>&1 &
service=$!
for _ in {1..300}; do
    ! in_table "SELECT count(*) FROM $payments WHERE status = 'PENDING'" 50 || break
    sleep 0.1
done
ok "the service carries the further table on" in_table "SELECT count(*) FROM $payments WHERE status = 'PENDING'" 50
one=$(pgrep -P $service | head -n 1)
kill -9 "$one"
two_others() { ! pgrep -P $service | grep -qx "$one" && [ "$(pgrep -P $service | wc -l)" = 2 ]; }
for _ in {1..100}; do
    ! two_others || break
    sleep 0.1
done
ok "a process that died is started again" two_others
kill $service
status=0
wait $service || status=$?
out=$(cat "$work/service")
ok "the service ends with all of them" all exits 0 ';' not pgrep -P $service
# The same id in two tables is of two records: the question for newer ones is asked and answered for each, by commands and by the service.
tables_newer()
{
    local newer=commands-tables-$$ before
    "$topic_tool" "$brokers" "$newer" 1
    printf 'c-1\t{}\nc-2\t{}\nc-1\t{"n": 2}\n' | kcat -b "$brokers" -t "$newer" -p 0 -P -K '\t' -q 2>/dev/null
    before=$(sql "SELECT format('kafka_topic = %L, kafka_partition = %L, kafka_offset = %L', kafka_topic, kafka_partition, kafka_offset) FROM dlq_events WHERE id = 471")
    sql "UPDATE dlq_events SET kafka_topic = '$newer', kafka_partition = 0, kafka_offset = 1 WHERE id = 471;
         UPDATE $payments SET id = 471, kafka_topic = '$newer', kafka_partition = 0, kafka_offset = 0 WHERE id = 47" >/dev/null
    run reprocess "${db[@]}" -b "$brokers" --table $payments --id 471 --check-newer --dry-run
    ok "--check-newer of one table" all exits 0 ';' warns "1 has newer records of the same key" ';' warns "key: c-1 ("
    run reprocess "${db[@]}" -b "$brokers" --table public.dlq_events --id 471 --status all --check-newer --dry-run
    ok "--check-newer of the same id in the other" all not warns "1 has newer records" ';' not warns "c-1"
    "$REDRIVE" "${db[@]}" -b "$brokers" work >"$work/service" 2>&1 &
    service=$!
    for _ in {1..300}; do
        ! in_table "SELECT (SELECT count(*) FROM redrive.worker WHERE seen_at > now() - interval '5 s') > 0 AND (SELECT count(*) FROM redrive_payments_dlq.worker WHERE seen_at > now() - interval '5 s') > 0" t || break
        sleep 0.1
    done
    run reprocess -d "$PG" --table $payments --id 471 --check-newer --dry-run
    ok "the service answers for a table" all exits 0 ';' warns "1 has newer records of the same key" ';' warns "key: c-1 ("
    run reprocess -d "$PG" --table public.dlq_events --id 471 --status all --check-newer --dry-run
    ok "and for the other" all not warns "1 has newer records" ';' not warns "no worker that publishes"
    ok "each table has its own questions" in_table "SELECT (SELECT count(*) FROM redrive.newer_question WHERE stale <> '{}') || '/' || (SELECT count(*) FROM redrive_payments_dlq.newer_question WHERE stale = '{471}')" 0/1
    kill $service
    wait $service || true
    sql "UPDATE dlq_events SET $before WHERE id = 471" >/dev/null
}
if [ -n "${brokers-}" ] && [ -x "${topic_tool-}" ] && command -v kcat >/dev/null; then
    tables_newer
else
    skip "newer records in two tables" "REDRIVE_TEST_KAFKA, tests/tools/topic or kcat is missing"
fi
sql "SET client_min_messages = warning; DROP SCHEMA redrive_payments_dlq CASCADE; DROP TABLE $payments"
