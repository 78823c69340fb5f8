# What 500 inserts a second wait for while `redrive archive` moves a table of closed events, beside the same without. Read by run.
#
# The two take turns while the table is moved: for a while the archive goes on, for a while it is stopped. So whatever else the machine does,
# or the table's growing archive, is in both.
#
# pgbench sends each insert at its own moment, whether or not the one before has come back: its time counts from that moment.

ARRIVE_FOR=10

# insert_for NAME SECONDS: adds the latency of each insert, in ms, to $RUN/archive.NAME.
insert_for()
{
    (cd "$RUN" && "$(dirname "$PSQL")/pgbench" -n -R 500 -c 8 -j 2 -T "$2" -f archive.sql --log --log-prefix "archive.$1" archive >archive.out 2>&1) ||
        { tail -n 5 "$RUN/archive.out" >&2; fail "pgbench failed"; }
    cat "$RUN/archive.$1".[0-9]* | awk '{ print $3 / 1000 }' >>"$RUN/archive.$1"
    rm -f "$RUN/archive.$1".[0-9]*
}

# share NAME PERCENT
share()
{
    sort -n "$RUN/archive.$1" | awk -v p="$2" '{ v[NR] = $1 } END { printf "%.2f", v[int((NR - 1) * p / 100) + 1] }'
}

measure_archive()
{
    local closed ratio archiver worked=0 from
    PSQL=$(readlink -f "$(ls -d /usr/lib/postgresql/"$(psql -X -A -t -d postgres -c "SELECT current_setting('server_version_num')::int / 10000")"/bin/psql)")
    make_backlog archive "$MANY"
    "$REDRIVE" -d "$(conninfo archive)" migrate --quiet >/dev/null
    psql -X -q -d archive -c "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = now()::timestamp - interval '100 days'" -c "VACUUM ANALYZE dlq_events" -c CHECKPOINT
    closed=$(psql -X -A -t -d archive -c "SELECT count(*) FROM dlq_events")
    cat >"$RUN/archive.sql" <<'SQL'
\set i random(1, 1000000000)
INSERT INTO dlq_events (event_id, event_type, event_payload, error_message) VALUES ('new-' || :i, 'order.created', '{"order": 1, "text": "some words of a payload"}', 'no stock of ' || :i);
SQL
    insert_for warm 5
    "$REDRIVE" -d "$(conninfo archive)" archive --older-than 90d --yes >"$RUN/archive.moved" 2>&1 </dev/null &
    archiver=$!
    arrivals=$archiver # ended in every case
    while kill -0 "$archiver" 2>/dev/null; do
        from=$EPOCHREALTIME
        insert_for during "$ARRIVE_FOR"
        worked=$(awk -v worked="$worked" -v from="$from" -v to="$EPOCHREALTIME" 'BEGIN { print worked + to - from }')
        kill -STOP "$archiver" 2>/dev/null || break
        insert_for alone "$ARRIVE_FOR"
        kill -CONT "$archiver"
    done
    wait "$archiver" || true
    arrivals=
    [ "$(psql -X -A -t -d archive -c "SELECT count(*) FROM archive.dlq_events_archive")" = "$closed" ] || { cat "$RUN/archive.moved" >&2; fail "not every event was archived"; }
    ratio=$(awk -v during="$(share during 99)" -v alone="$(share alone 99)" 'BEGIN { printf "%.2f", during / alone }')
    awk -v worked="$worked" -v n="$closed" 'BEGIN { printf "archive, %d events in %.0f s, %d a second; 500 inserts a second beside it wait, in ms:\n", n, worked, n / worked }'
    for name in alone during; do
        printf '  %-7s p50 %s  p99 %s  worst %s\n' "$name" "$(share $name 50)" "$(share $name 99)" "$(share $name 100)"
    done
    printf '  p99 beside it to p99 alone: %s' "$ratio"
    against "$MANY" archive_insert_p99 "$ratio"
    echo
    rm -f "$RUN"/archive.*
    psql -X -q -d postgres -c "DROP DATABASE archive WITH (FORCE)"
}
