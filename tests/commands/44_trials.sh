# From a consumer that fails to the correction that it takes, for each way in which teams write failures down: rows, and topics with a message of
# their own, with headers, with an entry around the message, with the failure within it, and with a pointer alone. Needs a real Kafka.

if [ -z "$brokers" ] || [ ! -x "$topic_tool" ] || ! command -v kcat >/dev/null; then
    skip "from a failing consumer to a consumed correction" "REDRIVE_TEST_KAFKA, tests/tools/topic or kcat is missing"
    return 0
fi

trials=redrive_trials_$$
whole=$PG
PG="$server dbname=$trials"
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $trials ENCODING 'UTF8' TEMPLATE template0"
sed '/^-- 1 to 1000/,$d' "$here/table.sql" | psql -Xq "$PG" -f -
whole_db=("${db[@]}")
db=(-d "$PG" -b "$brokers" -X message.max.bytes=4000000)
"$REDRIVE" migrate "${db[@]}" --quiet >/dev/null
pending() { in_table "SELECT count(*) FROM dlq_events WHERE status = 'PENDING'" "$1"; }
trial_topic() { "$topic_tool" "$brokers" "$1" 1 max.message.bytes=4000000; }
# put TOPIC KEY OPTION…: what is in $work/value
put() { kcat -b "$brokers" -t "$1" -P -k "$2" -q -X message.max.bytes=4000000 "${@:3}" "$work/value"; }
# take TOPIC OFFSET: its value to $work/taken, key and headers to $work/taken.about, as a consumer of committed records has them
take()
{
    kcat -b "$brokers" -t "$1" -p 0 -C -e -q -o "$2" -c 1 -X isolation.level=read_committed -D '' -f %s >"$work/taken" 2>/dev/null
    kcat -b "$brokers" -t "$1" -p 0 -C -e -q -o "$2" -c 1 -X isolation.level=read_committed -f '%k|%h' >"$work/taken.about" 2>/dev/null
}
# taken_is FILE KEY: the same bytes as in that file
taken_is() { cmp "$work/taken" "$1" && [ "$(cut -d'|' -f1 "$work/taken.about")" = "$2" ]; }
about_has() { [[ "|$(tr ',' '|' <"$work/taken.about")|" == *"|$1|"* ]]; }
about_lacks() { [[ "$(cat "$work/taken.about")" != *"$1"* ]]; }
how_many() { kcat -b "$brokers" -t "$1" -C -e -q -o beginning -X isolation.level=read_committed -f '.\n' 2>/dev/null | grep -c .; }

# --- rows: 1,000 invalid events ---

employees=commands-employees-$$
trial_topic $employees
for n in {1..1000}; do echo "{\"eventId\": \"v-$n\", \"cpf\": \"111.111.111-$n\", \"age\": 15}"; done >"$work/employees"
kcat -b "$brokers" -t $employees -P -q <"$work/employees"
# The consumer: CPFs have 11 digits, and whoever has none goes into the table.
consume_employees() # FROM
{
    kcat -b "$brokers" -t $employees -C -e -q -o "$1" -X isolation.level=read_committed -f '%o\t%s\n' 2>/dev/null | "$python" -S -c '
import json, sys
for line in sys.stdin:
    offset, text = line.rstrip("\n").split("\t")
    event = json.loads(text)
    if len(event["cpf"]) == 11 and event["cpf"].isdigit():
        print("took", event["eventId"], event["cpf"], file=sys.stderr)
    else:
        row = [event["eventId"], "EMPLOYEE_CREATED", "employees", event["eventId"], text, "Falha na validação: CPF inválido", offset, "0", sys.argv[1]]
        print("\t".join(row))' $employees 2>"$work/took" | sql "COPY dlq_events (event_id, event_type, source_table, source_id, event_payload, error_message,
        kafka_offset, kafka_partition, kafka_topic) FROM stdin"
}
consume_employees beginning
ok "trial: 1,000 invalid events are 1,000 pending ones, and none is lost" all pending 1000 ';' [ ! -s "$work/took" ] ';' \
    in_table "SELECT count(DISTINCT event_id) FROM dlq_events e JOIN generate_series(1, 1000) n ON e.event_id = 'v-' || n AND e.kafka_offset = n - 1" 1000
