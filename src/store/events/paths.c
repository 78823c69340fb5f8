#include "store/events/paths.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "core/json/jsonpath.h"
#include "core/json/path_value.h"
#include "store/events/events.h"
#include "store/pg.h"

enum { PAGE = 1000 };

struct path_reading {
    event_path_fn *each;
    void *context;
};

enum { NAMES_MOST = 8 };

// COPY has no parameters: the path stands in a setting. Rows from several processes of the server are taken
// to cost it no more for that.
#define SETTINGS(path)                                                                                       \
    "SELECT pg_catalog.set_config('redrive.path', " path ", true),"                                          \
    " pg_catalog.set_config('parallel_tuple_cost', '0', true)"
static const char path_settings_sql[] = SETTINGS("$1"), names_settings_sql[] = SETTINGS("$1::text[]::text");

_Static_assert(PATH_TOKEN_CHARACTERS == 1300, "it stands in the statement");
#define PASS_BEGIN "COPY (SELECT e.id::int8, left(("
#define PASS_END ")::text, 1301) FROM :\"events\" e WHERE e.status = 'PENDING') TO STDOUT (FORMAT binary)"
static const char path_sql[] =
    PASS_BEGIN "jsonb_path_query_first(e.event_payload::jsonb,"
               " (SELECT pg_catalog.current_setting('redrive.path')::jsonpath), '{}', true)" PASS_END;
static const char ids_sql[] =
    "COPY (SELECT e.id::int8, NULL::text FROM :\"events\" e WHERE e.status = 'PENDING')"
    " TO STDOUT (FORMAT binary)";

static bool
read_row(void *context, const struct bytes fields[PG_FIELDS])
{
    const struct path_reading *reading = context;
    return fields[0].len != sizeof(int64_t) ||
           reading->each(reading->context, field_int8(fields[0]), fields[1]);
}

// A name leads into objects alone, as in a path. Looking names up takes a third of the time of a path.
static void
print_names(size_t count, struct strbuf *sql)
{
    strbuf_add_text(sql, PASS_BEGIN "e.event_payload::jsonb");
    for (size_t i = 1; i <= count; i++)
        strbuf_printf(sql, " -> (SELECT (pg_catalog.current_setting('redrive.path')::text[])[%zu])", i);
    strbuf_add_text(sql, PASS_END);
}

static bool
pass(struct store *store, const struct json_path *path, struct path_reading *reading, struct err *err)
{
    struct strbuf text = {0}, sql = {0};
    struct params params = {0};
    const char *names[NAMES_MOST];
    bool is_possible = jsonpath_print(path, &text);
    size_t count = is_possible ? jsonpath_names(path, names, NAMES_MOST) : 0;
    if (count) {
        param_texts(&params, names, count);
        print_names(count, &sql);
    } else {
        param_text(&params, is_possible ? strbuf_text(&text) : "");
        strbuf_add_text(&sql, is_possible ? path_sql : ids_sql);
    }
    bool ok = pg_begin(store, FOR_SCANNING, err);
    if (ok) {
        ok = pg_do(store, FOR_SCANNING, count ? names_settings_sql : path_settings_sql, &params, err) &&
             pg_copy_rows(store, strbuf_text(&sql), read_row, reading, err);
        pg_rollback(store);
    }
    params_release(&params);
    strbuf_release(&text);
    strbuf_release(&sql);
    return ok;
}

// --- payloads that are read here ---

struct pending_ids {
    int64_t *ids;
    size_t count, capacity;
};

static bool
add_corrected(void *context, const PGresult *row)
{
    struct pending_ids *corrected = context;
    corrected->ids =
        alloc_grow(corrected->ids, corrected->count, &corrected->capacity, sizeof *corrected->ids);
    corrected->ids[corrected->count++] = value_int8(row, 0, 0);
    return true;
}

bool
store_path_values(struct store *store, const struct json_path *path, const int64_t *ids, size_t count,
                  event_path_fn *each, void *context, struct err *err)
{
    for (size_t at = 0; at < count;) {
        const struct event_query query = {.fields = EVENT_PAYLOAD,
                                          .ids = ids + at,
                                          .id_count = count - at < PAGE ? count - at : PAGE,
                                          .most_bytes = EVENT_PAGE_BYTES,
                                          .takes_unreadable = true};
        struct event_page page = {0};
        if (!store_events(store, &query, &page, err))
            return false;
        at += event_page_answers(&page, &query);
        bool goes_on = true;
        for (size_t i = 0; goes_on && i < page.count; i++) {
            const struct event *event = &page.events[i];
            struct json_token value = {0};
            struct bytes payload = event_payload_shown(event);
            bool is_found = bytes_present(payload) && json_path_find(path, payload, &value);
            goes_on = each(context, event->id,
                           is_found ? bytes_slice(payload, value.from, value.len) : BYTES_ABSENT);
        }
        event_page_release(&page);
        if (!goes_on)
            return err_set(err, ERR_CANCELLED, "stopped while reading payloads");
    }
    return true;
}

static bool
read_corrected(struct store *store, const struct json_path *path, const struct path_reading *reading,
               struct err *err)
{
    struct pending_ids corrected = {0};
    bool ok =
        pg_stream(store, FOR_SCANNING,
                  "SELECT DISTINCT r.dlq_id FROM redrive.revision r WHERE r.payload IS NOT NULL", NULL,
                  add_corrected, &corrected, err) &&
        store_path_values(store, path, corrected.ids, corrected.count, reading->each, reading->context, err);
    free(corrected.ids);
    return ok;
}

bool
store_path_pass(struct store *store, const struct json_path *path, event_path_fn *each, void *context,
                struct err *err)
{
    struct path_reading reading = {.each = each, .context = context};
    return pass(store, path, &reading, err) &&
           (store->info.schema_version == 0 || read_corrected(store, path, &reading, err));
}
