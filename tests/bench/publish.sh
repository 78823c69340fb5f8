# What is sent and what is written: reprocess, discard, recovery, memory. Read by run.

TOPICS="orders.events orders.audit payments.captured inventory.reservations shipping.labels customers.events customers.kyc
catalog.products invoices.nfe loyalty.points notifications.email"

# What redrive does: once per event, proved, every outcome written down. First it freezes what was asked for, then a worker sends it; its log
# says how long each step took.
by_redrive()
{
    timed freeze "$REDRIVE" -d "$(conninfo "$1")" reprocess --all --yes --quiet --detach >"$RUN/redrive.out" 2>&1 ||
        { tail -n 5 "$RUN/redrive.out" >&2; fail "reprocess failed"; }
    timed send "$REDRIVE" -d "$(conninfo "$1")" -b "$BROKERS" work --once 2>"$RUN/work.log" ||
        { tail -n 5 "$RUN/work.log" >&2; fail "work failed"; }
    grep -a published "$RUN/work.log" >>"$RUN/tally"
    [ "$(psql -X -q -A -t -d "$1" -c "SELECT done = total AND state = 'done' FROM redrive.operation")" = t ] || fail "not everything was sent"
}

# The lower bound: the rows closed and nothing sent.
by_update()
{
    psql -X -q -d "$1" -c "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = localtimestamp, resolved_by = session_user
                            WHERE status = 'PENDING'"
}

# Everything read and given to Kafka, and no row written.
send_by_hand()
{
    local topic
    for topic in $TOPICS; do
        psql -X -q -A -t -F $'\t' -d "$1" -c "SELECT source_id, event_payload FROM dlq_events
                                               WHERE status = 'PENDING' AND kafka_topic = '$topic' ORDER BY id" |
            kcat -P -q -b "$BROKERS" -t "$topic" -K $'\t' -X acks=all
    done
}

# As one does it by hand today: not atomic, no outcome per event, and twice if anything stops in between.
by_hand()
{
    send_by_hand "$1"
    by_update "$1"
}

# close_half DATABASE HALF: every other 5,000 events closed, a statement and a transaction for each 5,000 ids.
close_half()
{
    psql -X -q -A -t -d "$1" >/dev/null -v ON_ERROR_STOP=1 <<SQL
SELECT format('UPDATE dlq_events SET status = %L, resolved_at = localtimestamp, resolved_by = session_user WHERE id = ANY (%L::bigint[]) AND status = %L',
              'RESOLVED', array_agg(id), 'PENDING')
  FROM (SELECT id, (row_number() OVER (ORDER BY id) - 1) / 5000 AS piece FROM dlq_events WHERE status = 'PENDING') e
 GROUP BY piece HAVING piece % 2 = $2 ORDER BY piece
\\gexec
SQL
}

# The floor under it on this machine: what any program must do at least. Everything is read and confirmed by Kafka, and meanwhile closed over two
# connections, in pieces as one would have to; nothing waits for anything, is frozen, claimed or written down.
by_floor()
{
    "$BIN/bench/send" "$(conninfo "$1")" "$BROKERS" $TOPICS | {
        local sent
        read -r _ # the events to send are fixed
        close_half "$1" 0 &
        close_half "$1" 1
        wait $!
        read -r _ sent
        [ "$sent" = "$EVENTS" ] || fail "the floor sent ${sent:-nothing} of $EVENTS events"
    }
    [ "$(psql -X -q -A -t -d "$1" -c "SELECT count(*) FROM dlq_events WHERE status = 'PENDING'")" = 0 ] || fail "the floor left events open"
}

# Kafka, and the topics that the events name.
need_kafka()
{
    [ -z "${BROKERS:-}" ] || return 0
    tests/lib/kafka.sh start "$RUN/kafka" >"$RUN/kafka.env"
    BROKERS=$(sed -n 's/^BROKERS=//p' "$RUN/kafka.env")
    make_backlog topics 100
    "$BIN/demo/consumer" -d "$(conninfo topics)" -b "$BROKERS" -t >"$RUN/consumer" 2>&1 </dev/null &
    local consumer=$!
    disown "$consumer"
    until grep -qs ready "$RUN/consumer"; do is_alive "$consumer" || fail "no topics"; sleep 0.1; done
    end_process "$consumer" 10
    psql -X -q -d postgres -c "DROP DATABASE topics WITH (FORCE)"
}

