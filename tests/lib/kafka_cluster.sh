#!/usr/bin/env bash
# kafka_cluster.sh ACTION DIR [BROKER]: three real Kafka brokers in DIR, each in a network namespace of its own, with replication 3 and
# min.insync.replicas 2. Needs root (exit status 77 and a reason where namespaces are not permitted) and Linux.
#
#   start DIR            a new cluster, ready when this returns; prints BROKERS=…
#   kill DIR BROKER      SIGKILL to broker 1, 2 or 3;  again DIR BROKER   starts it with the same data
#   cut DIR BROKER       the other two cannot reach it any more, nor it them; clients reach all three
#   mend DIR BROKER      the end of that
#   remove DIR           kill them and remove everything
#
# A broker has two wires: one to a bridge in a namespace that nobody else is in, for the brokers and controllers among themselves,
# and one to this namespace, for clients. To cut is to take the first one down.
set -eu
. "$(dirname "$0")/common.sh"

VERSION=${REDRIVE_KAFKA:-$(sed -n 's/.*<kafka.version>\(.*\)<.*/\1/p' "$ROOT/tests/kafka/pom.xml")}
JARS=$CACHE/kafka-$VERSION

namespace()
{
    echo "redrive-$TAG-$1"
}

client_address()
{
    echo "$NET.$(($1 * 4 + 2))"
}

addresses()
{
    echo "BROKERS=$(client_address 1):9092,$(client_address 2):9092,$(client_address 3):9092"
}

# wire_broker NUMBER
wire_broker()
{
    local ns hub
    ns=$(namespace "$1")
    hub=$(namespace hub)
    ip netns add "$ns"
    ip -n "$ns" link set lo up
    ip link add "rd$TAG.$1" type veth peer name client netns "$ns"
    ip addr add "$NET.$(($1 * 4 + 1))/30" dev "rd$TAG.$1"
    ip link set "rd$TAG.$1" up
    ip -n "$ns" addr add "$(client_address "$1")/30" dev client
    ip -n "$ns" link set client up
    ip -n "$hub" link add "port$1" type veth peer name cluster netns "$ns"
    ip -n "$hub" link set "port$1" master bridge up
    ip -n "$ns" addr add "10.77.0.$1/24" dev cluster
    ip -n "$ns" link set cluster up
}

wire()
{
    ip netns add "$(namespace hub)" 2>/dev/null || return 1
    ip -n "$(namespace hub)" link add bridge type bridge 2>/dev/null || return 1
    ip -n "$(namespace hub)" link set bridge up
    local i
    for i in 1 2 3; do wire_broker $i; done
}

unwire()
{
    local i
    for i in 1 2 3; do
        ip link del "rd$TAG.$i" 2>/dev/null || true
        ip netns del "$(namespace $i)" 2>/dev/null || true
    done
    ip netns del "$(namespace hub)" 2>/dev/null || true
}

# properties NUMBER
properties()
{
    cat <<END
process.roles=broker,controller
node.id=$1
controller.quorum.voters=1@10.77.0.1:9093,2@10.77.0.2:9093,3@10.77.0.3:9093
listeners=CLIENT://$(client_address "$1"):9092,INSIDE://10.77.0.$1:9094,CONTROLLER://10.77.0.$1:9093
advertised.listeners=CLIENT://$(client_address "$1"):9092,INSIDE://10.77.0.$1:9094
controller.listener.names=CONTROLLER
inter.broker.listener.name=INSIDE
listener.security.protocol.map=CLIENT:PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$DIR/data$1
auto.create.topics.enable=false
num.partitions=4
default.replication.factor=3
min.insync.replicas=2
offsets.topic.replication.factor=3
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=3
share.coordinator.state.topic.min.isr=2
group.initial.rebalance.delay.ms=0
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
replica.lag.time.max.ms=4000
END
}

start()
{
    [ "$(id -u)" = 0 ] && command -v ip >/dev/null && ip netns list >/dev/null 2>&1 || { echo "network namespaces need root and iproute2" >&2; exit 77; }
    "$(dirname "$0")/kafka.sh" fetch
    mkdir -p "$DIR"
    [ ! -e "$DIR/state" ] || fail "$DIR is in use"
    DIR=$(cd "$DIR" && pwd)
    TAG=$(printf '%04x' $((RANDOM * 2 % 65536)))
    NET=100.$((64 + RANDOM % 64)).$((RANDOM % 256))
    remember "$DIR" TAG "$TAG"
    remember "$DIR" NET "$NET"
    wire || { unwire; rm -rf "$DIR"; echo "network namespaces are not permitted here" >&2; exit 77; }
    guard "$DIR" "$0" remove "$DIR"
    local id i
    id=$(head -c 16 /dev/urandom | base64 | tr '+/' 'ab' | cut -c 1-22)
    for i in 1 2 3; do
        properties $i >"$DIR/server$i.properties"
        java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$JARS/*" kafka.tools.StorageTool format -t "$id" \
            -c "$DIR/server$i.properties" </dev/null >"$DIR/format.log" 2>&1 9>&- || { cat "$DIR/format.log" >&2; remove; fail "no data folder"; }
    done
    for i in 1 2 3; do launch $i; done
    await_all
    addresses
}

# A session of its own; the shell in between writes down the process id that java then has.
launch()
{
    # shellcheck disable=SC2016
    setsid bash -c 'echo $$ >"$1"; shift; exec "$@"' kafka "$DIR/pid$1" ip netns exec "$(namespace "$1")" \
        java -Xmx256m -XX:+UseSerialGC -cp "$JARS/*" kafka.Kafka "$DIR/server$1.properties" \
        </dev/null >>"$DIR/server$1.log" 2>&1 8>&- 9>&- &
}

await_all()
{
    local try
    for try in {1..120}; do
        [ "$(kcat -L -m 2 -b "$(client_address 1):9092" 2>/dev/null | grep -c '^  broker ')" != 3 ] || return 0
        sleep 0.5
    done
    tail -n 10 "$DIR"/server?.log >&2
    fail "the cluster did not start"
}

main_process()
{
    cat "$DIR/pid$1" 2>/dev/null || true
}

kill_broker()
{
    local pid
    pid=$(main_process "$1")
    is_alive "$pid" || return 0
    kill -KILL "$pid"
    wait_gone "$pid" 10
}

remove()
{
    local i
    for i in 1 2 3; do kill_broker $i; done
    unwire
    rm -rf "$DIR"
}

ACTION=${1:?kafka_cluster.sh ACTION DIR} DIR=${2:?kafka_cluster.sh ACTION DIR} BROKER=${3:-}
[ "$ACTION" = start ] || recall "$DIR"
case $ACTION in
start | remove) "$ACTION" ;;
kill) kill_broker "${BROKER:?}" ;;
again) launch "${BROKER:?}" ;;
cut) ip -n "$(namespace hub)" link set "port${BROKER:?}" down ;;
mend) ip -n "$(namespace hub)" link set "port${BROKER:?}" up ;;
*) fail "unknown action $ACTION" ;;
esac
