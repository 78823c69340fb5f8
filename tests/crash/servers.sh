# Sourced by loop: the servers of a run. Sets BROKERS, PSQL, CONN, and WORKER_CONN, which may lead through a bad network.

servers_start()
{
    mkdir -p "$W/home/.config/redrive"
    printf 'chunk = %s\nsend_after = 0s\nstart_worker = off\n' "$CHUNK" >"$W/home/.config/redrive/config"
    PSQL=$(command -v psql) || fail "psql is missing: make packages"
    # A commit that was answered is in the hands of the kernel, which outlives kill -9.
    tests/lib/pg.sh start "$W/pg" synchronous_commit=on full_page_writes=on max_connections=60 \
        shared_buffers=64MB >"$W/pg.env" || fail "no PostgreSQL"
    local host port
    host=$(sed -n 's/^PGHOST=//p' "$W/pg.env")
    port=$(sed -n 's/^PGPORT=//p' "$W/pg.env")
    CONN="host=$host port=$port user=postgres dbname=crash connect_timeout=5"
    "$PSQL" -qX -d "host=$host port=$port user=postgres dbname=postgres" -c 'CREATE DATABASE crash' || fail "no database"
    sed '/^-- 1 to 1000/,$d' tests/commands/table.sql | "$PSQL" -qX -d "$CONN" -f - || fail "no table"
    WORKER_CONN=$CONN
    [ $mode != network ] || network_start "$host/.s.PGSQL.$port" || return $?
    kafka_start || return $?
    HOME=$W/home "$REDRIVE" migrate -d "$CONN" >"$W/migrate.log" 2>&1 || { cat "$W/migrate.log"; fail "no schema"; }
}

kafka_start()
{
    case $mode in cluster | cut) cluster_start; return ;; esac
    tests/lib/kafka.sh start "$W/kafka" ${KAFKA_NET:+"advertised.listeners=PLAINTEXT://127.0.0.1:$KAFKA_NET"} >"$W/kafka.env" 2>"$W/kafka.log" || { cat "$W/kafka.log"; fail "no Kafka"; }
    BROKERS=$(sed -n 's/^BROKERS=//p' "$W/kafka.env")
    [ -z "${KAFKA_NET:-}" ] || proxy_start kafka "$KAFKA_NET" "${BROKERS##*:}" 8
}

# network_start SOCKET: a bad network before PostgreSQL, and a port for one before Kafka, whose clients are told to come there.
network_start()
{
    local port
    port=$(free_port) KAFKA_NET=$(free_port)
    proxy_start postgres "$port" "$1" 7
    WORKER_CONN="host=127.0.0.1 port=$port user=postgres dbname=crash connect_timeout=5"
}

# proxy_start NAME LISTEN TARGET FD: what it is told is written to FD; it ends when nobody has that open any more.
proxy_start()
{
    mkfifo "$W/net.$1"
    "$PROXY" "$2" "$3" <"$W/net.$1" >>"$W/net.log" 2>&1 &
    eval "exec $4>\"\$W/net.$1\""
}

cluster_start()
{
    local status=0
    tests/lib/kafka_cluster.sh start "$W/cluster" >"$W/kafka.env" 2>"$W/kafka.log" || status=$?
    if [ $status = 77 ]; then
        say "SKIPPED mode $mode: $(cat "$W/kafka.log")"
        exit 0
    fi
    [ $status = 0 ] || { cat "$W/kafka.log"; fail "no Kafka"; }
    BROKERS=$(sed -n 's/^BROKERS=//p' "$W/kafka.env")
}

servers_remove()
{
    harm_stop
    [ ! -e "$W/cluster/state" ] || tests/lib/kafka_cluster.sh remove "$W/cluster"
    [ ! -e "$W/kafka/state" ] || tests/lib/kafka.sh remove "$W/kafka"
    [ ! -e "$W/pg/state" ] || tests/lib/pg.sh remove "$W/pg"
}
