# The editor's part of run: what a key costs in payloads of 1 MB, in short lines and in one, what memory they take, and how long they take to
# open beside `jq .`, which reads and prints the same file.

# document NAME SQL: an event with that record.
document()
{
    psql -X -q -d editor -c "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, kafka_topic, kafka_partition, kafka_offset)
        VALUES ('$1', 'order.$1', '{}', 'ReadError: $1', 'orders.events', 0, 1)" -c "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", key, value)
        SELECT id, 'orders.events', 0, id, 'k', convert_to($2, 'UTF8') FROM dlq_events WHERE event_id = '$1'"
}

# measure_document NAME PLACE WHAT
measure_document()
{
    local size jq
    size=$(psql -X -A -t -d editor -c "SELECT octet_length(r.value) FROM redrive.record r JOIN dlq_events e ON e.id = r.dlq_id WHERE e.event_id = '$1'")
    psql -X -A -t -d editor -c "SELECT convert_from(r.value, 'UTF8') FROM redrive.record r JOIN dlq_events e ON e.id = r.dlq_id WHERE e.event_id = '$1'" >"$RUN/document"
    jq=$(seconds jq . "$RUN/document")
    "$BIN/bench/editor" "$1" "$2" "$size" "$REDRIVE" -d "$(conninfo editor)" >"$RUN/editor"
    echo "  $3 ($size bytes)"
    echo "    open            $(value "$RUN/editor" open_ms) ms, $(awk -v open="$(value "$RUN/editor" open_ms)" -v jq="$jq" 'BEGIN { printf "%.2f", open / 1000 / jq }') of the time of jq .; memory $(value "$RUN/editor" memory_x) x the payload, $(value "$RUN/editor" memory_most_x) x at most   aim 3 x"
    echo "    move            $(value "$RUN/editor" move_ms_median) ms, p99 $(value "$RUN/editor" move_ms_p99) ms; $(value "$RUN/editor" move_bytes_median) bytes, p99 $(value "$RUN/editor" move_bytes_p99)   aim 16 ms p99, 600 bytes"
    [ -z "$(value "$RUN/editor" type_ms_median)" ] ||
        echo "    type            $(value "$RUN/editor" type_ms_median) ms, p99 $(value "$RUN/editor" type_ms_p99) ms; $(value "$RUN/editor" type_bytes_median) bytes, p99 $(value "$RUN/editor" type_bytes_p99)   aim 16 ms p99, 600 bytes"
    [ -z "$(value "$RUN/editor" page_ms_median)" ] ||
        echo "    page            $(value "$RUN/editor" page_ms_median) ms, p99 $(value "$RUN/editor" page_ms_p99) ms"
}

measure_editor()
{
    local member="format('{\"sku\": \"A%s\", \"amount\": %s.50, \"note\": \"caf\\u00e9\"}', i, i)"
    local long="format('{\"sku\": \"A%s\", \"amount\": %s.50, \"note\": \"caf\\u00e9 %s\"}', i, i, repeat('-', 60))"
    psql -X -q -d postgres -c "CREATE DATABASE editor"
    "$BIN/demo/seed" -d "$(conninfo editor)" -n 1000
    "$REDRIVE" -d "$(conninfo editor)" migrate --quiet >/dev/null
    document lines "E'[\\n' || (SELECT string_agg('  ' || $member, E',\\n') FROM generate_series(1, 21000) i) || E'\\n]\\n'"
    document line "'[' || (SELECT string_agg($member, ',') FROM generate_series(1, 22000) i) || ']'"
    document large "E'[\\n' || (SELECT string_agg('  ' || $long, E',\\n') FROM generate_series(1, 33000) i) || E'\\n]\\n'"
    document huge "E'[\\n' || (SELECT string_agg('  ' || $member, E',\\n') FROM generate_series(1, 420000) i) || E'\\n]\\n'"
    echo "editor, 120x40"
    measure_document lines 10000:12 "1 MB in short lines"
    measure_document line '$[11000].sku' "1 MB in one line"
    measure_document large 17000:12 "the most that is edited, in short lines"
    measure_document huge 200000:12 "20 MB, to be looked at"
    psql -X -q -d postgres -c "DROP DATABASE editor WITH (FORCE)"
}
