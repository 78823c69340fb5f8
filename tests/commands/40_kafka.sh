# What needs a real Kafka: reprocess, doctor's probe, the original record.

brokers=${REDRIVE_TEST_KAFKA-}
topic_tool=${REDRIVE_TEST_BUILD-}/tests/tools/topic
if [ -z "$brokers" ] || [ ! -x "$topic_tool" ] || ! command -v kcat >/dev/null; then
    skip "reprocess on a real Kafka" "REDRIVE_TEST_KAFKA, tests/tools/topic or kcat is missing"
    return 0
fi

db=(-d "$PG" -b "$brokers")
orders=commands-orders-$$ # tests of other layers use the same broker
"$topic_tool" "$brokers" "$orders" 4
consumed() { kcat -b "$brokers" -t "$1" -C -e -q -o beginning -X isolation.level=read_committed -f "$2" 2>/dev/null; }
sql "UPDATE dlq_events SET status = 'PENDING', resolved_at = NULL, resolved_by = NULL" >/dev/null
sql "UPDATE dlq_events SET kafka_topic = '$orders' WHERE id <= 1000" >/dev/null

run doctor "${db[@]}" --json
ok "doctor finds out what the cluster can promise" json 'any(r["part"] == "kafka" and "exactly once" in r["finding"] for r in rows)'

run reprocess "${db[@]}" --filter id:401..420 --yes --json
ok "reprocess: the line at the end" all exits 0 ';' names "${result[@]}" ';' json 'rows[0]["action"] == "reprocess" and rows[0]["state"] == "done" and rows[0]["done"] == 20'
sent_no=$(operation_of)
consumed "$orders" '%k\n' | sort -t- -k2 -n >"$work/keys"
ok "a consumer has each once" diff -q "$work/keys" <(seq -f 'c-%g' 401 420)
consumed "$orders" '%p %k\n' >"$work/partitions"
ok "in the partition it came from" eval '[ "$(grep -c . "$work/partitions")" = 20 ] && ! awk "{ split(\$2, key, \"-\"); if (\$1 != key[2] % 4) print }" "$work/partitions" | grep -q .'
consumed "$orders" '%h\n' >"$work/headers"
ok "with headers that name it" eval 'grep -q "redrive-event-id=401," "$work/headers" && grep -q "reprocess.count=1" "$work/headers"'
ok "and it is resolved" in_table "SELECT count(*) FROM dlq_events WHERE id BETWEEN 401 AND 420 AND status = 'RESOLVED' AND resolved_by = session_user AND retry_count = 1" 20
run reprocess "${db[@]}" --filter id:401..420 --yes
ok "again finds nothing" exits 5
# Three fail again, and neither a worker nor a screen is there to see it.
sql "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, kafka_topic)
     SELECT event_id, event_type, event_payload, 'failed again', kafka_topic FROM dlq_events WHERE id BETWEEN 401 AND 403" >/dev/null
sql "DO \$\$ DECLARE g text; BEGIN FOR g IN SELECT redrive.grants('redrive_poor_$$', 'viewer') LOOP EXECUTE g; END LOOP; END \$\$" >/dev/null
run operation -d "$PG user=redrive_poor_$$" "$sent_no" --json
ok "whoever may not look says when somebody looked last" all warns "no worker looks for them" ';' json 'rows[0]["returned"] == 0'
run operation "${db[@]}" "$sent_no" --json
ok "operation N looks itself for what returned" all exits 1 ';' json 'rows[0]["returned"] == 3' ';' not warns "no worker looks"
sql "DELETE FROM redrive.returned; DELETE FROM dlq_events WHERE error_message = 'failed again'" >/dev/null

# Kafka's answers about topics, which worker_topics.c also keeps for screens that have no Kafka.
sql "UPDATE dlq_events SET kafka_topic = NULL WHERE id = 430; UPDATE dlq_events SET kafka_topic = 'commands-missing-$$' WHERE id = 431" >/dev/null
run reprocess "${db[@]}" --filter id:430..434 --dry-run --json
ok "--dry-run asks Kafka whether the topics exist" all exits 1 ';' json 'rows[0]["total"] == 5 and rows[0]["refused"] == 2' ';' \
    warns "the topic commands-missing-$$ does not exist" ';' warns "$orders (3)"
