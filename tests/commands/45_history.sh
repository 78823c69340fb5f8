# A database that was put back or copied publishes nothing, and says so; an administrator decides how it goes on
# (src/commands/migrate_history.c, and src/publish/worker_adopt.c for the screen). Needs a real Kafka.

brokers=${REDRIVE_TEST_KAFKA-}
topic_tool=${REDRIVE_TEST_BUILD-}/tests/tools/topic
if [ -z "$brokers" ] || [ ! -x "$topic_tool" ] || ! command -v kcat >/dev/null; then
    skip "a database that was put back publishes nothing" "REDRIVE_TEST_KAFKA, tests/tools/topic or kcat is missing"
    return 0
fi

history=history_$$
history_topic=commands-history-$$
in_history() { psql -XAtq "$server dbname=$history" -c "$1"; }
of_postgres() { psql -XAtq "$server dbname=postgres" -c "$1" 2>/dev/null; }
# replace FROM TO: TO is a copy of FROM from now on; with `clone` it has the oid as well, as a clone of the disk has
replace()
{
    of_postgres "DROP DATABASE IF EXISTS $2 WITH (FORCE)"
    of_postgres "CREATE DATABASE $2 TEMPLATE $1"
    [ "${3-}" != clone ] || psql -XAtq "$server dbname=$2" -c "UPDATE redrive.install SET database_oid = (SELECT oid FROM pg_database WHERE datname = '$2')"
}
"$topic_tool" "$brokers" "$history_topic" 4
of_postgres "CREATE DATABASE $history ENCODING 'UTF8' TEMPLATE template0"
sed '/^-- 1 to 1000/,$d' "$here/table.sql" | psql -Xq "$server dbname=$history" -f -
in_history "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, kafka_topic, kafka_partition, kafka_offset)
            SELECT 'e' || i, 't', '{}', 'boom', '$history_topic', i % 4, i FROM generate_series(1, 60) i"
hdb=(-d "$server dbname=$history" -b "$brokers")
often() { kcat -b "$brokers" -t "$history_topic" -C -e -q -o beginning -X isolation.level=read_committed -f '%o\n' 2>/dev/null | wc -l; }
"$REDRIVE" migrate "${hdb[@]}" --quiet >/dev/null
run reprocess "${hdb[@]}" --filter id:1..20 --yes
run reprocess "${hdb[@]}" --filter id:21..40 --yes --detach
replace "$history" "${history}_backup"
run work "${hdb[@]}" --once
ok "two operations are sent" all exits 0 ';' eval '[ "$(often)" = 40 ]'

of_postgres "DROP DATABASE $history WITH (FORCE)"
replace "${history}_backup" "$history"
run work "${hdb[@]}" --once
ok "a backup that was put back into another database publishes nothing" all exits 6 ';' warns "another database" ';' eval '[ "$(often)" = 40 ]'
replace "${history}_backup" "$history" clone
run doctor "${hdb[@]}" --json
ok "doctor finds it before a worker does" json 'any(r["verdict"] == "WRONG" and "last turn is 2, that of this database is 1" in r["finding"] for r in rows)'
run work "${hdb[@]}" --once
ok "nor does one that has every identifier of the original" all exits 6 ';' warns "put back to an older state" ';' warns "$history_topic" ';' eval '[ "$(often)" = 40 ]'
run work "${hdb[@]}" --once
ok "nor at the next start" all exits 6 ';' eval '[ "$(often)" = 40 ]'
run reprocess "${hdb[@]}" --filter id:41..42 --yes
ok "a command that would send says so" exits 6
run doctor "${hdb[@]}" --json
ok "doctor says why, and what can be done" json 'any(r["verdict"] == "WRONG" and "nothing is published" in r["finding"] and "--adopt" in str(r) for r in rows)'

