#include "store/events/reader.h"

#include <string.h>
#include "base/utf8.h"
#include "core/fingerprint/fingerprint.h"
#include "store/events/unreadable.h"

enum kind {
    COLUMN_BYTES,
    COLUMN_STATUS,
    COLUMN_TIME,
    COLUMN_INT4,
    COLUMN_INT8,
    COLUMN_BOOL,
    COLUMN_HEADER_NAMES,
    COLUMN_HEADER_VALUES,
    COLUMN_PARTS,
};

// Where a column goes. Casts to the contract's types cost nothing where the column has that type, and keep
// the binary form true where its owner widened it.
#define AT(member) offsetof(struct event, member)
static const struct reader_column {
    unsigned fields; // read when one of these is asked for
    bool ours;       // needs the schema redrive
    struct query_piece sql;
    enum kind kind;
    size_t at;
    size_t flag; // a bool that says it is not NULL; 0: none
} columns[] = {
    {EVENT_NARROW | EVENT_COUNTED | EVENT_SENT | EVENT_TYPED, false, PIECE_ROW("e.event_type::text"),
     COLUMN_BYTES, AT(event_type), 0},
    {EVENT_NARROW | EVENT_COUNTED, false, PIECE_ROW("e.source_table::text"), COLUMN_BYTES, AT(source_table),
     0},
    {EVENT_NARROW | EVENT_COUNTED | EVENT_SENT | EVENT_PLACED, false, PIECE_ROW("e.kafka_topic::text"),
     COLUMN_BYTES, AT(topic), 0},
    {EVENT_NARROW | EVENT_COUNTED | EVENT_BARE, false, PIECE_ROW("e.status::text"), COLUMN_STATUS,
     AT(status_text), 0},
    {EVENT_NARROW | EVENT_COUNTED, false, PIECE_ROW("e.retry_count::int4"), COLUMN_INT4, AT(retries.count),
     0},
    {EVENT_NARROW | EVENT_COUNTED | EVENT_BARE, false, PIECE_ROW("e.created_at::timestamp"), COLUMN_TIME,
     AT(created_wall), 0},
    {EVENT_NARROW | EVENT_COUNTED | EVENT_SENT, false,
     PIECE_ROW("e.created_at::timestamp AT TIME ZONE :zone"), COLUMN_TIME, AT(created_at), 0},
    {EVENT_NARROW | EVENT_SENT, false, PIECE_ROW("e.event_id::text"), COLUMN_BYTES, AT(event_id), 0},
    {EVENT_NARROW | EVENT_SENT | EVENT_KEYED, false, PIECE_ROW("e.source_id::text"), COLUMN_BYTES,
     AT(source_id), 0},
    {EVENT_NARROW, false, PIECE_ROW("e.correlation_id::text"), COLUMN_BYTES, AT(correlation_id), 0},
    {EVENT_NARROW, false, PIECE_ROW("e.resolved_by::text"), COLUMN_BYTES, AT(closed.by), 0},
    {EVENT_NARROW, false, PIECE_ROW("e.max_retries::int4"), COLUMN_INT4, AT(retries.max), 0},
    {EVENT_NARROW | EVENT_SENT | EVENT_PLACED, false, PIECE_ROW("e.kafka_partition::int4"), COLUMN_INT4,
     AT(origin.partition), AT(origin.has_partition)},
    {EVENT_NARROW | EVENT_SENT | EVENT_PLACED, false, PIECE_ROW("e.kafka_offset::int8"), COLUMN_INT8,
     AT(origin.offset), AT(origin.has_offset)},
    {EVENT_NARROW, false, PIECE_ROW("e.last_retry_at::timestamp AT TIME ZONE :zone"), COLUMN_TIME,
     AT(retries.last_at), 0},
    {EVENT_NARROW, false, PIECE_ROW("e.resolved_at::timestamp AT TIME ZONE :zone"), COLUMN_TIME,
     AT(closed.at), 0},
    {EVENT_KNOWN, true, PIECE_ROW("live.operation_no"), COLUMN_INT8, AT(known.operation), 0},
    {EVENT_KNOWN, true, PIECE_ROW("(SELECT count(*) FROM redrive.revision r WHERE r.dlq_id = e.id)::int4"),
     COLUMN_INT4, AT(known.revisions), 0},
    {EVENT_SENT | EVENT_EDITED, true, PIECE_ROW("coalesce(revised.no, 0)"), COLUMN_INT4, AT(known.revisions),
     0}, // numbered from 1
    {EVENT_KNOWN, true, PIECE_ROW("coalesce(history.published, 0)"), COLUMN_INT4, AT(known.published), 0},
    {EVENT_KNOWN, true, PIECE_ROW("greatest(history.returned, returned.times)"), COLUMN_INT4,
     AT(known.returned), 0},
    {EVENT_KNOWN, true, PIECE_ROW("returned.operation_no"), COLUMN_INT8, AT(known.returned_from), 0},
    {EVENT_KNOWN, true, PIECE_ROW("coalesce(returned.sent_id, returned.dlq_id)"), COLUMN_INT8,
     AT(known.returned_id), 0},
    {EVENT_NARROW | EVENT_RAW | EVENT_SENT | EVENT_EDITED, true, PIECE_ROW("raw.dlq_id IS NOT NULL"),
     COLUMN_BOOL, AT(record.is_kept), 0},
    {EVENT_NARROW | EVENT_RAW, true, PIECE_ROW("raw.format"), COLUMN_BYTES, AT(record.format), 0},
    {EVENT_NARROW | EVENT_RAW, true, PIECE_ROW("raw.consumer"), COLUMN_BYTES, AT(record.consumer), 0},
    {EVENT_NARROW | EVENT_RAW, true, PIECE_ROW("raw.topic"), COLUMN_BYTES, AT(record.topic), 0},
    {EVENT_NARROW | EVENT_RAW, true, PIECE_ROW("raw.queue"), COLUMN_BYTES, AT(record.queue), 0},
    {EVENT_RAW, true, PIECE_ROW("raw.partition"), COLUMN_INT4, AT(record.partition), 0},
    {EVENT_RAW, true, PIECE_ROW("raw.\"offset\""), COLUMN_INT8, AT(record.offset), 0},
    {EVENT_RAW, true, PIECE_ROW("raw.\"timestamp\""), COLUMN_TIME, AT(record.timestamp), 0},
    {EVENT_RAW, true, PIECE_ROW("raw.key"), COLUMN_BYTES, AT(record.key), 0},
    {EVENT_RAW, true, PIECE_ROW("raw.header_names"), COLUMN_HEADER_NAMES, AT(record.headers), 0},
    {EVENT_RAW, true, PIECE_ROW("raw.header_values"), COLUMN_HEADER_VALUES, AT(record.headers), 0},
    {EVENT_RAW, true, PIECE_ROW("raw.cluster"), COLUMN_BYTES, AT(record.cluster), 0},
    {EVENT_RAW, true, PIECE_ROW("raw.generation"), COLUMN_INT4, AT(record.generation), 0},
    {EVENT_RAW, true, PIECE_ROW("raw.failed_at"), COLUMN_TIME, AT(record.failed_at), 0},
    {EVENT_RAW, true, PIECE_ROW("raw.identity"), COLUMN_INT8, AT(record.identity), 0},
    {EVENT_RAW, true, PIECE_ROW("raw.crc32c"), COLUMN_INT8, AT(record.crc), 0},
    {EVENT_RAW, true, PIECE_ROW(EVENT_ORIGINAL_STATE("original")), COLUMN_INT4, AT(record.original.state), 0},
    {EVENT_RAW, true, PIECE_ROW("original.why"), COLUMN_BYTES, AT(record.original.why), 0},
    {EVENT_RAW, true, PIECE_ROW("original.at"), COLUMN_TIME, AT(record.original.at), 0},
    {EVENT_RAW, true, PIECE_ROW("original.\"timestamp\""), COLUMN_TIME, AT(record.original.timestamp), 0},
    {EVENT_RAW, true, PIECE_ROW("original.topic"), COLUMN_BYTES, AT(record.original.topic), 0},
    {EVENT_RAW, true, PIECE_ROW("original.partition"), COLUMN_INT4, AT(record.original.partition), 0},
    {EVENT_RAW, true, PIECE_ROW("original.\"offset\""), COLUMN_INT8, AT(record.original.offset), 0},
    {EVENT_RAW, true, PIECE_ROW("original.crc32c"), COLUMN_INT8, AT(record.original.crc), 0},
    {EVENT_RAW, true, PIECE_ROW("original.key"), COLUMN_BYTES, AT(record.original.key), 0},
    {EVENT_RAW, true, PIECE_ROW("original.header_names"), COLUMN_HEADER_NAMES, AT(record.original.headers),
     0},
    {EVENT_RAW, true, PIECE_ROW("original.header_values"), COLUMN_HEADER_VALUES, AT(record.original.headers),
     0},
    {EVENT_RAW, true, PIECE_ROW("revised.payload IS NOT NULL"), COLUMN_BOOL, AT(known.correction.has_payload),
     0},
    {EVENT_RAW, true, PIECE_ROW("coalesce(revised.has_key, false)"), COLUMN_BOOL,
     AT(known.correction.has_key), 0},
    {EVENT_RAW, true, PIECE_ROW("revised.key"), COLUMN_BYTES, AT(known.correction.key), 0},
    {EVENT_RAW, true, PIECE_ROW("revised.header_names"), COLUMN_HEADER_NAMES, AT(known.correction.headers),
     AT(known.correction.has_headers)},
    {EVENT_RAW, true, PIECE_ROW("revised.header_values"), COLUMN_HEADER_VALUES, AT(known.correction.headers),
     0},
    {EVENT_RAW, true, PIECE_ROW("revised.topic"), COLUMN_BYTES, AT(known.correction.topic),
     AT(known.correction.has_topic)},
    {EVENT_RAW, true, PIECE_ROW("revised.partition"), COLUMN_INT4, AT(known.correction.partition),
     AT(known.correction.has_partition)},
    {EVENT_REPLACED, true,
     PIECE_ROW("CASE WHEN revised.payload IS NULL THEN NULL WHEN raw.dlq_id IS NOT NULL THEN raw.value ELSE "
               "redrive.payload_text(e.event_payload::jsonb) END"),
     COLUMN_BYTES, AT(known.correction.replaced), 0},
    {EVENT_PARTS, true, PIECE_ROW("parts.numbers"), COLUMN_PARTS, AT(known.parts), 0},
    {EVENT_PAYLOAD, false, PIECE_ROW("octet_length(sent.payload)::int8"), COLUMN_INT8, AT(payload_size), 0},
    {EVENT_PAYLOAD, false,
     PIECE_ROW(
         "CASE WHEN :payload_cut > 0 THEN substring(sent.payload FOR :payload_cut) ELSE sent.payload END"),
     COLUMN_BYTES, AT(payload), 0},
    {EVENT_PAYLOAD, true,
     PIECE_ROW("CASE WHEN raw.decoding = 'decoded' AND revised.payload IS NULL AND e.id <> ALL (:unreadable) "
               "THEN convert_to(e.event_payload::text, 'UTF8') END"),
     COLUMN_BYTES, AT(record.decoded), 0},
};
// The number of headers stands behind their list.
#define COUNT_FOLLOWS(of)                                                                                    \
    _Static_assert(AT(of.header_count) == AT(of.headers) + sizeof(struct event_header *), "")