# A fresh copy of a backlog to work on. With `redrive`: with its schema, and with what the cluster promises found out, as it is once a day.
# Migrated here and not before: every copy is an install of its own.
make_work()
{
    psql -X -q -d postgres -c "CREATE DATABASE work TEMPLATE $1"
    if [ "${2:-}" = redrive ]; then
        "$REDRIVE" -d "$(conninfo work)" migrate --quiet >/dev/null
        "$REDRIVE" -d "$(conninfo work)" ${BROKERS:+-b "$BROKERS"} doctor >/dev/null 2>&1 || true
    fi
    psql -X -q -d work -c "VACUUM ANALYZE dlq_events" -c "CHECKPOINT"
}

drop_work()
{
    psql -X -q -d postgres -c "DROP DATABASE work WITH (FORCE)"
}

# median_of NAME STEP: of a step in the workers' last words.
median_of()
{
    sed "s/.* $2=\\([0-9]*\\).*/\\1/" "$RUN/tally" >"$RUN/step"
    median "$RUN/step"
}

# aim WHAT VALUE AIM [SIZE NAME RATIO]: one line of the table; with a ratio, beside what was recorded.
aim()
{
    printf '  %-58s %12s   aim %-14s' "$1" "$2" "$3"
    [ $# -lt 6 ] || against "$4" "$5" "$6"
    echo
}

# A broker that has just begun compiles itself while it is measured, at the expense of who comes first; one in production did so long ago.
warm_up()
{
    local round
    for round in 1 2 3 4 5 6; do
        make_work origin redrive
        by_redrive work
        drop_work
    done
    rm -f "$RUN/freeze" "$RUN/send" "$RUN/tally"
}

measure_publish()
{
    local round way step
    need_kafka
    make_backlog origin "$EVENTS"
    warm_up
    echo "reprocess of $EVENTS events on $(nproc) processors, seconds, $ROUNDS rounds, load $(cut -d ' ' -f 1 /proc/loadavg)"
    for round in $(seq "$ROUNDS"); do
        for way in redrive update hand floor; do
            make_work origin "$way"
            timed "$way" "by_$way" work
            drop_work
        done
        echo "  round $round: redrive $(tail -n 1 "$RUN/redrive") s (freeze $(tail -n 1 "$RUN/freeze"), send $(tail -n 1 "$RUN/send")), bare UPDATE $(tail -n 1 "$RUN/update") s, psql | kcat | UPDATE $(tail -n 1 "$RUN/hand") s, floor $(tail -n 1 "$RUN/floor") s"
    done
    echo "  where a chunk's time goes, ms over all chunks (three are in hand at the same time, so they add up to three times the time of sending)"
    for step in fence claim plan send reports commit verify finish destroy; do
        printf '    %-8s %8s  %s\n' "$step" "$(median_of tally "${step}_ms")" "$(step_words "$step")"
    done
    awk -v events="$EVENTS" -v r="$(median "$RUN/redrive")" -v s="$(median "$RUN/send")" -v u="$(median "$RUN/update")" -v h="$(median "$RUN/hand")" -v f="$(median "$RUN/floor")" 'BEGIN {
        printf "  median: redrive %.2f s (%d events/s while sending), bare UPDATE %.2f s, by hand %.2f s, floor %.2f s\n", r, events / s, u, h, f
        printf "%.2f\n%.2f\n", u / r, h / r >"/dev/stderr"
        printf "%.2f\n%.2f\n%.2f\n%.2f\n%.2f\n", r / u, r / h, u / f, f / r, r / f >"/dev/stderr"
    }' 2>"$RUN/publish"
    aim "reprocess against the bare UPDATE (freeze included)" "$(sed -n 1p "$RUN/publish") x" "0.5, later 0.9" "$EVENTS" publish_to_update "$(sed -n 3p "$RUN/publish")"
    aim "reprocess against psql | kcat | UPDATE" "$(sed -n 2p "$RUN/publish") x" "-" "$EVENTS" publish_to_hand "$(sed -n 4p "$RUN/publish")"
    aim "reprocess against the floor under any program" "$(sed -n 6p "$RUN/publish") x" "-" "$EVENTS" publish_to_floor "$(sed -n 7p "$RUN/publish")"
    echo "    all is read and sent while two connections close the rows, 5,000 a statement; this floor is $(sed -n 5p "$RUN/publish") x the bare UPDATE"
    aim "memory of the worker, $EVENTS events" "$(($(median_of tally peak_kib) / 1024)) MiB" "64 MiB"
    psql -X -q -d postgres -c "DROP DATABASE origin"
}