id=$(sql "SELECT id FROM dlq_events WHERE event_id = 'v-7'")
run correct "${db[@]}" "$id" --set '$.cpf="52998224725"'
run reprocess "${db[@]}" --id "$id" --yes --json
ok "trial: one is corrected and sent" all exits 0 ';' json 'rows[0]["done"] == 1' ';' pending 999
consume_employees 1000
ok "trial: the consumer takes it, and no other" [ "$(cat "$work/took")" = "took v-7 52998224725" ]
for _ in {1..20}; do # a busy machine only makes one longer
    from=${EPOCHREALTIME/./}
    run events "${db[@]}" --filter 'error:CPF created:>=2020-01-01' --limit 1 --json
    took=$((${EPOCHREALTIME/./} - from))
    [ $took -ge 1000000 ] || break
done
ok "trial: errors of a kind are found, in less than a second" all exits 0 ';' json 'len(rows) == 1' ';' [ $took -lt 1000000 ]
run stats "${db[@]}" --json
ok "trial: the analyses agree" all exits 0 ';' says '"total":1000,"pending":999,"resolved":1'
sql "DELETE FROM dlq_events" >/dev/null

# --- messages with their own error and count, from a retry queue and a dead letter queue ---

queue=commands-notices-$$
trial_topic $queue
trial_topic ${queue}_retry
trial_topic ${queue}_dlq
message() # ID ERROR COUNT, as the team's PHP writes it
{
    printf '{"message_id":"%s","timestamp":"2026-02-28T22:53:42+00:00","version":"1.0","source":"checkout-service","queue":"%s","data":{"order_id":123,"total":299.90,"note":"caf\\u00e9 \\/ 1.0e2"},"metadata":{"priority":"high","correlation_id":"abc-123"},"error":%s,"retry_count":%s}' \
        "$1" $queue "$2" "$3" >"$work/value"
}
for n in 1 2 3; do
    for try in 1 2; do
        message 79a50895-f251-455f-9a5c-00000000000$n '{"message":"Connection refused","code":"500","trace":"PDOException: SQLSTATE[HY000] [2002] try '$try'"}' $try
        put ${queue}_retry order-123
    done
    message 79a50895-f251-455f-9a5c-00000000000$n '{"message":"Connection refused","code":"500","trace":"PDOException: SQLSTATE[HY000] [2002] try 3"}' 3
    put ${queue}_dlq order-123
done
run reprocess "${db[@]}" --queue ${queue} --yes
ok "trial: a queue whose name has no suffix of dead letters is refused" all exits 2 ';' one_sentence
run reprocess "${db[@]}" --queue ${queue}_dlq --yes
ok "trial: an empty queue is told as such" all exits 5 ';' one_sentence
run ingest "${db[@]}" --topics ${queue}_retry,${queue}_dlq --once --json
ok "trial: a message seen on retry and dead letter queues is one event with attempts" all exits 0 ';' \
    json '(rows[0]["events"], rows[0]["attempts"]) == (3, 6)' ';' pending 3
id=$(sql "SELECT id FROM dlq_events ORDER BY id LIMIT 1")
run show "${db[@]}" "$id"
ok "trial: with the traces of all" all says 'try 1' ';' says 'try 2' ';' says 'try 3'
run reprocess "${db[@]}" --queue ${queue}_dlq --yes
ok "trial: the queue is sent, and its number printed" all exits 0 ';' says 3 ';' pending 0 ';' [ "$(how_many $queue)" = 3 ]
message 79a50895-f251-455f-9a5c-000000000001 null 0
cp "$work/value" "$work/wanted"
take $queue 0
ok "trial: as it was, but for error and retry_count" taken_is "$work/wanted" order-123
sql "DELETE FROM dlq_events" >/dev/null

# --- headers, and the routine of a review ---

