# The screen's part of run: each figure beside what PostgreSQL takes for the nearest thing in the same run.

# The statement that one counts errors with by hand, and the cheapest exact count there is.
by_message="SELECT count(*) FROM (SELECT error_message, count(*) FROM dlq_events WHERE status = 'PENDING' GROUP BY 1) AS counted"
by_status="SELECT count(*) FROM dlq_events WHERE status = 'PENDING'"

# figure ROWS NAME MILLISECONDS REFERENCE_MS AIM WHAT
figure()
{
    local ratio
    ratio=$(awk -v a="$3" -v b="$4" 'BEGIN { printf "%.2f", a / b }')
    printf '  %-14s %9.1f ms   %6.2f x %-26s aim %-12s' "$2" "$3" "$ratio" "$6" "$5"
    against "$1" "$2" "$ratio"
    echo
}

# value FILE NAME: the median of NAME=… in it
value()
{
    sed -n "s/.*\\b$2=\\([0-9.]*\\).*/\\1/p" "$1" >"$RUN/values"
    median "$RUN/values"
}

# ms COMMAND…: milliseconds, to $RUN/NAME
ms()
{
    local name=$1 from=$EPOCHREALTIME
    shift
    "$@" >/dev/null
    awk -v from="$from" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", (to - from) * 1000 }' >>"$RUN/$name"
}

# What is measured is interleaved with its reference, so that a busy machine meets both.
measure_rows()
{
    local rows=$1 to
    to=$(conninfo "screen_$rows")
    local redrive=("$REDRIVE" -d "$to") asked=(psql -X -q -d "$to" -c)
    rm -f "$RUN"/{first,start,message,status,stats}
    "${asked[@]}" "$by_message" >/dev/null
    for _ in $(seq "$ROUNDS"); do
        "${asked[@]}" "SET client_min_messages = error; DROP SCHEMA IF EXISTS redrive CASCADE"
        "${redrive[@]}" migrate --quiet >/dev/null
        ms message "${asked[@]}" "$by_message"
        "$BIN/bench/screen" start "${redrive[@]}" >>"$RUN/first"
        for _ in 1 2 3; do
            ms status "${asked[@]}" "$by_status"
            "$BIN/bench/screen" start "${redrive[@]}" >>"$RUN/start"
        done
        ms stats "${redrive[@]}" stats --json
    done
}

measure_screen()
{
    local rows message status
    for rows in $ROWS; do
        local from=$EPOCHREALTIME
        make_backlog "screen_$rows" "$rows" -w
        echo "screen, $rows pending events, seeded in $(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f", b - a }') s"
        measure_rows "$rows"
        message=$(median "$RUN/message")
        status=$(median "$RUN/status")
        figure "$rows" groups "$(value "$RUN/start" exact_counts_ms)" "$status" "100 ms" "psql's count(*)"
        figure "$rows" first_rows "$(value "$RUN/first" first_rows_ms)" "$message" "1000 ms" "GROUP BY error_message"
        figure "$rows" first_count "$(value "$RUN/first" exact_counts_ms)" "$message" "2 x" "GROUP BY error_message"
        figure "$rows" stats "$(median "$RUN/stats")" "$message" "< 2000 ms" "GROUP BY error_message"
        echo "  memory         $(value "$RUN/start" resident_mb) MB at the start, $(value "$RUN/first" resident_mb) MB after the first count   aim 40 MB"
        echo "  first picture  $(value "$RUN/start" first_bytes) bytes   aim 7168"
        echo "  side tables    $(psql -X -A -t -d "screen_$rows" -c "SELECT pg_size_pretty(sum(pg_total_relation_size(c.oid))) || ', ' || round(sum(pg_total_relation_size(c.oid)) / $rows) || ' bytes an event, not logged' FROM pg_class c WHERE c.relnamespace = 'redrive'::regnamespace AND c.relkind = 'r' AND c.relname LIKE 'rollup%'")"
        echo "  still          $("$BIN/bench/screen" still "$REDRIVE" -d "$(conninfo "screen_$rows")")   aim 0"
        start_arrivals "screen_$rows"
        sleep 1
        echo "  keys, 1,000 events arrive per second"
        "$BIN/bench/screen" keys "$REDRIVE" -d "$(conninfo "screen_$rows")" >"$RUN/keys"
        end_arrivals
        echo "    key to picture  $(value "$RUN/keys" key_ms_median) ms, p99 $(value "$RUN/keys" key_ms_p99) ms, most $(value "$RUN/keys" key_ms_most) ms of $(value "$RUN/keys" keys), $(value "$RUN/keys" lost) lost   aim 16 ms p99"
        echo "    bytes           held down $(value "$RUN/keys" key_bytes_median), p99 $(value "$RUN/keys" key_bytes_p99); one by one $(value "$RUN/keys" step_bytes_median), p99 $(value "$RUN/keys" step_bytes_p99)   aim 600"
        psql -X -q -d postgres -c "DROP DATABASE screen_$rows WITH (FORCE)"
    done
}
