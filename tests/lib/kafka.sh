#!/usr/bin/env bash
# kafka.sh ACTION DIR: a real Kafka broker in DIR, on free ports of 127.0.0.1.
#
#   fetch                    brings the jars from Maven Central into the cache, once, by mvn or else by curl
#   list                     prints tests/kafka/VERSION.jars anew
#   start DIR [NAME=VALUE…]  a new broker, ready when this returns; prints BROKERS=host:port. NAME=VALUE are settings of
#                            server.properties. Topics are made by whoever needs them: none comes into being by itself.
#   start DIR --secure [NAME=VALUE…]   the same with an authorizer that allows nothing to user app, and TLS with SCRAM-SHA-512
#                            beside the plain listener, whose users may do everything. Prints as well SECURE=host:port,
#                            MISNAMED= (its certificate is somebody else's), EXPIRED= (out of date) and TLS=folder of certificates.
#                            The password of app is right-horse.
#   env DIR                  those lines again
#   acls DIR ARGUMENT…       what kafka-acls.sh does with these, by an administrator
#   stop DIR                 SIGTERM and wait
#   kill DIR                 SIGKILL
#   freeze DIR, thaw DIR     SIGSTOP, SIGCONT
#   again DIR                start with the same data on the same ports
#   join DIR                 a second broker, number 2, beside it, and again with its data after it left
#   leave DIR                SIGKILL to the second broker: what it alone leads has no leader then
#   remove DIR               kill it and remove everything
#
# REDRIVE_KAFKA_JAVA=-XX:TieredStopAtLevel=1 are further options of its Java: these halve what a broker of some minutes computes.
# REDRIVE_KAFKA=3.9.1 chooses another version than tests/kafka/pom.xml pins; tests/kafka/VERSION.jars says what belongs to it.
set -eu
. "$(dirname "$0")/common.sh"

SECURE= MISNAMED= EXPIRED= SECOND=
POM=$ROOT/tests/kafka/pom.xml
VERSION=${REDRIVE_KAFKA:-$(sed -n 's/.*<kafka.version>\(.*\)<.*/\1/p' "$POM")}
JARS=$CACHE/kafka-$VERSION
LIST=$ROOT/tests/kafka/$VERSION.jars
CENTRAL=${REDRIVE_MAVEN_CENTRAL:-https://repo.maven.apache.org/maven2}

# What Maven says is shown only when it fails: it ends with colours, and without a line's end, however quiet it is asked to be.
by_maven()
{
    local status=0
    command -v mvn >/dev/null || return 1
    mvn -q -B -Dstyle.color=never -f "$POM" -Dkafka.version="$VERSION" dependency:copy-dependencies -DoutputDirectory="$1" \
        </dev/null >"$1.log" 2>&1 || status=$?
    [ $status = 0 ] || cat "$1.log" >&2
    rm -f "$1.log"
    return $status
}

# What is listed, with nothing but curl, which minds https_proxy.
by_curl()
{
    command -v curl >/dev/null || return 1
    mkdir -p "$1"
    sed -n "s|^[0-9a-f]\{128\}  \(.*/\([^/]*\)\)\$|url = \"$CENTRAL/\1\"\noutput = \"$1/\2\"|p" "$LIST" |
        curl -q -fsSL --retry 3 --connect-timeout 20 --no-progress-meter --parallel --parallel-max 4 --fail-early -K - >&2
}

# Every byte is known beforehand.
check()
{
    sed -n 's|^\([0-9a-f]\{128\}\)  .*/|\1  |p' "$LIST" | (cd "$1" && sha512sum --quiet --strict -c) >&2
}

# The cache of an older checkout may lack a jar.
is_complete()
{
    local jar
    [ -d "$JARS" ] && [ -f "$LIST" ] || return 1
    for jar in $(sed -n 's|^[0-9a-f]\{128\}  .*/||p' "$LIST"); do
        [ -e "$JARS/$jar" ] || return 1
    done
}

# One at a time: another run waits and finds it done. Complete or not there at all. Maven first, where it is there: it knows this
# machine's mirrors.
fetch()
{
    ! is_complete || return 0
    [ -f "$LIST" ] || fail "${LIST#"$ROOT/"} is missing: REDRIVE_KAFKA=$VERSION tests/lib/kafka.sh list >${LIST#"$ROOT/"}, on a machine with Maven"
    mkdir -p "$CACHE"
    exec 8>"$CACHE/kafka.lock"
    flock 8
    if ! is_complete; then
        echo "Fetching Kafka $VERSION from Maven Central, once (43 MB)" >&2
        rm -rf "$JARS.part"
        by_maven "$JARS.part" || { rm -rf "$JARS.part" && by_curl "$JARS.part"; } ||
            fail "Kafka $VERSION could not be fetched from $CENTRAL: tried $(command -v mvn || echo 'no mvn') and $(command -v curl ||
                echo 'no curl'). Behind a proxy set https_proxy (curl) or ~/.m2/settings.xml (mvn); a mirror is named by REDRIVE_MAVEN_CENTRAL (curl)." \
                "Or put the jars into $JARS"
        check "$JARS.part" || fail "what came for Kafka $VERSION is not what ${LIST#"$ROOT/"} lists; it is left in $JARS.part"
        rm -rf "$JARS"
        mv "$JARS.part" "$JARS"
    fi
    exec 8>&-
}