orders2=commands-routine-$$
trial_topic $orders2
trial_topic $orders2-dlq
fails() # N CLASS MESSAGE: as the team's Java writes it
{
    printf '{ "order" : %s, "amount": "1,50" }' "$1" >"$work/value"
    put $orders2-dlq "customer-$1" -H dlq.original.topic=$orders2 -H dlq.original.partition=0 -H "dlq.original.offset=$1" \
        -H dlq.original.timestamp=1763596800000 -H "dlq.error.class=$2" -H "dlq.error.message=$3" -H dlq.error.timestamp=1763596801000 \
        -H dlq.retry.count=3 -H "dlq.error.stacktrace=$2: $3" -H dlq.consumer.group=billing -H traceparent=00-1
}
for n in 1 2 3; do fails $n java.net.SocketTimeoutException "Read timed out"; done
for n in 4 5; do fails $n java.lang.NumberFormatException 'For input string: "1,50"'; done
fails 6 com.acme.OrderClosedException "order 6 is closed"
run ingest "${db[@]}" --topics $orders2-dlq --once
run report "${db[@]}" --since 24h --form json
ok "routine: the day's number" all exits 0 ';' json 'rows[0]["arrived"] == 6 and rows[0]["pending"] == 6'
run groups "${db[@]}" --by category --json
ok "routine: classified" all exits 0 ';' json 'sum(r["count"] for r in rows) == 6 and any(r["group"] == "transient" and r["count"] == 3 for r in rows)'
run groups "${db[@]}" --json
ok "routine: patterns, the largest first" all exits 0 ';' json '[r["count"] for r in rows] == [3, 2, 1] and "Timeout" in rows[0]["error_class"]'
run reprocess "${db[@]}" --filter category:transient --yes --reason "the network is back" --json
ok "routine: what was transient is sent again" all exits 0 ';' json 'rows[0]["done"] == 3'
sent_by=$(operation_of)
run discard "${db[@]}" --filter class:OrderClosed --yes --reason "closed orders need nothing"
ok "routine: what is permanent is discarded" exits 0
for id in $(sql "SELECT id FROM dlq_events WHERE status = 'PENDING' ORDER BY id"); do run correct "${db[@]}" "$id" --set '$.amount=1.50' --reason "decimal comma"; done
run reprocess "${db[@]}" --filter is:edited --yes --json
ok "routine: what has wrong data is corrected, then sent" all exits 0 ';' json 'rows[0]["done"] == 2' ';' pending 0
run audit "${db[@]}" --json
ok "routine: each decision is on record" all says "closed orders need nothing" ';' says "the network is back" ';' says "decimal comma"
run report "${db[@]}" --operation "$sent_by" --form json
ok "routine: what became of it can be followed" all exits 0 ';' says "\"operation\":$sent_by"
printf '{ "order" : 1, "amount": "1,50" }' >"$work/wanted"
take $orders2 0
ok "trial: key and value go back as they were" taken_is "$work/wanted" customer-1
ok "trial: reprocess.count rises, tracing stays, headers of the failure go" all about_has reprocess.count=1 ';' about_has traceparent=00-1 ';' about_lacks dlq.
printf '{ "order" : 4, "amount": 1.50 }' >"$work/wanted"
kcat -b "$brokers" -t $orders2 -C -e -q -o beginning -X isolation.level=read_committed -f '%k %o\n' 2>/dev/null >"$work/keys"
take $orders2 "$(sed -n 's/^customer-4 //p' "$work/keys")"
ok "trial: a corrected one differs in the corrected bytes alone" taken_is "$work/wanted" customer-4
sql "DELETE FROM dlq_events" >/dev/null

# --- an entry around the message: one, all, and what fails again ---

pedidos=commands-pedidos-$$
trial_topic $pedidos
trial_topic $pedidos.dlq
entry() # ID PAYLOAD REASON ATTEMPTS
{
    printf '{"mensagem":{"id":"%s","payload":"%s","headers":{"origem":"loja"},"timestamp":"2026-11-20T10:00:00Z"},"motivoFalha":"%s","tentativasRealizadas":%s,"dataEnvioDLQ":"2026-11-20T10:00:05Z","stackTraces":["%s: try 1","%s: try 2"]}' \
        "$1" "$2" "$3" "$4" "$3" "$3" >"$work/value"
    put $pedidos.dlq "$1"
}
entry msg1 'RETRY \"x\"' 'Serviço indisponível' 3
entry msg2 INVALID 'Schema inválido' 1
entry msg3 RETRY 'Serviço indisponível' 3
run ingest "${db[@]}" --topics $pedidos.dlq --once --json
ok "trial: entries are events, with reason, attempts and all traces" all exits 0 ';' json 'rows[0]["events"] == 3' ';' \
    in_table "SELECT string_agg(event_id || ' ' || retry_count, ',' ORDER BY event_id) FROM dlq_events" 'msg1 3,msg2 1,msg3 3' ';' \
    in_table "SELECT count(*) FROM dlq_events WHERE stack_trace LIKE '%try 1%' AND stack_trace LIKE '%try 2%'" 3
