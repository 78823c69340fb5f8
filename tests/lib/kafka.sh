#!/usr/bin/env bash
# kafka.sh fetch | start FOLDER | stop FOLDER | kill FOLDER | freeze FOLDER | thaw FOLDER | up FOLDER: a real Apache Kafka (one broker, KRaft) on free ports.
#   fetch   brings the pinned jars from Maven Central once, into $REDRIVE_CACHE (default: build/kafka)
#   start   makes the data folder on first use, starts the broker, waits until it answers, prints its address
#   kill    SIGKILL, the data stay; up starts it again on the same port
# KAFKA_VERSION chooses another version than the pinned one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/ports.sh"
verb=$1
version=${KAFKA_VERSION:-$(sed -n 's:.*<kafka.version>\(.*\)</kafka.version>.*:\1:p' "$here/../kafka/pom.xml")}
jars=${REDRIVE_CACHE:-$here/../../build/kafka}/$version

fetch() {
    [ -e "$jars/.complete" ] && return
    echo "fetching Apache Kafka $version (43 MB, once)" >&2
    mkdir -p "$jars"
    mvn -q -B -f "$here/../kafka/pom.xml" -Dkafka.version="$version" dependency:copy-dependencies -DoutputDirectory="$(cd "$jars" && pwd)" </dev/null >&2
    touch "$jars/.complete"
}
[ "$verb" = fetch ] && { fetch; exit; }

mkdir -p "$2"
folder=$(cd "$2" && pwd)
answers() { kcat -b "$(cat "$folder/address")" -L -m 2 >/dev/null 2>&1; }
up() {
    KAFKA_OPTS= setsid java -Xmx"${KAFKA_HEAP:-512m}" -Xshare:auto -XX:TieredStopAtLevel=1 -cp "$jars/*" kafka.Kafka "$folder/server.properties" >"$folder/log" 2>&1 </dev/null &
    echo $! >"$folder/pid"
    for _ in $(seq 60); do
        answers && return
        kill -0 "$(cat "$folder/pid")" 2>/dev/null || { echo "kafka.sh: the broker ended at its start:" >&2; tail -n 5 "$folder/log" >&2; exit 1; }
        sleep 0.2
    done
    echo "kafka.sh: the broker did not answer within a minute" >&2
    exit 1
}

case "$verb" in
start)
    fetch
    if [ ! -e "$folder/server.properties" ]; then
        port=$(free_port)
        control=$(free_port)
        cat >"$folder/server.properties" <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$control
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$control
advertised.listeners=PLAINTEXT://127.0.0.1:$port
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$folder/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
num.partitions=4
${KAFKA_PROPERTIES:-}
PROPERTIES
        echo "127.0.0.1:$port" >"$folder/address"
        java -cp "$jars/*" kafka.tools.StorageTool format -t "$(head -c 16 /dev/urandom | base64 | tr '+/' '-_' | cut -c1-22)" -c "$folder/server.properties" >"$folder/log" 2>&1 </dev/null ||
            { echo "kafka.sh: the data folder could not be made:" >&2; tail -n 5 "$folder/log" >&2; exit 1; }
    fi
    answers || up
    cat "$folder/address"
    ;;
up) answers || up ;;
stop)
    pid=$(cat "$folder/pid" 2>/dev/null || echo)
    [ -n "$pid" ] && kill "$pid" 2>/dev/null && for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    [ -n "$pid" ] && kill -9 "$pid" 2>/dev/null || true
    rm -f "$folder/pid"
    ;;
kill) kill -9 "$(cat "$folder/pid")" ;;
freeze) kill -STOP "$(cat "$folder/pid")" ;;
thaw) kill -CONT "$(cat "$folder/pid")" ;;
esac
