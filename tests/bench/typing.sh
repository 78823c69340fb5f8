# The part of run about patterns that somebody types, on texts that differ (texts.sql): at once, by a fast hand and by a slow one, each beside
# PostgreSQL's own ~* in the same round.

# matching COLUMN EXPRESSION: how many pending events match, as one asks by hand.
matching()
{
    psql -X -q -A -t -d typing -c "SELECT count(*) FROM dlq_events WHERE status = 'PENDING' AND $1 ~* '$2'"
}

# typed NAME REST GAP FIRST NEXT PAUSE: a line to $RUN/typed.NAME (typing.c)
typed()
{
    local name=$1
    shift
    "$BIN/bench/typing" "$@" "$REDRIVE" -d "$(conninfo typing)" >>"$RUN/typed.$name"
}

# typing_figure NAME REFERENCE_MS AIM WHAT: of one way of typing the pattern and the next one; times to rows are told, not compared.
typing_figure()
{
    local file=$RUN/typed.$1 name
    for name in pattern next; do
        figure "${ROWS##* }" "typed_$1_$name" "$(value "$file" "${name}_ms")" "$2" "$3" "$4"
        printf '    first rows after %s ms, line 2 was wrong %s times\n' "$(value "$file" "${name}_first_ms")" \
            "$(grep -c "${name}_wrong_numbers=1" "$file" || true)"
    done
}

measure_typing()
{
    local rows=${ROWS##* } error payload
    make_backlog typing 0
    psql -X -q -d typing -v rows="$rows" -f tests/bench/texts.sql
    psql -X -q -d typing -c "VACUUM ANALYZE dlq_events"
    "$REDRIVE" -d "$(conninfo typing)" migrate --quiet >/dev/null
    typed first 30000 -1 'timed out' 'refused|denied' 1000 # until the sums and the snapshots of texts are there
    rm -f "$RUN"/typed.* "$RUN"/typing_*
    for _ in $(seq "$ROUNDS"); do
        ms typing_error matching error_message 'refused|denied'
        typed pasted 8000 -1 'timed out' 'refused|denied' 1000
        typed burst 8000 0 'timed out' 'refused|denied' 1000
        typed fast 8000 60 'timed out' 'refused|denied' 1000
        typed slow 8000 250 'timed out' 'refused|denied' 1000
        ms typing_error matching error_message 'timed out'
        typed fresh 0 -1 'timed out' 'refused|denied' 1000
        ms typing_payload matching event_payload::text 'c-12[0-9]{3}'
        typed payload 8000 -1 'payload:c-12[0-9]{3}' 'payload:c-34[0-9]{3}' 5000
        ms typing_payload matching event_payload::text 'c-12[0-9]{3}'
        typed payload_at_once 8000 60 'payload:c-12[0-9]{3}' 'payload:c-34[0-9]{3}' 0
    done
    error=$(median "$RUN/typing_error")
    payload=$(median "$RUN/typing_payload")
    echo "typing, $rows pending events, 2,649 messages; from the last key to the whole list"
    typing_figure pasted "$error" "0.5 x, 50 ms" "~* on error_message"
    typing_figure burst "$error" "0.5 x, 50 ms" "~* on error_message"
    typing_figure fast "$error" "0.5 x, 50 ms" "~* on error_message"
    typing_figure slow "$error" "0.5 x, 50 ms" "~* on error_message"
    typing_figure fresh "$error" "1 x, 1 s" "~* on error_message"
    typing_figure payload "$payload" "0.8 x; 0.3 x" "~* on the payload"
    typing_figure payload_at_once "$payload" "0.8 x; 0.8 x" "~* on the payload"
    psql -X -q -d postgres -c "DROP DATABASE typing WITH (FORCE)"
}