run reprocess "${db[@]}" --id 999999999 --yes
ok "trial: an unknown id is told" all exits 5 ';' one_sentence
run reprocess "${db[@]}" --id "$(sql "SELECT id FROM dlq_events WHERE event_id = 'msg1'")" --yes
printf 'RETRY "x"' >"$work/wanted"
take $pedidos 0
ok "trial: one is sent, without its entry" all pending 2 ';' taken_is "$work/wanted" msg1 ';' about_has origem=loja
# It fails again, and its consumer copies the headers that it got.
entry_again() { entry "$1" 'RETRY \"x\"' 'Serviço indisponível' "$2"; }
before=$(sql "SELECT max(id) FROM dlq_events")
entry_again msg1 6
run ingest "${db[@]}" --topics $pedidos.dlq --once --json
ok "trial: what fails again is a failure of the same event, with its count raised" all json 'rows[0]["events"] == 1' ';' \
    in_table "SELECT event_id || ' ' || retry_count FROM dlq_events WHERE id > $before" "msg1 6"
run events "${db[@]}" --filter is:returned --json
ok "trial: and known as returned" all exits 0 ';' json 'len(rows) == 1 and rows[0]["event_id"] == "msg1"'
run reprocess "${db[@]}" --all --yes --json
ok "trial: all are sent" all exits 0 ';' json 'rows[0]["done"] == 3' ';' pending 0 ';' [ "$(how_many $pedidos)" = 4 ]
sql "DELETE FROM dlq_events" >/dev/null

# --- the failure within the message: a ticket of 2 MB, compressed with snappy ---

tickets=commands-tickets-$$
trial_topic $tickets
trial_topic $tickets.dlq
"$python" -S - "$work" <<'PY'
import random, sys
random.seed(7)
words = ["BUILD", "caf\\u00e9", "1.0e2", "a\\/b", "ção", "\\ud83d\\ude00", "  "]
steps = []
size = 0
while size < 1950000:
    steps.append('{ "step" : %d.0,"log":"%s" }' % (len(steps), " ".join(random.choices(words, k=20))))
    size += len(steps[-1].encode())
ticket = '{"ticket_id": "t-1", "task_type":"BUILD","steps": [' + ",\n".join(steps) + ']%s}'
failure = ', "dlq_metadata": {"original_error": "TimeoutError: no answer", "error_type": "TimeoutError", "retry_count": 3, "last_failure_timestamp": 1763596801000, "dlq_published_at": 1763596802000}'
open(sys.argv[1] + "/wanted", "wb").write((ticket % "").encode())
open(sys.argv[1] + "/value", "wb").write((ticket % failure).encode())
PY
put $tickets.dlq t-1 -z snappy
echo "consumers = { \"$tickets.dlq: key \$.ticket_id, type \$.task_type\" }" >"$work/trials.config"
mkdir -p "$work/trials.home/redrive" && mv "$work/trials.config" "$work/trials.home/redrive/config"
XDG_CONFIG_HOME=$work/trials.home run ingest "${db[@]}" --topics $tickets.dlq --group workers-dlq --once --json
ok "trial: a ticket of 2 MB is an event of its type, by its number" all exits 0 ';' json 'rows[0]["events"] == 1' ';' \
    in_table "SELECT event_id || ' ' || event_type || ' ' || retry_count || ' ' || error_message FROM dlq_events" "t-1 BUILD 3 TimeoutError: no answer"