run reprocess "${db[@]}" --filter id:432..434 --to "nowhere.$$" --dry-run --json
ok "and whether the one of --to does" all exits 1 ';' json 'rows[0]["total"] == 3 and rows[0]["refused"] == 3' ';' warns "the topic nowhere.$$ does not exist"
run reprocess -d "$PG" --filter id:432..434 --dry-run
ok "without Kafka it says that nobody asked" all exits 0 ';' warns "nobody asked Kafka yet"
run reprocess "${db[@]}" --filter id:430..434 --yes --json
ok "no topic and a missing topic fail their own rows only" all exits 1 ';' json 'rows[0]["done"] == 3 and rows[0]["refused"] == 2 and rows[0]["total"] == 5' ';' \
    warns "refused" ';' in_table "SELECT string_agg(id::text, ',' ORDER BY id) FROM dlq_events WHERE id BETWEEN 430 AND 434 AND status = 'PENDING'" 430,431
run reprocess "${db[@]}" --id 430 --to "$orders" --yes --json
ok "--to names another topic" all exits 0 ';' json 'rows[0]["done"] == 1'
run show "${db[@]}" 431 --json
ok "show says why it would be refused, or where it would go" json 'rows[0]["would_send"]["topic"] == "commands-missing-'$$'"'

# What a dry run counts is what becomes of it: rows of every fate, chosen at random.
sql "UPDATE dlq_events SET kafka_partition = 9 WHERE id BETWEEN 820 AND 825; UPDATE dlq_events SET kafka_topic = '$orders.dlq' WHERE id BETWEEN 826 AND 831;
     UPDATE dlq_events SET kafka_topic = NULL WHERE id BETWEEN 832 AND 835; UPDATE dlq_events SET kafka_topic = 'commands-missing-$$' WHERE id BETWEEN 836 AND 840;
     UPDATE dlq_events SET event_payload = jsonb_build_object('a', repeat('x', 1200000)) WHERE id BETWEEN 841 AND 844;
     UPDATE dlq_events e SET kafka_partition = 1, kafka_offset = 7, kafka_topic = '$orders', event_id = 'twice' WHERE id BETWEEN 845 AND 848" >/dev/null
run discard -d "$PG" --filter id:849..851 --detach --yes # waits, and has them
differ=
for _ in $(seq 8); do
    chosen=$(sql "SELECT string_agg('--id ' || id, ' ') FROM (SELECT id FROM dlq_events WHERE id BETWEEN 815 AND 860 ORDER BY random() LIMIT 12) AS picked")
    # shellcheck disable=SC2086 # options
    run reprocess "${db[@]}" $chosen --dry-run --json
    promised=$("$python" -c 'import json,sys; r=json.load(sys.stdin); print(r["total"], r["refused"], r["skipped"], r["total"]-r["refused"]-r["skipped"])' <<<"$out")
    # shellcheck disable=SC2086
    run reprocess "${db[@]}" $chosen --yes --json
    done=$("$python" -c 'import json,sys; r=json.load(sys.stdin); print(r["total"], r["refused"], r["skipped"], r["done"])' <<<"$out")
    [ -n "$promised" ] && [ "$promised" = "$done" ] || differ="$differ [$chosen: $promised became $done]"
    sql "UPDATE dlq_events SET status = 'PENDING', resolved_at = NULL, resolved_by = NULL WHERE id BETWEEN 815 AND 848" >/dev/null
done
ok "what a dry run counts is what becomes of it" eval '[ -z "$differ" ] || { echo "# $differ"; false; }'
run work "${db[@]}" --once --quiet
sql "UPDATE dlq_events SET status = 'PENDING', resolved_at = NULL, resolved_by = NULL, kafka_topic = '$orders', kafka_partition = id % 4 WHERE id BETWEEN 815 AND 860" >/dev/null

# Both carried out by one worker: whatever waits, of whomever.
run resolve "${db[@]}" --id 440 --detach --yes
run reprocess "${db[@]}" --id 441 --yes --json
ok "a worker carries out whatever waits" all exits 0 ';' in_table "SELECT count(*) FROM dlq_events WHERE id IN (440, 441) AND status = 'RESOLVED'" 2

# A chunk in doubt is searched for by its time, so nothing is sent from a host that has another.
REDRIVE_NOW=2020-01-01T00:00:00Z run reprocess "${db[@]}" --id 442 --yes
ok "a host whose clock is far off publishes nothing" all not exits 0 ';' warns "this host's clock is" ';' warns NTP ';' in_table "SELECT status FROM dlq_events WHERE id = 442" PENDING
run operation "${db[@]}" "$(sql 'SELECT max(no) FROM redrive.operation')" cancel

