# The dry run of a large group whose counts are behind: it reads rows before it knows which they are. In a database of its own.

psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE ${database}_ahead ENCODING 'UTF8' TEMPLATE template0"
ahead_pg="$server dbname=${database}_ahead"
sed '/^-- 1 to 1000/,$d' "$here/table.sql" | psql -Xq "$ahead_pg" -f -
ahead_db=(-d "$ahead_pg")
ahead_sql() { psql -XAtq -v ON_ERROR_STOP=1 "$ahead_pg" -c "$1"; }
# arrive FROM TO: every other one is of the group, with ids far apart. Of each tenth of these the next one is a newer event of its key.
arrive()
{
    ahead_sql "INSERT INTO dlq_events (id, event_id, event_type, source_id, event_payload, error_message, kafka_topic, created_at)
        SELECT i * 10, 'e' || i, 't', CASE WHEN i % 20 < 2 THEN 'k' || i / 20 ELSE 'c' || i END, '{}',
               CASE i % 2 WHEN 0 THEN 'order is closed' ELSE 'timed out' END, 'orders', timestamp '2026-11-20 12:00' + i * interval '1 ms'
          FROM generate_series($1, $2) AS i" >/dev/null
}
leave_behind() { ahead_sql "UPDATE redrive.rollup_state SET lease_until = now() - interval '1 h', exact_at = now() - interval '1 h'"; }
# Numbers as sentences have them.
in_group() { ahead_sql "SELECT to_char(count(*), 'FM999,999') FROM dlq_events WHERE error_message = 'order is closed' AND status = 'PENDING'"; }
overtaken() { ahead_sql "SELECT to_char(count(*), 'FM999,999') FROM dlq_events e JOIN dlq_events n ON n.source_id = e.source_id AND n.id > e.id
    WHERE e.error_message = 'order is closed' AND e.status = 'PENDING' AND n.status <> 'DISCARDED'"; }
tells_the_group() { warns "from the rollup" && warns "would reprocess $(in_group) events" && warns "orders ($(in_group))" && warns "$(overtaken) with newer events"; }

arrive 1 52000
ahead_sql "ANALYZE dlq_events"
run migrate "${ahead_db[@]}" --quiet
"$REDRIVE" work "${ahead_db[@]}" >/dev/null 2>&1 &
worker=$!
for _ in $(seq 300); do
    run groups "${ahead_db[@]}" --json
    case $err in *"from the rollup"*) break ;; esac
    sleep 0.2
done
kill "$worker"
wait "$worker" 2>/dev/null || true
key=$(sed -n '/order is closed/s/.*"group":"\([0-9a-f]*\)".*/\1/p' "$work/out")

run reprocess "${ahead_db[@]}" --group "$key" --dry-run --json
ok "a dry run of a large group" all exits 0 ';' tells_the_group ';' json 'rows[0]["total"] == 26000'
cp "$work/out" "$work/known"
leave_behind
run reprocess "${ahead_db[@]}" --group "$key" --dry-run --json
ok "says the same where the counts are behind" all exits 0 ';' tells_the_group ';' cmp "$work/out" "$work/known"

leave_behind
arrive 52001 54000
ahead_sql "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = now()::timestamp WHERE id IN (20, 180020, 200, 210, 410);
           UPDATE dlq_events SET status = 'DISCARDED', resolved_at = now()::timestamp WHERE id IN (610, 800, 400010);
           DELETE FROM dlq_events WHERE id = 500000" >/dev/null
run reprocess "${ahead_db[@]}" --group "$key" --dry-run --json
ok "and what is true after arrivals and changes" all exits 0 ';' tells_the_group ';' json 'rows[0]["total"] == 26000 + 1000 - 5'
cp "$work/out" "$work/known"
run reprocess "${ahead_db[@]}" --group "$key" --dry-run --json
ok "as with counts that are known" all exits 0 ';' tells_the_group ';' cmp "$work/out" "$work/known"

# With the connection that it has, and no second one to read ahead.
single=redrive_single_$$
ahead_sql "CREATE ROLE $single LOGIN CONNECTION LIMIT 1"
psql -XAtq "$ahead_pg" -c "SELECT * FROM redrive.grants('$single', 'worker')" | psql -Xq "$ahead_pg" -f - >/dev/null
leave_behind
run reprocess -d "$server dbname=${database}_ahead user=$single" --group "$key" --dry-run --json
ok "a login with one connection brings the counts up to date too" all exits 0 ';' tells_the_group ';' cmp "$work/out" "$work/known"
ahead_sql "DROP OWNED BY $single; DROP ROLE $single"

psql -XAtq "$server dbname=postgres" -c "DROP DATABASE ${database}_ahead WITH (FORCE)"