COUNT_FOLLOWS(record);
COUNT_FOLLOWS(record.original);
COUNT_FOLLOWS(known.correction);
_Static_assert(sizeof(enum event_original_state) == sizeof(int32_t), "");
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

// Tables that columns come from, joined when one of the fields is asked for.
static const struct join {
    unsigned fields;
    bool ours;
    struct query_piece sql;
} joins[] = {
    {EVENT_KNOWN, true,
     PIECE_ROW(" LEFT JOIN redrive.items_live(ARRAY(SELECT id FROM page)) live ON live.dlq_id = e.id")},
    // How often it was republished, and after how many of those it failed again: its row is younger, or the
    // same row is pending again.
    {EVENT_KNOWN, true,
     PIECE_ROW(
         " LEFT JOIN (SELECT p.id, count(*)::int4 AS published, (count(*) FILTER (WHERE i.at < "
         "p.created_at::timestamp AT TIME ZONE :zone"
         " OR (i.dlq_id = p.id AND p.status = 'PENDING')))::int4 AS returned FROM "
         "redrive.items_sent(ARRAY(SELECT event_id::text FROM page)) i JOIN page p ON p.event_id = i.event_id"
         " AND " EVENT_IS_SAME("p.id", "i.dlq_id") " GROUP BY p.id) history ON history.id = e.id")},
    // Those that returned under another event id.
    {EVENT_KNOWN, true, PIECE_ROW(" LEFT JOIN redrive.returned returned ON returned.dlq_id = e.id")},
    // Two numbers for each operation that an event was part of.
    {EVENT_PARTS, true,
     PIECE_ROW(
         " LEFT JOIN (SELECT o.dlq_id, array_agg(n.number ORDER BY o.operation_no, n.place) AS numbers FROM "
         "redrive.items_outcomes(ARRAY(SELECT id FROM page)) o"
         " CROSS JOIN LATERAL (VALUES (1, o.operation_no), (2, o.outcomes)) AS n (place, number)"
         " GROUP BY o.dlq_id) parts ON parts.dlq_id = e.id")},
    // Where none of these events has a record, or was ever corrected, nobody looks for it event by event.
    {EVENT_NARROW | EVENT_SENT | EVENT_EDITED | EVENT_RAW | EVENT_PAYLOAD, true,
     PIECE_ROW(" LEFT JOIN LATERAL (SELECT k.* FROM redrive.record k WHERE (SELECT EXISTS (SELECT FROM "
               "redrive.record x WHERE x.dlq_id BETWEEN :lowest AND :highest)) AND k.dlq_id = e.id LIMIT 1) "
               "raw ON true")},
    // The same of the originals that dead letters point at.
    {EVENT_RAW | EVENT_PAYLOAD, true,
     PIECE_ROW(" LEFT JOIN LATERAL (SELECT k.* FROM redrive.original k WHERE (SELECT EXISTS (SELECT FROM "
               "redrive.original x WHERE x.dlq_id BETWEEN :lowest AND :highest)) AND k.dlq_id = e.id LIMIT "
               "1) original ON true")},
    {EVENT_PAYLOAD | EVENT_SENT | EVENT_EDITED | EVENT_RAW, true,
     PIECE_ROW(" LEFT JOIN LATERAL (SELECT r.* FROM redrive.revision r WHERE (SELECT EXISTS (SELECT FROM "
               "redrive.revision x WHERE x.dlq_id BETWEEN :lowest AND :highest)) AND r.dlq_id = e.id ORDER "
               "BY r.no DESC LIMIT 1) revised ON true")},
    // OFFSET 0 keeps the text of a large jsonb from being made twice.
    {EVENT_PAYLOAD, true,
     PIECE_ROW(" LEFT JOIN LATERAL (SELECT CASE WHEN revised.payload IS NOT NULL THEN revised.payload WHEN "
               "original.state = 'fetched' THEN original.value WHEN raw.dlq_id IS NOT NULL THEN raw.value"
               " WHEN e.id = ANY (:unreadable) THEN NULL ELSE convert_to(e.event_payload::text, 'UTF8') END "
               "AS payload OFFSET 0) sent ON true")},
    {EVENT_PAYLOAD, false,
     PIECE_ROW(" LEFT JOIN LATERAL (SELECT CASE WHEN e.id <> ALL (:unreadable) THEN"
               " convert_to(e.event_payload::text, 'UTF8') END AS payload OFFSET 0) sent ON true")},
};

