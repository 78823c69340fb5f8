#include "store/events/pass.h"

#include "core/fingerprint/fingerprint.h"
#include "store/events/reader.h"
#include "store/pg.h"

struct event_pass {
    struct store *store;
    unsigned fields;
    event_pass_fn *each;
    void *context;
};

// COPY has no parameters: the zone stands in a setting. Rows from several processes of the server are taken
// to cost it no more for that.
static const char settings_sql[] = "SELECT pg_catalog.set_config('redrive.zone', $1, true),"
                                   " pg_catalog.set_config('parallel_tuple_cost', '0', true)";

static void
add_pieces(const struct event_pass *pass, unsigned statuses, struct query *query)
{
    query_add(query, PIECE("COPY (SELECT e.id::int8, e.status::text, e.created_at::timestamp"));
    if (pass->fields & EVENT_COUNTED)
        query_add(query, PIECE(", e.created_at::timestamp AT TIME ZONE (SELECT"
                               " pg_catalog.current_setting('redrive.zone')), e.retry_count::int4,"
                               " e.event_type::text, e.source_table::text, e.kafka_topic::text"));
    if (pass->fields & EVENT_GROUP)
        query_add(query, PIECE(", e.error_message::text, e.stack_trace::text"));
    query_add(query, PIECE(" FROM :\"events\" e WHERE true"));
    query_add(query, event_reader_has_status(statuses));
    query_add(query, PIECE(") TO STDOUT (FORMAT binary)"));
}

static void
derive_group(const struct event_pass *pass, struct event *event, struct bytes message, struct bytes stack)
{
    const struct fingerprint_input input = {
        .message = message, .stack = stack, .rules = pass->store->group_rules};
    event->group = fingerprint_key(&input);
    const struct group_entry *group = group_cache_get(pass->store, event->group, message, stack);
    event->category = group->category;
    event->error_class = (struct bytes){group->error_class, group->error_class_len};
}

static bool
read_row(void *context, const struct bytes fields[PG_FIELDS])
{
    const struct event_pass *pass = context;
    struct event event = {
        .created_at = TIME_ABSENT, .retries.last_at = TIME_ABSENT, .closed.at = TIME_ABSENT};
    int at = 0;
    event.id = field_int8(fields[at++]);
    event.status_text = fields[at++];
    event.status = event_status_of(event.status_text);
    event.created_wall = field_time(fields[at++]);
    if (pass->fields & EVENT_COUNTED) {
        event.created_at = field_time(fields[at++]);
        event.retries.count = field_int4(fields[at++]);
        event.event_type = fields[at++];
        event.source_table = fields[at++];
        event.topic = fields[at++];
    }
    if (pass->fields & EVENT_GROUP)
        derive_group(pass, &event, fields[at], fields[at + 1]);
    return fields[0].len != sizeof event.id || pass->each(pass->context, &event);
}

bool
store_pass(struct store *store, unsigned fields, unsigned statuses, event_pass_fn *each, void *context,
           struct err *err)
{
    struct event_pass pass = {.store = store, .fields = fields, .each = each, .context = context};
    struct query query = {0};
    struct params params = {0};
    if (!pg_begin(store, FOR_SCANNING, err))
        return false;
    param_text(&params, store->zone);
    add_pieces(&pass, statuses, &query);
    bool ok = pg_do(store, FOR_SCANNING, settings_sql, &params, err) &&
              pg_copy_rows(store, query_text(&query), read_row, &pass, err);
    pg_rollback(store);
    query_release(&query);
    return ok;
}
