# Behind PgBouncer in transaction mode: each statement may meet another session.

if [ -z "${REDRIVE_TEST_PGBOUNCER:-}" ]; then
    skip "commands behind PgBouncer" "REDRIVE_TEST_PGBOUNCER is not set"
else
    pooled=(-d "$REDRIVE_TEST_PGBOUNCER dbname=$database")
    pending=$(sql "SELECT count(*) FROM dlq_events WHERE status = 'PENDING'")
    run groups "${pooled[@]}" --json
    ok "groups, pooled" all exits 0 ';' json "sum(row['count'] for row in rows) == $pending"
    run events "${pooled[@]}" --filter 'id:1..1000' --json
    chosen=$(printf '%s\n' "$out" | grep -c '"id"')
    ok "events, pooled" all exits 0 ';' [ "$chosen" -gt 10 ]
    run stats "${pooled[@]}"
    ok "stats, pooled" exits 0
    run doctor "${pooled[@]}"
    ok "doctor, pooled" not exits 3
    run discard "${pooled[@]}" --filter 'id:1..1000' --confirm "$chosen" --reason pooled --json
    ok "discard, pooled" all exits 0 ';' json "rows[0]['state'] == 'done' and rows[0]['done'] == $chosen"
    number=$(operation_of)
    run operation "${pooled[@]}" "$number" --json
    ok "operation, pooled" all exits 0 ';' json "rows[0]['operation'] == $number and rows[0]['done'] == $chosen"
    run audit "${pooled[@]}" --json
    ok "audit, pooled" all exits 0 ';' json "any(row['operation'] == $number and row['reason'] == 'pooled' for row in rows)"
    run restore "${pooled[@]}" --filter 'id:1..1000' --yes --json
    ok "restore, pooled" all exits 0 ';' json "rows[0]['done'] >= $chosen"
fi