static bool
asks_schema(const struct event_reader *reader)
{
    return !reader->is_plain && reader->store->info.schema_version > 0;
}

static bool
is_read(const struct event_reader *reader, const struct reader_column *column)
{
    if (reader->is_plain && column->fields == EVENT_PAYLOAD)
        return false; // the payload is a column of the row itself
    return (column->fields & reader->fields) && (!column->ours || asks_schema(reader));
}

// The group is derived from whole texts, so these are read whole for it, and cut afterwards.
static bool
derives_group(const struct event_reader *reader)
{
    unsigned both = EVENT_ERROR | EVENT_STACK;
    return (reader->fields & EVENT_GROUP) || (reader->fields & both) == both;
}

void
event_reader_init(struct event_reader *reader, struct store *store, struct arena *arena, unsigned fields,
                  size_t cut)
{
    static uint64_t
        pages; // one thread at a time uses a store, several stores may count at once: only difference matters
    *reader = (struct event_reader){.store = store,
                                    .arena = arena,
                                    .fields = fields,
                                    .cut = cut,
                                    .page = __atomic_add_fetch(&pages, 1, __ATOMIC_RELAXED)};
}

// The next column: a text, whole or its beginning; absent where it is known that it cannot be read.
static void
add_text(const struct event_reader *reader, struct query *query, enum long_column column,
         struct query_piece unless, struct query_piece whole, struct query_piece beginning)
{
    bool is_any = unreadable_any(reader->store, column);
    query_add(query, PIECE(", "));
    if (is_any) {
        query_add(query, PIECE("CASE WHEN"));
        query_add(query, unless);
    }
    query_add(query, derives_group(reader) || reader->cut == 0 ? whole : beginning);
    if (is_any)
        query_add(query, PIECE(" END"));
}