# Rate 0: nothing is sent; an interrupt ends the foreground, a new rate lets a worker go on.
ran="redrive reprocess --rate 0, interrupted"
"$REDRIVE" reprocess "${db[@]}" --filter id:450..454 --rate 0 --yes --json >"$work/out" 2>"$work/err" &
sender=$!
until [ "$(sql "SELECT count(*) FROM redrive.worker WHERE note <> 'starting'")" != 0 ] || ! kill -0 $sender 2>/dev/null; do sleep 0.1; done
sleep 1
kill -INT $sender
status=0
wait $sender || status=$?
out=$(<"$work/out") err=$(<"$work/err")
ok "--rate 0 sends nothing, an interrupt leaves it to the next worker" all exits 130 ';' in_table "SELECT count(*) FROM dlq_events WHERE id BETWEEN 450 AND 454 AND status = 'PENDING'" 5 ';' one_sentence
held=$(sql 'SELECT max(no) FROM redrive.operation')
run operation "${db[@]}" "$held" rate none
run work "${db[@]}" --once --quiet
ok "with a rate it goes on" all exits 0 ';' in_table "SELECT count(*) FROM dlq_events WHERE id BETWEEN 450 AND 454 AND status = 'RESOLVED'" 5

# The original record: its bytes when it is this event's, never a stranger's.
printf 'c-460\t{"n":460,  "amount":690.0}\nc-461\t{"somebody": "else"}\n' | kcat -b "$brokers" -t "$orders" -p 3 -P -K '\t' -q 2>/dev/null
offset=$(kcat -b "$brokers" -Q -t "$orders:3:-1" 2>/dev/null | sed -n 's/.*offset \([0-9]*\).*/\1/p')
sql "UPDATE dlq_events SET kafka_partition = 3, kafka_offset = $offset - 2 WHERE id = 460; UPDATE dlq_events SET kafka_partition = 3, kafka_offset = $offset - 1 WHERE id = 461" >/dev/null
run show "${db[@]}" 460 --as-sent
ok "--as-sent is the original record, byte for byte" all exits 0 ';' eval '[ "$out" = "{\"n\":460,  \"amount\":690.0}" ]' ';' silent
run show "${db[@]}" 460 --json
ok "and called exact" json 'rows[0]["would_send"]["exact"] is True and rows[0]["would_send"]["key"] == "c-460"'
run show "${db[@]}" 461 --as-sent
ok "a stranger at the old offset is not believed" all exits 0 ';' eval '[ "$out" = "{\"n\": 461, \"amount\": 691.5}" ]' ';' warns "not byte for byte"

# A queue whose messages keep their own error and count: they are reset and go to the topic that they name, without a word of where.
sql "INSERT INTO dlq_events (id, event_id, event_type, event_payload, error_message, kafka_topic)
     SELECT 90000 + n, 'm-' || n, 'order', jsonb_build_object('message_id', 'm-' || n, 'queue', '$orders', 'data', n, 'error',
            jsonb_build_object('message', 'refused'), 'retry_count', 5), 'refused', 'commands-failed-$$.dlq' FROM generate_series(1, 3) AS n" >/dev/null
run reprocess "${db[@]}" --queue "commands-failed-$$.dlq" --yes --json
ok "reprocess --queue: its messages, all of them" all exits 0 ';' json 'rows[0]["done"] == 3 == rows[0]["total"]'
reset=$(kcat -b "$brokers" -C -t "$orders" -e -q -f '%s\n' 2>/dev/null | grep -c '"error": null.*"message_id": "m-.*"retry_count": 0')
ok "are in their own queue, reset" eval '[ "$reset" = 3 ]'
run reprocess "${db[@]}" --queue "commands-failed-$$.dlq" --yes
ok "and the queue is empty" all exits 5 ';' one_sentence
sql "DELETE FROM dlq_events WHERE id > 90000" >/dev/null

# Newer records of the same key: of c-470 one, of c-471 none.
newer=commands-newer-$$
"$topic_tool" "$brokers" "$newer" 1
printf 'c-470\t{}\nc-471\t{}\nc-470\t{"n": 2}\n' | kcat -b "$brokers" -t "$newer" -p 0 -P -K '\t' -q 2>/dev/null
sql "UPDATE dlq_events SET kafka_topic = '$newer', kafka_partition = 0, kafka_offset = id - 470, created_at = localtimestamp WHERE id IN (470, 471);
     UPDATE dlq_events SET kafka_topic = '$newer', kafka_partition = NULL WHERE id = 472" >/dev/null
run reprocess "${db[@]}" --filter id:470..472 --dry-run
ok "newer records are looked for on request" all exits 0 ';' not warns "newer records"
run reprocess "${db[@]}" --filter id:470..472 --check-newer --dry-run
ok "--check-newer says which keys have some, and of what it cannot be told" all exits 0 ';' warns "1 has newer records of the same key" ';' warns "key: c-470 (" ';' \
    warns "1 unknown: does not say where its record was"