step_words()
{
    case $1 in
    fence) echo "a new epoch: Kafka takes the transactional id" ;;
    claim) echo "PostgreSQL: claim, and read what was claimed" ;;
    plan) echo "key, headers, partition of each record" ;;
    send) echo "handing over to librdkafka" ;;
    reports) echo "Kafka: until every record is confirmed" ;;
    commit) echo "Kafka: marker and commit" ;;
    verify) echo "Kafka: the marker read back" ;;
    finish) echo "PostgreSQL: events closed, outcomes written down" ;;
    destroy) echo "the handle thrown away" ;;
    esac
}

# What is plain SQL, in chunks with progress, against one statement for all.
measure_discard()
{
    local round
    make_backlog million "$MANY"
    echo "discard of $MANY events, seconds, $ROUNDS rounds, load $(cut -d ' ' -f 1 /proc/loadavg)"
    for round in $(seq "$ROUNDS"); do
        make_work million redrive
        timed discard_freeze "$REDRIVE" -d "$(conninfo work)" discard --all --yes --quiet --detach --reason bench
        timed discard "$REDRIVE" -d "$(conninfo work)" work --once 2>"$RUN/work.log"
        drop_work
        make_work million
        timed discard_update psql -X -q -d work -c "UPDATE dlq_events SET status = 'DISCARDED', resolved_at = localtimestamp,
                                                           resolved_by = session_user WHERE status = 'PENDING'"
        drop_work
        echo "  round $round: freeze $(tail -n 1 "$RUN/discard_freeze") s, discard $(tail -n 1 "$RUN/discard") s, bare UPDATE $(tail -n 1 "$RUN/discard_update") s"
    done
    local ratio
    ratio=$(awk -v d="$(median "$RUN/discard")" -v u="$(median "$RUN/discard_update")" 'BEGIN { printf "%.2f", d / u }')
    aim "discard against one bare UPDATE" "$ratio x" "1.1 x" "$MANY" discard_to_update "$ratio"
    make_work million redrive
    timed reprocess_freeze "$REDRIVE" -d "$(conninfo work)" reprocess --all --yes --quiet --detach >/dev/null
    drop_work
    aim "freeze of a discard" "$(median "$RUN/discard_freeze") s" "5 s"
    aim "freeze of a reprocess" "$(median "$RUN/reprocess_freeze") s" "5 s"
    psql -X -q -d postgres -c "DROP DATABASE million"
}

done_so_far()
{
    psql -X -q -A -t -d work -c "SELECT coalesce(max(done), 0) FROM redrive.operation"
}

# until_more THAN: waits until more is done, and prints how long that took.
until_more()
{
    local from=$EPOCHREALTIME
    until [ "$(done_so_far)" -gt "$1" ]; do sleep 0.05; done
    awk -v from="$from" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }'
}

start_worker()
{
    "$REDRIVE" -d "$(conninfo work)" -b "$BROKERS" work >"$RUN/worker.log" 2>&1 </dev/null &
    worker=$!
    disown "$worker"
}

# How long nothing is published after the only worker was killed, and after one was frozen beside another.
measure_recovery()
{
    local worker other round held from
    need_kafka
    make_backlog origin "$EVENTS"
    echo "recovery, $EVENTS events frozen"
    for round in $(seq "$ROUNDS"); do
        make_work origin redrive
        "$REDRIVE" -d "$(conninfo work)" reprocess --all --yes --quiet --detach >/dev/null
        start_worker
        until [ "$(done_so_far)" -gt 0 ]; do sleep 0.02; done
        kill -9 "$worker"
        sleep 0.5 # whatever the server still has in hand of it
        local before=$(done_so_far)
        start_worker
        until_more "$before" >>"$RUN/again"
        echo >>"$RUN/again"
        other=$worker
        # Frozen with a chunk in hand that PostgreSQL alone will not bring to its end.
        while :; do
            from=$EPOCHREALTIME
            kill -STOP "$other"
            sleep 0.5
            held=$(psql -X -q -A -t -d work -c "SELECT max(created_at) FROM redrive.chunk WHERE state = 'claimed'")
            [ -z "$held" ] || break
            if [ "$(done_so_far)" -ge "$EVENTS" ]; then
                echo "  round $round: all was sent before the worker could be frozen; more EVENTS are needed to measure this"
                kill -CONT "$other"
                end_process "$other" 20
                drop_work
                psql -X -q -d postgres -c "DROP DATABASE origin"
                return 0
            fi
            kill -CONT "$other"
            sleep 0.13
        done
        start_worker
        until [ "$(psql -X -q -A -t -d work -c "SELECT count(*) FROM redrive.chunk WHERE state = 'claimed' AND created_at <= '$held'")" = 0 ]; do
            sleep 0.1
        done
        awk -v from="$from" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", to - from }' >>"$RUN/takeover"
        kill -CONT "$other"
        end_process "$other" 20
        end_process "$worker" 20
        drop_work
        echo "  round $round: publishing again $(tail -n 1 "$RUN/again") s after the next start; a frozen worker's chunk decided after $(tail -n 1 "$RUN/takeover") s"
    done
    aim "publishing again after kill -9 of the only worker" "$(median "$RUN/again") s" "5 s"
    aim "a frozen worker's chunk is taken over (lease 30 s)" "$(median "$RUN/takeover") s" "35 s"
    psql -X -q -d postgres -c "DROP DATABASE origin"
}