static void
add_columns(struct event_reader *reader, struct query *query)
{
    int next = reader->extra + 1;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (is_read(reader, &columns[i])) {
            query_add(query, PIECE(", "));
            query_add(query, columns[i].sql);
            next++;
        }
    }
    reader->payload = -1;
    if (reader->is_plain && (reader->fields & EVENT_PAYLOAD)) {
        query_add(query, PIECE(", CASE WHEN e.id <> ALL (:unreadable) THEN e.event_payload::text END"));
        reader->payload = next++;
    }
    reader->message = reader->stack = -1;
    if ((reader->fields & EVENT_ERROR) || derives_group(reader)) {
        add_text(reader, query, LONG_ERROR, PIECE(" e.id <> ALL (:unreadable_error) THEN "),
                 PIECE("e.error_message::text"), PIECE("left(e.error_message, :cut)"));
        reader->message = next++;
    }
    if ((reader->fields & EVENT_STACK) || derives_group(reader)) {
        add_text(reader, query, LONG_STACK, PIECE(" e.id <> ALL (:unreadable_stack) THEN "),
                 PIECE("e.stack_trace::text"), PIECE("left(e.stack_trace, :cut)"));
        reader->stack = next++;
    }
}

static void
add_rows(struct query *query, const struct event_source *source)
{
    for (size_t i = 0; i < source->row_count; i++)
        query_add(query, source->rows[i]);
}