XDG_CONFIG_HOME=$work/trials.home run reprocess "${db[@]}" --all --yes
take $tickets 0
ok "trial: there and back, byte for byte, without dlq_metadata" all exits 0 ';' [ "$(stat -c %s "$work/taken")" -gt 1900000 ] ';' taken_is "$work/wanted" t-1

# --- a format that was guessed wrongly, and put right: the events that are there already follow ---

guessed=commands-guessed-$$
trial_topic $guessed
trial_topic $guessed.dlq
failure='"dlq_metadata": {"original_error": "TimeoutError: no answer", "error_type": "TimeoutError", "retry_count": 3}'
for n in 1 2 3; do
    printf '{"ticket_id": "g-%s", "task_type": "BUILD", %s}' $n "$failure" >"$work/value"
    put $guessed.dlq "g-$n"
done
printf '{"ticket_id": "g-3", "task_type": "TEST", %s}' "$failure" >"$work/value"
put $guessed.dlq g-3
guess_is() { echo "consumers = { \"$guessed.dlq: $1\" }" >"$work/trials.home/redrive/config"; }
events_are() { in_table "SELECT string_agg(concat_ws(' ', event_id, event_type, retry_count, error_message), '|' ORDER BY id) FROM dlq_events WHERE status = 'PENDING'" "$1"; }
guess_is 'format unknown'
XDG_CONFIG_HOME=$work/trials.home run ingest "${db[@]}" --topics $guessed.dlq --group workers-dlq --once --json
said="$guessed 0 $guessed.dlq says no error (format unknown)"
wrong="$guessed.dlq/0/0 $said|$guessed.dlq/0/1 $said|$guessed.dlq/0/2 $said|$guessed.dlq/0/3 $said"
ok "wrong guess: the rows are what it says" all exits 0 ';' json 'rows[0]["events"] == 4' ';' events_are "$wrong"
run groups "${db[@]}" --json
ok "wrong guess: and so is their group" all exits 0 ';' json '[(r["count"], "says no error" in r["error"]) for r in rows] == [(4, True)]'
id=$(sql "SELECT id FROM dlq_events WHERE event_id = '$guessed.dlq/0/1'")
run correct "${db[@]}" "$id" --set '$.ticket_id="mine"'
guess_is 'key $.ticket_id, type $.task_type'
again() { XDG_CONFIG_HOME=$work/trials.home run ingest "${db[@]}" --decode-again "$@"; }
again $guessed.dlq --dry-run --json
ok "decode again: a dry run counts and changes nothing" all exits 1 ';' \
    json 'rows[0] == {"topic": "'$guessed.dlq'", "decoded": 2, "unchanged": 0, "corrected": 1, "busy": 0, "split": 0, "taken": 1, "refused": 0, "closed": 0, "attempts": 0, "attempts_split": 0, "is_dry": True}' ';' \
    events_are "$wrong"
if [ "$(strings -a "$REDRIVE" | grep -c '^decode-again-taken$')" -gt 0 ]; then
    REDRIVE_KILL=decode-again-taken:1 again $guessed.dlq
    ok "decode again: killed in a page, all of it is as it was" all exits 137 ';' events_are "$wrong"
else
    skip "decode again: killed in a page, all of it is as it was" "the program has no kill points"
fi
again $guessed.dlq
right='3 TimeoutError: no answer'
mended="g-1 BUILD $right|$guessed.dlq/0/1 $said|g-3 BUILD $right|$guessed.dlq/0/3 $said"
ok "decode again: rows get what the setting says; what somebody corrected, and a second of one key, stay" all exits 1 ';' \
    warns "decoded 2 pending events of $guessed.dlq again; 0 are unchanged" ';' warns '1 left out: somebody corrected them' ';' \
    warns '1 left out: they would be events that are pending already' ';' events_are "$mended"