# For whoever pins another version, or lets a test name one.
list()
{
    local tree
    tree=$(mktemp -d)
    mvn -q -B -Dstyle.color=never -f "$POM" -Dkafka.version="$VERSION" dependency:copy-dependencies -Dmdep.useRepositoryLayout=true -DoutputDirectory="$tree" \
        </dev/null >&2 || fail "Maven could not find Kafka $VERSION"
    echo "# Kafka $VERSION and what it runs with, as Maven Central has them: sha512 and path. \`tests/lib/kafka.sh list\` prints this anew."
    (cd "$tree" && find . -name '*.jar' | sed 's|^\./||' | LC_ALL=C sort | xargs sha512sum)
    rm -rf "$tree"
}

properties()
{
    cat <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$CONTROLLER
listeners=PLAINTEXT://127.0.0.1:$PORT,CONTROLLER://127.0.0.1:$CONTROLLER
advertised.listeners=PLAINTEXT://127.0.0.1:$PORT
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$DIR/data
auto.create.topics.enable=false
num.partitions=4
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
END
}

# secure_listener NAME CERTIFICATE: settings of one.
secure_listener()
{
    cat <<END
listener.name.$1.ssl.keystore.type=PEM
listener.name.$1.ssl.keystore.location=$DIR/tls/$2-both.pem
listener.name.$1.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
END
}

# Later lines win over those of properties.
secure_properties()
{
    local plain="PLAINTEXT://127.0.0.1:$PORT" tls="SECURE://127.0.0.1:$SECURE,MISNAMED://127.0.0.1:$MISNAMED,EXPIRED://127.0.0.1:$EXPIRED"
    cat <<END
listeners=$plain,CONTROLLER://127.0.0.1:$CONTROLLER,$tls
advertised.listeners=$plain,$tls
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,MISNAMED:SASL_SSL,EXPIRED:SASL_SSL
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=SCRAM-SHA-512
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
END
    secure_listener secure server
    secure_listener misnamed misnamed
    secure_listener expired expired
}

java_kafka()
{
    java "$@" </dev/null 9>&-
}

start()
{
    fetch
    command -v java >/dev/null || fail "a Java runtime is missing: make packages"
    mkdir -p "$DIR"
    [ ! -e "$DIR/state" ] || fail "$DIR is in use"
    DIR=$(cd "$DIR" && pwd)
    PORT=$(free_port)
    CONTROLLER=$(free_port)
    remember "$DIR" PORT "$PORT"
    remember "$DIR" CONTROLLER "$CONTROLLER"
    local secure=no name
    local -a user=()
    if [ "${1-}" = --secure ]; then
        shift
        secure=yes
        user=(--add-scram 'SCRAM-SHA-512=[name=app,password=right-horse]')
        for name in SECURE MISNAMED EXPIRED; do
            printf -v $name %s "$(free_port)"
            remember "$DIR" $name "${!name}"
        done
        "$ROOT/tests/lib/certificates.sh" "$DIR/tls"
    fi
    guard "$DIR" "$0" remove "$DIR"
    { properties; [ $secure = no ] || secure_properties; printf '%s\n' "$@"; } >"$DIR/server.properties"
    java_kafka -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$JARS/*" kafka.tools.StorageTool format \
        -t "$(head -c 16 /dev/urandom | base64 | tr '+/' 'ab' | cut -c 1-22)" -c "$DIR/server.properties" ${user[@]+"${user[@]}"} \
        >"$DIR/format.log" 2>&1 || { cat "$DIR/format.log" >&2; fail "Kafka's data folder could not be made"; }
    again
    address
}

# A session of its own; the shell in between writes down the process id that java then has.
again()
{
    local try
    # shellcheck disable=SC2016
    setsid bash -c 'echo $$ >"$1"; shift; exec "$@"' kafka "$DIR/pid" \
        java -Xmx512m -XX:+UseSerialGC ${REDRIVE_KAFKA_JAVA-} -cp "$JARS/*" kafka.Kafka "$DIR/server.properties" \
        </dev/null >>"$DIR/server.log" 2>&1 8>&- 9>&- &
    for try in {1..300}; do
        if kcat -L -m 1 -b "127.0.0.1:$PORT" >/dev/null 2>&1; then
            return
        fi
        [ "$try" -lt 10 ] || is_alive "$(main_process)" || break
        sleep 0.1
    done
    tail -n 20 "$DIR/server.log" >&2
    fail "Kafka did not start"
}

# A broker without a controller of its own.
second_properties()
{
    properties | sed -e 's/^process.roles=.*/process.roles=broker/' -e 's/^node.id=.*/node.id=2/' -e "s|^log.dirs=.*|log.dirs=$DIR/data2|" \
        -e "s|^listeners=.*|listeners=PLAINTEXT://127.0.0.1:$SECOND|" -e "s|^advertised.listeners=.*|advertised.listeners=PLAINTEXT://127.0.0.1:$SECOND|"
}