# Until the last operation is done. One connection, and a transaction for each look, so that nothing is kept from being cleaned up.
await_operations()
{
    psql -X -q -d work -c "DO \$\$ BEGIN
        WHILE EXISTS (SELECT FROM redrive.operation WHERE state <> 'done') LOOP PERFORM pg_sleep(0.1); COMMIT; END LOOP; END \$\$"
}

# stalled NAME WAY: of a name in what stall said in all rounds: their sum, or the most.
stalled()
{
    sed -n "s/^\(.* \)\{0,1\}$1=\([0-9.]*\).*/\2/p" "$RUN/stall" |
        awk -v way="$2" '{ sum += $1; if ($1 > most) most = $1 } END { print way == "most" ? most : sum }'
}

# The longest a key waits for its picture while the screen's own worker publishes and somebody goes through the list of events; and beside it, typed
# to in turn, a program that only echoes: what the machine makes anything wait for. In several rounds, for the worst of few keys says little.
measure_stall()
{
    local watcher round
    need_kafka
    make_backlog origin "$EVENTS"
    echo "a key every 20 ms while $EVENTS events are published, $ROUNDS rounds, load $(cut -d ' ' -f 1 /proc/loadavg)"
    for round in $(seq "$ROUNDS"); do
        make_work origin redrive
        rm -f "$RUN/sent"
        "$REDRIVE" -d "$(conninfo work)" reprocess --all --yes --quiet --detach >/dev/null
        {
            await_operations
            touch "$RUN/sent"
        } &
        watcher=$!
        "$BIN/bench/stall" 2 "$RUN/sent" "$REDRIVE" -d "$(conninfo work)" -b "$BROKERS" >"$RUN/stalls" || fail "the screen could not be measured"
        wait "$watcher"
        sed "s/^/    round $round: /" "$RUN/stalls"
        cat "$RUN/stalls" >>"$RUN/stall"
        drop_work
    done
    aim "worst stall of the screen" "$(stalled worst_ms most) ms" "50 ms"
    echo "    of a program that only echoes, typed to in turn: $(stalled echo_worst_ms most) ms"
    echo "    longer than 50 ms: $(stalled late sum) of the $(stalled keys sum) keys of the screen, $(stalled echo_late sum) of the $(stalled echo_keys sum) echoed"
    echo "    no key took more of the screen's own processor time than $(stalled ran_most_ms most) ms"
    psql -X -q -d postgres -c "DROP DATABASE origin"
}

# Does the worker grow with what it sends? What it holds swings all the time, so two moments say nothing: the most of the first third of the time is
# compared with the most of what came after it.
measure_memory()
{
    local worker
    need_kafka
    make_backlog million "$MANY"
    make_work million redrive
    "$REDRIVE" -d "$(conninfo work)" reprocess --all --yes --quiet --detach >/dev/null
    : >"$RUN/tally"
    "$REDRIVE" -d "$(conninfo work)" -b "$BROKERS" work --once 2>"$RUN/work.log" &
    worker=$!
    while is_alive "$worker"; do
        sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$worker/status" 2>/dev/null >>"$RUN/resident" || true
        sleep 0.2
    done
    wait "$worker"
    grep -a published "$RUN/work.log" >>"$RUN/tally"
    aim "memory of the worker at most, $MANY events" "$(($(median_of tally peak_kib) / 1024)) MiB" "64 MiB"
    awk '{ held[NR] = $1 }
        END {
            for (i = 1; i <= NR; i++) {
                part = i > NR / 3
                if (held[i] > most[part]) most[part] = held[i]
            }
            printf "%.2f %.1f %.1f %d\n", most[1] / most[0], most[0] / 1024, most[1] / 1024, NR
        }' "$RUN/resident" >"$RUN/growth"
    local ratio first later samples
    read -r ratio first later samples <"$RUN/growth"
    aim "its most after the first third against its most there" "$ratio x" "1.1 x"
    echo "    $later MiB against $first MiB, of $samples samples, five a second"
    drop_work
    psql -X -q -d postgres -c "DROP DATABASE million"
}