void
event_reader_query(struct event_reader *reader, struct query *query, const struct event_source *source)
{
    reader->extra = source->extra_count;
    param_text(query_param(query, "zone"), reader->store->zone);
    unreadable_param(reader->store, LONG_ERROR, query_param(query, "unreadable_error"));
    unreadable_param(reader->store, LONG_STACK, query_param(query, "unreadable_stack"));
    if (reader->takes_unreadable)
        unreadable_param(reader->store, LONG_PAYLOAD, query_param(query, "unreadable"));
    else
        param_ids(query_param(query, "unreadable"), NULL, 0);
    size_t payload_cut = reader->payload_cut ? reader->payload_cut : reader->cut;
    param_int4(query_param(query, "cut"), reader->cut > INT32_MAX ? INT32_MAX : (int32_t)reader->cut);
    param_int4(query_param(query, "payload_cut"), payload_cut > INT32_MAX ? INT32_MAX : (int32_t)payload_cut);
    bool is_bound = source->lowest || source->highest;
    param_int8(query_param(query, "lowest"), is_bound ? source->lowest : INT64_MIN);
    param_int8(query_param(query, "highest"), is_bound ? source->highest : INT64_MAX);

    // Looks redrive's own data up for all rows at once.
    bool is_page = (reader->fields & (EVENT_KNOWN | EVENT_PARTS)) && asks_schema(reader);
    if (is_page) {
        query_add(query, PIECE("WITH page AS MATERIALIZED ("));
        add_rows(query, source);
        query_add(query, PIECE(") "));
    }
    query_add(query, PIECE("SELECT "));
    query_add(query, source->extra);
    query_add(query, source->extra_count ? PIECE(", e.id::int8") : PIECE("e.id::int8"));
    add_columns(reader, query);
    query_add(query, is_page ? PIECE(" FROM page e") : PIECE(" FROM ("));
    if (!is_page) {
        add_rows(query, source);
        query_add(query, PIECE(") e"));
    }
    for (size_t i = 0; i < sizeof joins / sizeof joins[0]; i++) {
        bool replaced = !joins[i].ours && asks_schema(reader);
        if (!reader->is_plain && (joins[i].fields & reader->fields) &&
            (!joins[i].ours || asks_schema(reader)) && !replaced)
            query_add(query, joins[i].sql);
    }
    if (source->order.sql) {
        query_add(query, PIECE(" ORDER BY "));
        query_add(query, source->order);
    }
}