run migrate "${hdb[@]}" --yes
ok "--yes belongs to a decision" exits 2
run migrate "${hdb[@]}" --adopt --as-copy
ok "one of the two" exits 2
run migrate "${hdb[@]}" --adopt --yes
ok "a decision needs its reason" all exits 2 ';' warns "--reason"
run migrate "${hdb[@]}" --adopt --dry-run --json
ok "--adopt --dry-run counts" all exits 0 ';' json 'rows[0]["state"] == "dry run" and rows[0]["closed_as_sent"] == 20'
run migrate "${hdb[@]}" --adopt
ok "without --yes nothing is done" all exits 4 ';' warns "nothing was changed" ';' eval '[ "$(in_history "SELECT count(*) FROM redrive.turn WHERE stop IS NOT NULL")" = 1 ]'
replace "$history" "${history}_copy" clone
run migrate "${hdb[@]}" --adopt --yes --reason "backup of 4 a.m." --json
ok "--adopt closes what was sent" all exits 0 ';' json 'rows[0]["state"] == "adopted" and rows[0]["closed_as_sent"] == 20' ';' \
    eval '[ "$(in_history "SELECT count(*) FROM dlq_events WHERE status = '"'RESOLVED'"'")" = 40 ]'
run reprocess "${hdb[@]}" --filter id:43..44 --yes
ok "and it publishes again" all exits 0 ';' eval '[ "$(often)" = 44 ]'

cdb=(-d "$server dbname=${history}_copy" -b "$brokers")
run migrate "${cdb[@]}" --as-copy --dry-run --json
ok "--as-copy --dry-run counts" all exits 0 ';' json 'rows[0]["state"] == "dry run" and rows[0]["cancelled"] > 0'
run migrate "${cdb[@]}" --as-copy --yes --reason staging --json
ok "--as-copy cancels what is live" all exits 0 ';' json 'rows[0]["state"] == "a copy" and rows[0]["cancelled"] > 0 and rows[0]["in_doubt"] == 0'
run migrate "${hdb[@]}" --adopt --dry-run
ok "--adopt of a database that is not stopped decides nothing" exits 5
sent=$(often)
run work "${cdb[@]}" --once
ok "and sends nothing by itself" all exits 0 ';' eval '[ "$(often)" = '"$sent"' ]'
run reprocess "${hdb[@]}" --filter id:45..45 --yes
ok "the true one is not disturbed" exits 0

# The same by a worker, as the screen asks it: it counts in a stop, and carries out exactly what an administrator has confirmed.
of_postgres "DROP DATABASE $history WITH (FORCE)"
replace "${history}_backup" "$history" clone
sent=$(often)
run work "${hdb[@]}" --once
ok "put back once more, it is stopped" all exits 6 ';' eval '[ "$(in_history "SELECT count(*) FROM redrive.turn WHERE stop IS NOT NULL")" = 1 ]'
asked() { in_history "SELECT concat_ws(' ', state, cardinality(sent), why) FROM redrive.adopting"; }
in_history "SELECT redrive.history_ask()" >/dev/null
run work "${hdb[@]}" --once
run_counted=$(in_history "SELECT cardinality(sent) FROM redrive.adopting")
ok "a worker in a stop counts what Kafka proves, and stays stopped" all exits 6 ';' eval '[ "$(asked)" = "counted $run_counted" ] && [ "$run_counted" -ge 20 ]' ';' \
    eval '[ "$(in_history "SELECT count(*) FROM dlq_events WHERE status = '"'RESOLVED'"'")" = 20 ]'
ok "other counts than those cannot be confirmed" eval '! in_history "SELECT redrive.history_confirm(no, 7, chunks, '"'x'"') FROM redrive.adopting" 2>/dev/null'
ok "nor without a reason" eval '! in_history "SELECT redrive.history_confirm(no, cardinality(sent), chunks, '"' '"') FROM redrive.adopting" 2>/dev/null'
in_history "SELECT redrive.history_confirm(no, cardinality(sent), chunks, 'backup of 4 a.m.') FROM redrive.adopting" >/dev/null
run work "${hdb[@]}" --once
ok "what was confirmed is carried out, and the worker goes on" all exits 0 ';' eval '[ "$(asked)" = "done $run_counted" ] && [ "$(often)" = '"$sent"' ]' ';' \
    eval '[ "$(in_history "SELECT count(*) FROM dlq_events WHERE status = '"'RESOLVED'"'")" = $((20 + run_counted)) ]' ';' \
    eval '[ "$(in_history "SELECT count(*) FROM redrive.turn WHERE stop IS NOT NULL")" = 0 ]'
run reprocess "${hdb[@]}" --filter id:50..51 --yes
ok "and it publishes again, after a worker took it over" exits 0

for each in "$history" "${history}_backup" "${history}_copy"; do of_postgres "DROP DATABASE IF EXISTS $each WITH (FORCE)"; done
