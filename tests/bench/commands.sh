# The commands' part of run: what they take where a screen has counted and gone, each beside the statement that one counts errors with by hand.

# With the counts of a screen that ended a while ago: nobody keeps them, and the command brings them up to date first.
command_late()
{
    psql -X -q -d commands -c "UPDATE redrive.rollup_state SET lease_until = now() - interval '9 h', exact_at = now() - interval '9 h'"
    ms "$@"
}

# The same after 10,000 events arrived meanwhile.
command_arrived()
{
    psql -X -q -d commands -c "INSERT INTO dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, kafka_topic)
        SELECT gen_random_uuid(), event_type, source_table, source_id, event_payload, error_message, stack_trace, kafka_topic
          FROM dlq_events WHERE status = 'PENDING' LIMIT 10000"
    command_late "$@"
}

measure_commands()
{
    local rows=${ROWS##* } to name message key by_path="SELECT event_payload #>> '{customer}', count(*) FROM dlq_events WHERE status = 'PENDING' GROUP BY 1"
    local -A aims=([whole]="500 ms" [group]="500 ms" [age]="500 ms" [hour]="500 ms" [stats]="500 ms" [dry_run]="500 ms"
        [arrived]="500 ms and what 10,000 arrivals take")
    make_backlog commands "$rows" -w
    to=$(conninfo commands)
    local redrive=("$REDRIVE" -d "$to")
    "${redrive[@]}" migrate --quiet >/dev/null
    psql -X -q -d commands -c "VACUUM ANALYZE dlq_events"
    "$BIN/bench/screen" start "${redrive[@]}" >/dev/null
    "${redrive[@]}" groups >/dev/null 2>&1 # moves what a first count has left
    key=$("${redrive[@]}" groups --json 2>/dev/null | sed -n '3s/.*"group":"\([0-9a-f]*\)".*/\1/p')
    rm -f "$RUN"/{message,path,command_*}
    echo "commands, $rows pending events; the counts are of a screen that has ended"
    for _ in $(seq "$ROUNDS"); do
        ms message psql -X -q -d "$to" -c "$by_message"
        command_late command_whole "${redrive[@]}" groups --json 2>/dev/null
        command_late command_group "${redrive[@]}" groups --group "$key" 2>/dev/null
        command_late command_age "${redrive[@]}" groups --filter 'age:<30d' 2>/dev/null
        command_late command_hour "${redrive[@]}" groups --by hour 2>/dev/null
        command_late command_stats "${redrive[@]}" stats 2>/dev/null
        command_late command_dry_run "${redrive[@]}" reprocess --group "$key" --dry-run 2>/dev/null
        ms path psql -X -q -d "$to" -c "$by_path"
        command_late command_path "${redrive[@]}" groups --by '$.customer' 2>/dev/null
        command_arrived command_arrived "${redrive[@]}" groups --json 2>/dev/null
    done
    message=$(median "$RUN/message")
    figure "$rows" command_path "$(median "$RUN/command_path")" "$(median "$RUN/path")" "1500 ms" "GROUP BY event_payload #>> '{customer}'"
    for name in whole group age hour stats dry_run arrived; do
        figure "$rows" "command_$name" "$(median "$RUN/command_$name")" "$message" "${aims[$name]}" "GROUP BY error_message"
    done
    psql -X -q -d postgres -c "DROP DATABASE commands WITH (FORCE)"
}

# Messages that differ in a word that nobody masks: each makes a group of its own.
measure_many()
{
    local groups=200000 to name
    psql -X -q -d postgres -c "CREATE DATABASE many"
    to=$(conninfo many)
    "$BIN/demo/seed" -d "$to" -n 0
    psql -X -q -d many -c "INSERT INTO dlq_events (event_id, event_type, source_table, event_payload, error_message, kafka_topic, created_at)
        SELECT 'many' || i, 'Type' || i % 7, 'orders', jsonb_build_object('n', i),
               'com.acme.Failure: unexpected ' || translate(md5((i % $groups)::text), '0123456789abcdef', 'ghijklmnopqrstuv') || ' in an order',
               'orders.' || i % 3, now()::timestamp - i % 80000 * interval '1 second' FROM generate_series(1, $groups * 5 / 4) AS i" -c "VACUUM ANALYZE dlq_events"
    "$REDRIVE" -d "$to" migrate --quiet >/dev/null
    "$BIN/bench/screen" start "$REDRIVE" -d "$to" >"$RUN/first"
    "$BIN/bench/screen" start "$REDRIVE" -d "$to" >"$RUN/start"
    "$BIN/bench/screen" filter "$REDRIVE" -d "$to" >"$RUN/filter"
    echo "many, $groups groups by error"
    for name in first start filter; do
        printf '  memory at most, %-6s %s MB   aim 120 MB' "$name" "$(value "$RUN/$name" peak_mb)"
        promise "memory of the screen with $groups groups, $name" "$(value "$RUN/$name" peak_mb)" 120
        against "$groups" "many_${name}_mb" "$(value "$RUN/$name" peak_mb)"
        echo
    done
    echo "  counted after  $(value "$RUN/first" exact_counts_ms) ms, shown again after $(value "$RUN/start" exact_counts_ms) ms"
    psql -X -q -d postgres -c "DROP DATABASE many WITH (FORCE)"
}