make_second()
{
    SECOND=$(free_port)
    remember "$DIR" SECOND "$SECOND"
    second_properties >"$DIR/second.properties"
    java_kafka -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$JARS/*" kafka.tools.StorageTool format \
        -t "$(sed -n 's/^cluster.id=//p' "$DIR/data/meta.properties")" -c "$DIR/second.properties" >>"$DIR/format.log" 2>&1 ||
        { cat "$DIR/format.log" >&2; fail "the second broker's data folder could not be made"; }
}

join()
{
    local try
    [ -n "$SECOND" ] || make_second
    # shellcheck disable=SC2016
    setsid bash -c 'echo $$ >"$1"; shift; exec "$@"' kafka "$DIR/pid2" \
        java -Xmx256m -XX:+UseSerialGC ${REDRIVE_KAFKA_JAVA-} -cp "$JARS/*" kafka.Kafka "$DIR/second.properties" \
        </dev/null >>"$DIR/second.log" 2>&1 8>&- 9>&- &
    for try in {1..300}; do
        [ "$(kcat -L -m 1 -b "127.0.0.1:$PORT" 2>/dev/null | grep -c '^  broker ')" != 2 ] || return 0
        sleep 0.1
    done
    tail -n 20 "$DIR/second.log" >&2
    fail "the second broker did not join"
}

leave()
{
    local pid
    pid=$(cat "$DIR/pid2" 2>/dev/null || true)
    is_alive "$pid" || return 0
    kill -KILL "$pid"
    wait_gone "$pid" 10
}

address()
{
    echo "BROKERS=127.0.0.1:$PORT"
    [ -n "${SECURE-}" ] || return 0
    echo "SECURE=127.0.0.1:$SECURE"
    echo "MISNAMED=127.0.0.1:$MISNAMED"
    echo "EXPIRED=127.0.0.1:$EXPIRED"
    echo "TLS=$DIR/tls"
}

# Kafka 4.1 moved the class of kafka-acls.sh.
acls()
{
    local class=kafka.admin.AclCommand
    case $VERSION in
    [0-3].* | 4.0.*) ;;
    *) class=org.apache.kafka.tools.AclCommand ;;
    esac
    java_kafka -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$JARS/*" "$class" \
        --bootstrap-server "127.0.0.1:$PORT" "$@" 2>>"$DIR/acls.log"
}

main_process()
{
    cat "$DIR/pid" 2>/dev/null || true
}

signal()
{
    local pid
    pid=$(main_process)
    is_alive "$pid" || return 0
    kill "-$1" "$pid"
    [ "$1" != KILL ] || wait_gone "$pid" 10
}

remove()
{
    leave
    signal KILL
    [ -z "${SECOND-}" ] || release_port "$SECOND"
    release_port "$PORT"
    release_port "$CONTROLLER"
    local name
    for name in SECURE MISNAMED EXPIRED; do
        [ -z "${!name-}" ] || release_port "${!name}"
    done
    rm -rf "$DIR"
}

ACTION=${1:?kafka.sh ACTION DIR}
case $ACTION in
fetch | list)
    "$ACTION"
    exit
    ;;
esac
DIR=${2:?kafka.sh ACTION DIR}
shift 2
[ "$ACTION" = start ] || recall "$DIR"
case $ACTION in
start) start "$@" ;;
again | join | leave | remove) "$ACTION" ;;
env) address ;;
acls) acls "$@" ;;
stop) end_process "$(main_process)" 30 ;;
kill) signal KILL ;;
freeze) signal STOP ;;
thaw) signal CONT ;;
*) fail "unknown action $ACTION" ;;
esac
