# What `redrive ingest` and `redrive import` take, beside one COPY of the same rows into the same tables. Read by run.
#
# Wall time of one of these says much of whatever else the machine does, so both are measured: seconds, and the processor's seconds of
# PostgreSQL. What the program itself used stands beside them.

# The processor's seconds that PostgreSQL has used: of the postmaster, its children, and those of its children that ended.
postgres_cpu()
{
    local postmaster
    postmaster=$(head -n 1 "$(psql -X -A -t -d postgres -c "SHOW data_directory")/postmaster.pid")
    cat /proc/"$postmaster"/stat $(sed 's|[0-9][0-9]*|/proc/&/stat|g' "/proc/$postmaster/task/$postmaster/children" 2>/dev/null) 2>/dev/null |
        awk -v hertz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); sum += $12 + $13 + $14 + $15 } END { printf "%.2f", sum / hertz }'
}

# costs NAME COMMAND…: seconds to $RUN/NAME, those of PostgreSQL's processor to $RUN/NAME.cpu; one line a round.
costs()
{
    local name=$1 from
    shift
    from=$(postgres_cpu)
    timed "$name" "$@"
    awk -v from="$from" -v to="$(postgres_cpu)" 'BEGIN { printf "%.2f\n", to - from }' >>"$RUN/$name.cpu"
}

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

# make_lines COUNT: what a consumer writes down while the database is away, a line an event.
make_lines()
{
    awk -v count="$1" 'BEGIN {
        for (i = 0; i < 380; i++) pad = pad sprintf("%c", 97 + i * 7 % 26)
        for (i = 1; i <= count; i++)
            printf "{\"event_id\": \"%d-%d\", \"event_type\": \"order.created\", \"source_table\": \"orders\", \"source_id\": \"customer-%d\", \"event_payload\": {\"order\": %d, \"text\": \"%s\"}, \"error_message\": \"no stock of %d\", \"created_at\": \"2026-11-20T12:00:00Z\", \"kafka_topic\": \"orders\", \"kafka_partition\": %d, \"kafka_offset\": %d}\n",
                i, i * 7919 % 1000003, i % 1000, i, pad, i % 90, i % 4, i }'
}

ingest_again()
{
    psql -X -q -d ingest -c "TRUNCATE dlq_events, redrive.record, redrive.attempt, redrive.ingest_position, redrive.ingester" -c "CHECKPOINT"
}

# taken_by COMMAND…: of redrive, with its processor's seconds and memory in $RUN/ingest.used.
taken_by()
{
    command time -f "%U %S %M" -o "$RUN/ingest.used" "$REDRIVE" -d "$(conninfo ingest)" -b "$BROKERS" "$@" >"$RUN/ingest.out" 2>&1 ||
        { tail -n 5 "$RUN/ingest.out" >&2; fail "$1 failed"; }
}

copy_in()
{
    psql -X -q -d ingest -v ON_ERROR_STOP=1 -c BEGIN -c "\\copy dlq_events from '$RUN/ingest.events' (format binary)" \
        -c "\\copy redrive.record from '$RUN/ingest.records' (format binary)" -c COMMIT
}

# beside_copy WHAT AIM COMMAND…: in turn, a round each. AIM: the share of COPY's rate that is wanted.
beside_copy()
{
    local what=$1 aim=$2 round
    shift 2
    rm -f "$RUN/$what".take* "$RUN/$what".copy*
    for round in $(seq "$ROUNDS"); do
        ingest_again
        costs "$what.take" taken_by "$@"
        [ "$(psql -X -q -A -t -d ingest -c "SELECT count(*) FROM dlq_events")" = "$EVENTS" ] || fail "$what did not take everything in"
        psql -X -q -d ingest -c "\\copy dlq_events to '$RUN/ingest.events' (format binary)" -c "\\copy redrive.record to '$RUN/ingest.records' (format binary)"
        ingest_again
        costs "$what.copy" copy_in
    done
    awk -v what="$what" -v aim="$aim" -v n="$EVENTS" -v took="$(median "$RUN/$what.take")" -v copied="$(median "$RUN/$what.copy")" \
        -v took_cpu="$(median "$RUN/$what.take.cpu")" -v copied_cpu="$(median "$RUN/$what.copy.cpu")" '{
        printf "%s, %d events of 500 bytes: %d a second, COPY of the same rows %d a second, ratio %.2f, aim %s; processor of PostgreSQL %.2f s, of COPY %.2f s, ratio %.2f; of the program %.2f s, memory %.0f MB",
            what, n, n / took, n / copied, copied / took, aim, took_cpu, copied_cpu, copied_cpu / took_cpu, $1 + $2, $3 / 1024 }' "$RUN/ingest.used"
    against "$EVENTS" "${what}_time_to_copy" "$(awk "BEGIN { printf \"%.2f\", $(median "$RUN/$what.take") / $(median "$RUN/$what.copy") }")"
    against "$EVENTS" "${what}_to_copy" "$(awk "BEGIN { printf \"%.2f\", $(median "$RUN/$what.take.cpu") / $(median "$RUN/$what.copy.cpu") }")"
    echo
}

# ANALYZE of a table that grew reads 30,000 rows: in whichever of the two it began, it would be a fifth of what that used.
autovacuum()
{
    psql -X -q -d postgres -c "ALTER SYSTEM SET autovacuum = $1"
    psql -X -q -A -t -d postgres -c "SELECT pg_reload_conf()" >/dev/null
}

measure_ingest()
{
    autovacuum off
    [ -e "$RUN/kafka/state" ] || BROKERS=$(tests/lib/kafka.sh start "$RUN/kafka" | sed -n 's/^BROKERS=//p')
    make_backlog ingest 0
    "$REDRIVE" -d "$(conninfo ingest)" migrate --quiet >/dev/null
    make_letters bench-dlq "$EVENTS"
    make_lines "$EVENTS" >"$RUN/ingest.lines"
    beside_copy ingest 0.80 ingest --topics bench-dlq --once
    beside_copy import 0.50 import "$RUN/ingest.lines" --reason bench
    autovacuum on
    psql -X -q -d postgres -c "DROP DATABASE ingest WITH (FORCE)"
}
