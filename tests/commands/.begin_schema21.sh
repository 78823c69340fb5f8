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

