# Sourced by loop: the harm of each mode. next_wish prints what a worker is started with; harm is called some ten times a second;
# harm_begin and harm_end stand around it, after which everything is up again; harm_stop ends what runs beside.

harm_at=0 harm_job= harms=0

# A point and its passage: the later ones of a chunk need no more passages than the earlier.
next_wish()
{
    [ "$harming" = yes ] || return 0
    case $mode in
    points | broker | postgres | network | cluster | cut)
        # Workers that live show whether those can go on.
        [ $((RANDOM % 3)) != 0 ] || return 0
        echo "${POINTS[RANDOM % ${#POINTS[@]}]}:$((RANDOM % 4 + 1))"
        ;;
    freeze)
        case $((RANDOM % 4)) in
        0) echo "after-mark:$((RANDOM % 4 + 1)):stop" ;;
        1) echo "after-commit:$((RANDOM % 4 + 1)):stop" ;;
        2) echo "${POINTS[RANDOM % ${#POINTS[@]}]}:$((RANDOM % 4 + 1)):stop" ;;
        3) echo "${POINTS[RANDOM % ${#POINTS[@]}]}:$((RANDOM % 4 + 1))" ;;
        esac
        ;;
    esac
}

harm_begin()
{
    harm_at=$(($(now_ms) + 300))
    # Nothing of the round before.
    harm_job=
}

# due MIN MAX: has the time come? Then the next is that many ms away.
due()
{
    local now
    now=$(now_ms)
    [ "$now" -ge "$harm_at" ] || return 1
    harm_at=$((now + $1 + RANDOM % ($2 - $1)))
}

# beside COMMAND…: one thing at a time goes on beside the loop.
beside()
{
    [ -z "$harm_job" ] || return 0
    harms=$((harms + 1))
    note_outage
    "$@" >>"$W/harm.log" 2>&1 &
    harm_job=$!
}

# What was done beside the loop is over: from now on it is up to the program how long it takes.
job_over()
{
    wait "$harm_job" || { say "the harm itself failed: $(tail -n 1 "$W/harm.log")"; bad=$((bad + 1)); }
    harm_job=
    [ -z "$outage_ms" ] || outage_ms=$(now_ms)
}

tenths()
{
    sleep "$(($1 / 10)).$(($1 % 10))"
}

pg_dies()
{
    tests/lib/pg.sh kill "$W/pg"
    tenths "$1"
    tests/lib/pg.sh again "$W/pg"
}

broker_dies()
{
    tests/lib/kafka.sh kill "$W/kafka"
    tenths "$1"
    tests/lib/kafka.sh again "$W/kafka"
}

broker_stands_still()
{
    tests/lib/kafka.sh freeze "$W/kafka"
    tenths "$1"
    tests/lib/kafka.sh thaw "$W/kafka"
}

# network_is_bad FD TENTHS WORDS: for that long; then what was held up comes after all, or every connection breaks.
network_is_bad()
{
    echo "$3" >&"$1"
    tenths "$2"
    [ $((RANDOM % 2)) = 0 ] || echo cut >&"$1"
    echo open >&"$1"
}

bad_network()
{
    case $((RANDOM % 4)) in
    0) echo cut ;;
    1) echo half ;;
    2) echo "delay $((RANDOM % 500 + 20))" ;;
    3) echo "dribble $((RANDOM % 200 + 20))" ;;
    esac
}

broker_of_three_dies()
{
    tests/lib/kafka_cluster.sh kill "$W/cluster" "$1"
    tenths "$2"
    tests/lib/kafka_cluster.sh again "$W/cluster" "$1"
    # Two must be in sync: the next one dies only when this one is back.
    tenths 80
}

broker_of_three_is_cut_off()
{
    tests/lib/kafka_cluster.sh cut "$W/cluster" "$1"
    tenths "$2"
    tests/lib/kafka_cluster.sh mend "$W/cluster" "$1"
    tenths 50
}

harm()
{
    if [ -n "$harm_job" ]; then
        process_state "$harm_job"
        case $STATE in Z | '') job_over ;; esac
    fi
    case $mode in
    points | freeze) ;;
    random) ! due 60 400 || kill_worker $((RANDOM % WORKERS)) ;;
    postgres) ! due 1500 4000 || beside pg_dies $((RANDOM % 12)) ;;
    broker) ! due 3000 7000 || beside broker_dies $((RANDOM % 15)) ;;
    broker-freeze)
        ! due 1500 5000 || beside broker_stands_still $((RANDOM % 60 + 1))
        [ $((RANDOM % 12)) != 0 ] || kill_worker $((RANDOM % WORKERS))
        ;;
    network) ! due 1000 3000 || beside network_is_bad $((RANDOM % 2 + 7)) $((RANDOM % 50 + 3)) "$(bad_network)" ;;
    cluster) ! due 1000 3000 || beside broker_of_three_dies $((RANDOM % 3 + 1)) $((RANDOM % 30)) ;;
    cut) ! due 1000 3000 || beside broker_of_three_is_cut_off $((RANDOM % 3 + 1)) $((RANDOM % 70 + 20)) ;;
    esac
}

harm_end()
{
    [ -z "$harm_job" ] || job_over
}

harm_stop()
{
    [ -z "$harm_job" ] || wait "$harm_job" 2>/dev/null
}

harm_words()
{
    case $mode in
    postgres) echo ", $harms times kill -9 of PostgreSQL" ;;
    broker) echo ", $harms times kill -9 of the broker" ;;
    broker-freeze) echo ", $harms times the broker frozen" ;;
    network) echo ", $harms times a bad network" ;;
    cluster) echo ", $harms brokers of three killed" ;;
    cut) echo ", $harms times one of three cut off" ;;
    short) echo ", $harms times kill -9 of PostgreSQL" ;;
    esac
}