mkdir -p "$work/config/redrive"
printf 'consumers = { "%s: check-newer" }\n' "$newer" >"$work/config/redrive/config"
run reprocess "${db[@]}" --filter id:470..472 --dry-run
rm "$work/config/redrive/config"
ok "the setting consumers asks for a topic" warns "1 has newer records of the same key"
run reprocess "${db[@]}" --filter id:470..472 --skip-stale --dry-run --each --json
ok "--skip-stale leaves these out, and names them with --each" all exits 0 ';' json 'rows[0]["id"] == 470 and rows[0]["outcome"] == "stale"' ';' \
    json 'rows[1]["stale"] == 1 and rows[1]["keys"] == 1 and rows[1]["untold"] == 1 and rows[1]["cut"] is None and rows[1]["records"] == 3' ';' json 'rows[2]["total"] == 2'
run reprocess "${db[@]}" --id 470 --skip-stale --yes
ok "with nothing left to send" all exits 5 ';' warns "every chosen event has newer records of its key"
run reprocess -d "$PG" --id 471 --check-newer --dry-run
ok "without Kafka and worker it says so" all exits 3 ';' warns "no worker that publishes is alive"
run reprocess "${db[@]}" --filter id:470..472 --skip-stale --confirm 2 --json
ok "the others are sent" all exits 0 ';' json 'rows[0]["done"] == 2' ';' in_table "SELECT string_agg(id::text, ',') FROM dlq_events WHERE id BETWEEN 470 AND 472 AND status = 'PENDING'" 470

# Dead letters where they are.
letters=commands-letters-$$-dlq
"$topic_tool" "$brokers" "$letters" 1
echo 'c-1:{"id": 1.0, "dlq_metadata": {"error_type": "First"}}' | kcat -b "$brokers" -t "$letters" -P -K: -q
echo 'c-2:{"id": 1.0}' | kcat -b "$brokers" -t "$letters" -P -K: -q -H kafka_dlt-original-topic=orders -H kafka_dlt-exception-fqcn=com.acme.Second
run ingest -b "$brokers" --explain "$letters"
ok "the newest dead letter of a topic" all exits 0 ';' says "$letters/0/1  spring-dlt" ';' says com.acme.Second ';' says c-2 ';' not says First
run ingest -b "$brokers" --explain "$letters:0:0"
ok "a dead letter at its place" all exits 0 ';' says "$letters/0/0  dlq-metadata" ';' says '{"id": 1.0}' ';' says "commands-letters-$$, by the name"
run ingest -b "$brokers" --explain "$letters:0:7"
ok "a place without a record" all exits 5 ';' one_sentence
run ingest -b "$brokers" --explain "$letters:3"
ok "a partition that does not exist" all exits 5 ';' warns 'it has 1'

# Dead letters taken in: what there is, once, and not twice.
run ingest "${db[@]}" --topics "$letters" --dry-run
ok "what there is to take in, by topic and format" all exits 0 ';' says "$letters" ';' says spring-dlt ';' says dlq-metadata ';' in_table "SELECT count(*) FROM redrive.record WHERE topic = '$letters'" 0
run ingest "${db[@]}" --topics "$letters" --once --json
ok "taken in" all exits 0 ';' json 'rows[0]["events"] == 2 and rows[0]["alarms"] == 0' ';' \
    in_table "SELECT string_agg(format || ' ' || \"offset\", ', ' ORDER BY \"offset\") FROM redrive.record WHERE topic = '$letters'" 'dlq-metadata 0, spring-dlt 1'
run ingest "${db[@]}" --pattern "commands-letters-$$-.*" --once
ok "not taken in twice" all exits 0 ';' warns 'took in 0 dead letters'
run ingest "${db[@]}" --topics nothing-dlq --once
ok "a topic that does not exist" all exits 5 ';' warns 'no topic nothing-dlq'
run ingest "${db[@]}" --topics 'no/name' --once
ok "what is no name of a topic" all exits 2 ';' one_sentence
run ingest "${db[@]}" --pattern '(' --once
ok "what is no pattern" all exits 2 ';' one_sentence
"$REDRIVE" ingest "${db[@]}" --topics "$letters" >"$work/out" 2>"$work/err" &
ingester=$!
echo 'c-3:{"id": 3, "dlq_metadata": {"error_type": "Third"}}' | kcat -b "$brokers" -t "$letters" -P -K: -q
until [ "$(sql "SELECT count(*) FROM redrive.record WHERE topic = '$letters'")" = 3 ] || ! kill -0 $ingester 2>/dev/null; do sleep 0.1; done
kill -TERM $ingester
wait $ingester
ok "a service takes in what comes, and ends in order" [ $? -eq 0 ]
