# What a recipe takes: looked at, and applied. Read by run.

RECIPE='expect $.currency = "EUR"
to-number $.lines[*].amount
default $.address.postal_code "00000"'

# make_orders DATABASE ROWS: orders of about 1 kB with ten lines, whose amounts are text.
make_orders()
{
    make_backlog "$1" 0
    psql -X -q -d "$1" <<SQL
INSERT INTO dlq_events (event_id, event_type, source_id, event_payload, error_message, kafka_topic, kafka_partition)
SELECT 'event-' || i, 'OrderPlaced', i::text, jsonb_build_object('orderId', 'ord-' || i, 'currency', 'EUR',
           'customer', jsonb_build_object('id', 40000 + i, 'name', 'Ana Example', 'email', 'ana@example.com'),
           'lines', (SELECT jsonb_agg(jsonb_build_object('sku', 'SKU-' || i + n, 'quantity', n, 'amount', format('%s,%s', n, 10 + i % 90), 'tax', 0.19))
                       FROM generate_series(1, 10) n),
           'address', jsonb_build_object('street', 'Example Road 1', 'city', 'Example', 'country', 'DE'), 'createdAt', '2024-05-01T12:00:00Z'),
       'Cannot deserialize value of type BigDecimal from String', 'orders.events', i % 6
  FROM generate_series(1, $2) i;
VACUUM ANALYZE dlq_events;
SQL
}

# The least that a dry run does: the payloads are read.
read_payloads()
{
    psql -X -q -d "$1" -c "COPY (SELECT id, event_payload FROM dlq_events WHERE status = 'PENDING') TO STDOUT" >/dev/null
}

by_recipe()
{
    "$REDRIVE" -d "$(conninfo "$1")" correct --all --recipe "$RUN/recipe" "${@:2}" >"$RUN/correct.out" 2>&1 ||
        { tail -n 5 "$RUN/correct.out" >&2; fail "correct failed"; }
}

# The revisions that the operation wrote, written once more by one statement.
insert_again()
{
    psql -X -q -d "$1" -c "INSERT INTO redrive.revision SELECT * FROM written"
}

# The floor under any program on this machine: the payloads are read and the revisions inserted at the same time, on two connections. The program
# besides receives each payload, applies the recipe and sends the result; on two processors that time adds to the floor, since both are busy.
read_and_insert()
{
    local reading
    read_payloads "$1" &
    reading=$!
    insert_again "$1"
    wait "$reading"
}

measure_correct()
{
    local round
    printf '%s\n' "$RECIPE" >"$RUN/recipe"
    make_orders orders "$MANY"
    echo "a recipe of three lines on $MANY events of $(psql -X -q -A -t -d orders -c "SELECT round(avg(octet_length(event_payload::text))) FROM dlq_events") bytes on $(nproc) processors, seconds, $ROUNDS rounds, load $(cut -d ' ' -f 1 /proc/loadavg)"
    for round in $(seq "$ROUNDS"); do
        make_work orders redrive
        timed correct_read read_payloads work
        timed correct_dry by_recipe work --dry-run
        timed correct_freeze by_recipe work --yes --quiet --detach --reason bench
        timed correct "$REDRIVE" -d "$(conninfo work)" work --once 2>"$RUN/work.log"
        [ "$(psql -X -q -A -t -d work -c "SELECT count(*) FROM redrive.revision")" = "$MANY" ] || fail "not every event was corrected"
        psql -X -q -d work -c "CREATE TABLE written AS TABLE redrive.revision" -c "TRUNCATE redrive.revision" -c "CHECKPOINT"
        timed correct_insert insert_again work
        psql -X -q -d work -c "TRUNCATE redrive.revision" -c "CHECKPOINT"
        timed correct_floor read_and_insert work
        drop_work
        echo "  round $round: payloads read $(tail -n 1 "$RUN/correct_read") s, dry run $(tail -n 1 "$RUN/correct_dry") s, freeze $(tail -n 1 "$RUN/correct_freeze") s, applied $(tail -n 1 "$RUN/correct") s, bare INSERT $(tail -n 1 "$RUN/correct_insert") s, floor $(tail -n 1 "$RUN/correct_floor") s"
    done
    awk -v n="$MANY" -v r="$(median "$RUN/correct_read")" -v d="$(median "$RUN/correct_dry")" -v c="$(median "$RUN/correct")" -v i="$(median "$RUN/correct_insert")" \
        -v f="$(median "$RUN/correct_floor")" 'BEGIN { printf "%d\n%.2f\n%.2f\n%.2f\n%.2f\n%.2f\n", n / d, d / r, i / c, c / i, f / c, c / f }' >"$RUN/correcting"
    aim "dry run, events a second" "$(sed -n 1p "$RUN/correcting")" "100000" "$MANY" correct_dry_to_read "$(sed -n 2p "$RUN/correcting")"
    aim "applied, against one bare INSERT … SELECT" "$(sed -n 3p "$RUN/correcting") x" "0.5 x" "$MANY" correct_to_insert "$(sed -n 4p "$RUN/correcting")"
    aim "applied, against the floor under any program" "$(sed -n 5p "$RUN/correcting") x" "-" "$MANY" correct_to_floor "$(sed -n 6p "$RUN/correcting")"
    psql -X -q -d postgres -c "DROP DATABASE orders"
}