struct query_piece
event_reader_has_status(unsigned statuses)
{
    switch (statuses) {
    case 1u << EVENT_PENDING:
        return PIECE(" AND e.status = 'PENDING'");
    case 1u << EVENT_RESOLVED:
        return PIECE(" AND e.status = 'RESOLVED'");
    case 1u << EVENT_DISCARDED:
        return PIECE(" AND e.status = 'DISCARDED'");
    default:
        return (struct query_piece){0};
    }
}

// Reads a one-dimensional array in binary form into names or values. Lengths are checked: what does not fit
// ends the walk.
static uint32_t
read_elements(struct bytes array, struct event_header *headers, uint32_t room, bool names,
              struct arena *arena)
{
    enum { HEAD = 20 };
    if (array.len < HEAD || pg_read32(array.data) != 1)
        return 0;
    uint32_t count = (uint32_t)pg_read32(array.data + 12);
    size_t at = HEAD;
    for (uint32_t i = 0; i < count && i < room; i++) {
        if (array.len - at < 4)
            return i;
        int32_t len = pg_read32(array.data + at);
        at += 4;
        struct bytes value = BYTES_ABSENT;
        if (len >= 0) {
            if (array.len - at < (size_t)len)
                return i;
            value = arena_copy(arena, (struct bytes){array.data + at, (size_t)len});
            at += (size_t)len;
        }
        *(names ? &headers[i].name : &headers[i].value) = value;
    }
    return count < room ? count : room;
}

void
event_headers_read(struct bytes array, bool names, struct arena *arena, struct event_header **headers,
                   uint32_t *header_count)
{
    if (names && array.len >= 16) {
        // An element takes four bytes at least, so a count cannot ask for more memory than the answer had.
        uint32_t most = (uint32_t)(array.len / 4);
        uint32_t count = (uint32_t)pg_read32(array.data + 12);
        count = count < most ? count : most;
        *headers = arena_array(arena, count, sizeof **headers);
        *header_count = read_elements(array, *headers, count, true, arena);
    } else if (!names && *header_count) {
        read_elements(array, *headers, *header_count, false, arena);
    }
}

// An int8[] in binary form: operation, outcomes, operation, outcomes, …
static void
read_parts(struct bytes array, struct arena *arena, struct event_known *known)
{
    enum { HEAD = 20, NUMBER = 12 };
    size_t numbers = array.len < HEAD ? 0 : (array.len - HEAD) / NUMBER;
    known->parts = arena_array(arena, numbers / 2 + 1, sizeof *known->parts);
    known->part_count = (uint32_t)(numbers / 2);
    for (size_t i = 0; i < numbers / 2; i++) {
        const char *pair = array.data + HEAD + i * 2 * NUMBER;
        known->parts[i] =
            (struct event_part){.operation = pg_read64(pair + 4), .outcomes = pg_read64(pair + NUMBER + 4)};
    }
}