run groups "${db[@]}" --json
ok "decode again: their group follows" all exits 0 ';' json 'sorted((r["count"], r["error_class"] or "") for r in rows) == [(2, ""), (2, "TimeoutError")]'
again $guessed.dlq --json
ok "decode again: a second time nothing is left to do" all exits 1 ';' json 'rows[0]["decoded"] == 0 and rows[0]["unchanged"] == 2' ';' events_are "$mended"
run audit "${db[@]}" --json
ok "decode again: the audit has it" json '[r["events"] for r in rows if r["action"] == "decode again"] == [2]'
again no-such-topic
ok "decode again: a topic that was never read is told" all exits 5 ';' warns 'has never read a topic no-such-topic'
again
ok "decode again: it wants a topic" all exits 2 ';' warns '--decode-again TOPIC'
run reprocess "${db[@]}" --id "$(sql "SELECT id FROM dlq_events WHERE event_id = 'g-1'")" --yes
take $guessed 0
printf '{"ticket_id": "g-1", "task_type": "BUILD"}' >"$work/wanted"
ok "decode again: what is sent is the original, without dlq_metadata" all exits 0 ';' taken_is "$work/wanted" g-1

# The same for a retry chain: the event came from the retry topic, and its traces from both.
chain=commands-chain-$$
trial_topic ${chain}_retry
trial_topic ${chain}_dlq
for try in 1 2; do
    printf '{"ticket_id": "c-1", "dlq_metadata": {"original_error": "TimeoutError: try %s", "error_type": "TimeoutError", "retry_count": %s}}' $try $try >"$work/value"
    put ${chain}_retry c-1
