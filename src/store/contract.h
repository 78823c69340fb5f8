// contract: the columns of the table of dead letters that redrive knows. Private to src/store.
//
// A statement names these columns and never uses e.*: the table may have further columns, which a role need
// not be allowed to read.
#ifndef REDRIVE_STORE_CONTRACT_H
#define REDRIVE_STORE_CONTRACT_H

// For a table with the alias e.
#define CONTRACT_COLUMNS                                                                                     \
    "e.id, e.event_id, e.event_type, e.source_table, e.source_id, e.event_payload, e.error_message, "        \
    "e.stack_trace, e.retry_count, e.max_retries, e.status, e.created_at, e.last_retry_at, e.resolved_at, "  \
    "e.resolved_by, e.kafka_offset, e.kafka_partition, e.kafka_topic, e.correlation_id"

#define CONTRACT_NAMES                                                                                       \
    "'{id,event_id,event_type,source_table,source_id,event_payload,error_message,stack_trace,retry_count,"   \
    "max_retries,status,created_at,last_retry_at,resolved_at,resolved_by,kafka_offset,kafka_partition,"      \
    "kafka_topic,correlation_id}'::name[]"

// May this session read all these columns? For pg_class t.
#define CONTRACT_MAY_READ                                                                                    \
    "(pg_catalog.has_table_privilege(t.oid, 'SELECT') OR NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a"  \
    " WHERE a.attrelid = t.oid AND NOT a.attisdropped AND a.attname = ANY (" CONTRACT_NAMES ")"              \
    " AND NOT pg_catalog.has_column_privilege(t.oid, a.attnum, 'SELECT')))"

#endif