static void
read_column(struct event_reader *reader, const struct reader_column *column, const PGresult *result, int row,
            int at, struct event *event)
{
    char *member = (char *)event + column->at;
    struct bytes bytes = value_bytes(result, row, at);
    if (column->flag)
        *((char *)event + column->flag) = bytes.data != NULL;
    switch (column->kind) {
    case COLUMN_STATUS:
        event->status = event_status_of(bytes);
        event->status_text = arena_copy(reader->arena, bytes);
        break;
    case COLUMN_BYTES: {
        struct bytes copy = arena_copy(reader->arena, bytes);
        memcpy(member, &copy, sizeof copy);
        break;
    }
    case COLUMN_TIME: {
        int64_t time = value_time(result, row, at);
        memcpy(member, &time, sizeof time);
        break;
    }
    case COLUMN_INT4: {
        int32_t n = value_int4(result, row, at);
        memcpy(member, &n, sizeof n);
        break;
    }
    case COLUMN_INT8: {
        int64_t n = value_int8(result, row, at);
        memcpy(member, &n, sizeof n);
        break;
    }
    case COLUMN_BOOL:
        *member = value_bool(result, row, at);
        break;
    case COLUMN_PARTS:
        read_parts(bytes, reader->arena, &event->known);
        break;
    case COLUMN_HEADER_NAMES:
    case COLUMN_HEADER_VALUES:
        event_headers_read(bytes, column->kind == COLUMN_HEADER_NAMES, reader->arena,
                           (struct event_header **)(void *)member,
                           (uint32_t *)(void *)(member + sizeof(struct event_header *)));
        break;
    }
}

static void
derive_group(struct event_reader *reader, struct event *event, struct bytes message, struct bytes stack)
{
    const struct fingerprint_input input = {
        .message = message, .stack = stack, .rules = reader->store->group_rules};
    event->group = fingerprint_key(&input);
    struct group_entry *group = group_cache_get(reader->store, event->group, message, stack);
    if (group->page != reader->page) {
        group->page = reader->page;
        group->page_class =
            arena_copy(reader->arena, (struct bytes){group->error_class, group->error_class_len});
    }
    event->category = group->category;
    event->error_class = group->page_class;
}

static struct bytes
keep_text(struct event_reader *reader, struct bytes text)
{
    if (reader->cut && text.len > reader->cut)
        text.len = utf8_cut(text, reader->cut);
    return arena_copy(reader->arena, text);
}

static const char *
why_unreadable(struct event_reader *reader, enum long_column column, int64_t id)
{
    const char *why = unreadable_why(reader->store, column, id);
    return why ? arena_text(reader->arena, bytes_of(why)) : NULL;
}

void
event_reader_row(struct event_reader *reader, const PGresult *result, int row, struct event *event)
{
    *event = (struct event){.created_at = TIME_ABSENT,
                            .created_wall = TIME_ABSENT,
                            .retries.last_at = TIME_ABSENT,
                            .closed.at = TIME_ABSENT};
    int at = reader->extra;
    event->id = value_int8(result, row, at++);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (is_read(reader, &columns[i]))
            read_column(reader, &columns[i], result, row, at++, event);
    }
    if (reader->payload >= 0) {
        event->payload = arena_copy(reader->arena, value_bytes(result, row, reader->payload));
        event->payload_size = event->payload.len;
    }
    struct bytes message = reader->message < 0 ? BYTES_ABSENT : value_bytes(result, row, reader->message);
    struct bytes stack = reader->stack < 0 ? BYTES_ABSENT : value_bytes(result, row, reader->stack);
    if (derives_group(reader))
        derive_group(reader, event, message, stack);
    if (reader->fields & EVENT_ERROR)
        event->error_message = keep_text(reader, message);
    if (reader->fields & EVENT_STACK)
        event->stack_trace = keep_text(reader, stack);
    if (event->known.correction.has_payload)
        event->known.correction.payload = event->payload;
    if (reader->takes_unreadable && (reader->fields & EVENT_PAYLOAD) && !bytes_present(event->payload))
        event->known.unreadable = why_unreadable(reader, LONG_PAYLOAD, event->id);
    if (reader->message >= 0 && !bytes_present(message))
        event->known.unreadable_error = why_unreadable(reader, LONG_ERROR, event->id);
    if (reader->stack >= 0 && !bytes_present(stack))
        event->known.unreadable_stack = why_unreadable(reader, LONG_STACK, event->id);
    event->known.is_quarantined = event->known.returned >= reader->store->max_replays;
}