done
printf '{"ticket_id": "c-1", "dlq_metadata": {"original_error": "TimeoutError: the last", "error_type": "TimeoutError", "retry_count": 3}}' >"$work/value"
put ${chain}_dlq c-1
chain_is() { printf 'consumers = { "%s_retry: key $.ticket_id%s", "%s_dlq: key $.ticket_id%s" }\n' $chain "$1" $chain "$2" >"$work/trials.home/redrive/config"; }
chain_is ', of tickets, format unknown' ', of tickets, format unknown'
XDG_CONFIG_HOME=$work/trials.home run ingest "${db[@]}" --topics ${chain}_retry --once
XDG_CONFIG_HOME=$work/trials.home run ingest "${db[@]}" --topics ${chain}_dlq --once --json
ok "retry chain: one event with further dead letters" json '(rows[0]["events"], rows[0]["attempts"]) == (0, 1)'
traces() { in_table "SELECT string_agg(regexp_replace(t, '.*(no error|try .|the last).*', '\1'), '|' ORDER BY n) FROM (SELECT 0 AS n, e.error_message AS t FROM dlq_events e
    WHERE e.event_id = 'c-1' UNION ALL SELECT 1 + row_number() OVER (ORDER BY a.topic DESC, a.\"offset\"), a.error_message FROM redrive.attempt a JOIN dlq_events e
    ON e.id = a.dlq_id AND e.event_id = 'c-1') x" "$1"; }
ok "retry chain: a wrong guess hides all traces" traces 'no error|no error|no error'
chain_is ', of tickets' ', of tickets, format unknown'
again ${chain}_retry --json
ok "retry chain: decoded again, those of the topic that was put right are there" all exits 0 ';' json 'rows[0]["decoded"] == 1 and rows[0]["attempts"] == 1' ';' \
    traces 'try 1|try 2|no error'
chain_is ', of tickets' ', of tickets'
again ${chain}_dlq
ok "retry chain: and those of a topic whose events came from another one" all exits 0 ';' warns 'decoded 1 further dead letters' ';' traces 'try 1|try 2|the last'
again ${chain}_dlq --json
ok "retry chain: a second time nothing is left to do" all exits 0 ';' json 'rows[0]["decoded"] == 0 and rows[0]["attempts"] == 0'

# --- share groups: dead letters that only point at what failed ---

sql "DELETE FROM dlq_events" >/dev/null
shared=commands-shared-$$
trial_topic $shared
trial_topic dlq.$shared
for n in 0 1; do
    printf '{ "order" : %s, "amount": 1.00 }' $n >"$work/value"
    put $shared "customer-$n" -H traceparent=00-$n
done
# Without key and value, as a share group writes them unless it is told to copy.
points_at() { echo '|' | kcat -b "$brokers" -t dlq.$shared -P -Z -K '|' -q -H __dlq.errors.topic=$shared -H __dlq.errors.partition=0 \
    -H "__dlq.errors.offset=$1" -H __dlq.errors.group=billing -H "__dlq.errors.message=rejected by client"; }
for n in 0 1 7; do points_at $n; done
run ingest "${db[@]}" --topics dlq.$shared --once --json
ok "pointers: dead letters are events, with their originals where Kafka has them" all exits 0 ';' \
    json 'rows[0]["events"] == 3 and rows[0]["originals"] == {"fetched": 2, "gone": 1, "waiting": 0}'
run groups "${db[@]}" --by '$.order' --json
ok "pointers: groups by a path of the original" json 'sorted((r["group"], r["count"]) for r in rows if r["group"]) >= [("0", 1), ("1", 1)]'
run events "${db[@]}" --filter '$.order=1 header:traceparent=00-1 payload:amount' --json
ok "pointers: a filter finds one by what its original says" all exits 0 ';' json 'len(rows) == 1 and rows[0]["key"] == "customer-1"'
id=$(sql "SELECT id FROM dlq_events WHERE kafka_offset = 1")
run show "${db[@]}" "$id"
ok "pointers: its page says that the original was fetched" says "fetched from $shared, partition 0, offset 1"
run show "${db[@]}" "$id" --json
ok "pointers: and has both records apart" json 'rows[0]["original"]["state"] == "fetched" and rows[0]["original"]["key"] == "customer-1" and rows[0]["key"] is None and rows[0]["payload"] == "{ \"order\" : 1, \"amount\": 1.00 }" and rows[0]["would_send"]["exact"]'
gone=$(sql "SELECT id FROM dlq_events WHERE kafka_offset = 7")
run show "${db[@]}" "$gone"
ok "pointers: or that it is gone, and why" says "gone from $shared, partition 0, offset 7: the partition does not reach that far"
run export "${db[@]}" --queue dlq.$shared -o "$work/pointers.jsonl"
XDG_CONFIG_HOME=$work/trials.home run ingest "${db[@]}" --decode-again dlq.$shared --json
ok "pointers: decoded again, they keep what their originals say" json 'rows[0]["decoded"] == 0 and rows[0]["unchanged"] == 3'
run reprocess "${db[@]}" --all --yes --json
ok "pointers: the one that is gone is refused" all exits 1 ';' json '(rows[0]["done"], rows[0]["refused"]) == (2, 1)' ';' pending 1
printf '{ "order" : 1, "amount": 1.00 }' >"$work/wanted"
kcat -b "$brokers" -t $shared -C -e -q -o 2 -X isolation.level=read_committed -f '%k %o\n' 2>/dev/null >"$work/keys"
take $shared "$(sed -n 's/^customer-1 //p' "$work/keys")"
ok "pointers: the original is sent, byte for byte" all taken_is "$work/wanted" customer-1 ';' about_has traceparent=00-1 ';' about_lacks __dlq.
# What export wrote comes back: dead letters and originals.
pointers_kept="SELECT string_agg(concat_ws('|', e.event_id, e.event_payload, r.value IS NULL, r.crc32c, o.state, o.topic, o.partition, o.\"offset\", o.why, o.\"timestamp\",
    o.key, o.value, o.header_names, o.header_values, o.crc32c), E'\n' ORDER BY e.id) FROM dlq_events e JOIN redrive.record r ON r.dlq_id = e.id
    JOIN redrive.original o ON o.dlq_id = e.id WHERE e.kafka_topic = '$shared' AND e.kafka_offset < 2"
sql "$pointers_kept" >"$work/wanted"
sql "DELETE FROM dlq_events; DELETE FROM redrive.record; DELETE FROM redrive.original" >/dev/null
run import "$work/pointers.jsonl" "${db[@]}" --json
ok "pointers: an export comes back with both" all exits 0 ';' json 'rows[0]["inserted"] == 3' ';' diff <(sql "$pointers_kept") "$work/wanted"
sql "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = '2020-01-01'" >/dev/null
run purge "${db[@]}" --older-than 90d --without-archive --yes
ok "pointers: what is purged leaves no original" all exits 0 ';' in_table "SELECT (SELECT count(*) FROM dlq_events) + (SELECT count(*) FROM redrive.original)" 0

PG=$whole
db=("${whole_db[@]}")
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS $trials WITH (FORCE)" >/dev/null 2>&1
