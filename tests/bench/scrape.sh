# What a scrape of `redrive watch` takes while a thousand events a second arrive. Read by run.
#
# Prometheus' own view: from the first byte sent to the last one received, of a connection of its own. A limit, not a ratio: a scrape costs the
# database nothing, so that a larger table must not make it longer.

SCRAPES=300
SCRAPE_MOST=20 # ms

measure_scrape()
{
    local rows=${ROWS##* } watcher endpoint= page p99
    make_backlog scrape "$rows"
    "$REDRIVE" -d "$(conninfo scrape)" migrate --quiet >/dev/null
    "$REDRIVE" watch -d "$(conninfo scrape)" --listen 127.0.0.1:0 >"$RUN/scrape.log" 2>&1 </dev/null &
    watcher=$!
    disown "$watcher"
    arrivals=$watcher # ended in every case
    for _ in {1..600}; do
        endpoint=$(sed -n 's/.*serving metrics.* listen=\([^ ]*\).*/\1/p' "$RUN/scrape.log")
        [ -z "$endpoint" ] || ! curl -s "http://$endpoint/metrics" | grep -q '^dlq_group_pending_events{' || break
        kill -0 "$watcher" 2>/dev/null || break
        sleep 0.2
    done
    [ -n "$endpoint" ] || { tail -n 5 "$RUN/scrape.log" >&2; fail "redrive watch did not serve"; }
    "$BIN/demo/arrive" -d "$(conninfo scrape)" -r 1000 >"$RUN/arriving" 2>&1 </dev/null &
    local arriving=$!
    disown "$arriving"
    page=$(curl -s "http://$endpoint/metrics" | wc -c)
    for _ in $(seq "$SCRAPES"); do
        curl -s -o "$RUN/page" -w '%{time_total}\n' "http://$endpoint/metrics"
        sleep 0.05
    done | awk '{ print $1 * 1000 }' | sort -n >"$RUN/scrapes"
    end_process "$arriving" 3
    end_arrivals
    [ "$(wc -l <"$RUN/scrapes")" = "$SCRAPES" ] && grep -q '^dlq_pending_messages{' "$RUN/page" || fail "redrive watch did not answer every scrape"
    p99=$(awk -v n="$SCRAPES" 'NR == int(n * 0.99) { print $1 }' "$RUN/scrapes")
    awk -v rows="$rows" -v n="$SCRAPES" -v page="$page" '{ v[NR] = $1 } END { printf "scrape, %d events and 1,000 more a second: %d scrapes of %d bytes, in ms p50 %.2f  p99 %.2f  worst %.2f", rows, n, page, v[int(n / 2)], v[int(n * 0.99)], v[n] }' "$RUN/scrapes"
    promise "the p99 of a scrape, in ms, at $rows events" "$p99" "$SCRAPE_MOST"
    echo
    rm -f "$RUN"/scrape* "$RUN/page" "$RUN/arriving"
    psql -X -q -d postgres -c "DROP DATABASE scrape WITH (FORCE)"
}
