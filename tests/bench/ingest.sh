# What `redrive ingest` takes, beside one COPY of the same rows into the same tables. Read by run.

# make_letters TOPIC COUNT: dead letters of about 500 bytes, in four partitions, compressed as producers do.
make_letters()
{
    "$BIN/tools/topic" "$BROKERS" "$1" 4 >/dev/null
    awk -v count="$2" 'BEGIN {
        for (i = 0; i < 380; i++) pad = pad sprintf("%c", 97 + i * 7 % 26)
        for (i = 1; i <= count; i++)
            printf "customer-%d|{\"message_id\": \"%d-%d\", \"queue\": \"orders\", \"data\": {\"order\": %d, \"text\": \"%s\"}, \"error\": {\"message\": \"no stock of %d\"}, \"retry_count\": 3}\n",
                i % 1000, i, i * 7919 % 1000003, i, pad, i % 90 }' | kcat -P -q -b "$BROKERS" -t "$1" -K '|' -z lz4 -X acks=1 -X linger.ms=50
}

ingest_again()
{
    psql -X -q -d ingest -c "TRUNCATE dlq_events, redrive.record, redrive.attempt, redrive.ingest_position, redrive.ingester" -c "CHECKPOINT"
}

take_in()
{
    command time -f "%U %S %M" -o "$RUN/ingest.cpu" "$REDRIVE" -d "$(conninfo ingest)" -b "$BROKERS" ingest --topics bench-dlq --once >"$RUN/ingest.out" 2>&1 ||
        { tail -n 5 "$RUN/ingest.out" >&2; fail "ingest failed"; }
}

copy_in()
{
    psql -X -q -d ingest -v ON_ERROR_STOP=1 -c BEGIN -c "\\copy dlq_events from '$RUN/ingest.events' (format binary)" \
        -c "\\copy redrive.record from '$RUN/ingest.records' (format binary)" -c COMMIT
}

measure_ingest()
{
    local round took copied ratio
    [ -e "$RUN/kafka/state" ] || BROKERS=$(tests/lib/kafka.sh start "$RUN/kafka" | sed -n 's/^BROKERS=//p')
    make_backlog ingest 0
    "$REDRIVE" -d "$(conninfo ingest)" migrate --quiet >/dev/null
    make_letters bench-dlq "$EVENTS"
    rm -f "$RUN"/ingest.take "$RUN"/ingest.copy
    for round in $(seq "$ROUNDS"); do
        ingest_again
        timed ingest.take take_in
        [ "$(psql -X -q -A -t -d ingest -c "SELECT count(*) FROM dlq_events")" = "$EVENTS" ] || fail "not every letter was taken in"
        psql -X -q -d ingest -c "\\copy dlq_events to '$RUN/ingest.events' (format binary)" -c "\\copy redrive.record to '$RUN/ingest.records' (format binary)"
        ingest_again
        timed ingest.copy copy_in
    done
    took=$(median "$RUN/ingest.take") copied=$(median "$RUN/ingest.copy")
    ratio=$(awk "BEGIN { printf \"%.2f\", $took / $copied }")
    awk -v n="$EVENTS" -v took="$took" -v copied="$copied" '{
        printf "ingest, %d dead letters of 500 bytes: %d a second, COPY of the same rows %d a second; processor of the program %.2f s, memory %.0f MB", n, n / took, n / copied,
            $1 + $2, $3 / 1024 }' "$RUN/ingest.cpu"
    against "$EVENTS" ingest_to_copy "$ratio"
    echo
    psql -X -q -d postgres -c "DROP DATABASE ingest WITH (FORCE)"
}
