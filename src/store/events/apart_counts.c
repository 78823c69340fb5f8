#include "store/events/apart_counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/utf8.h"
#include "core/json/jsonpath.h"
#include "core/json/match.h"
#include "core/json/path.h"
#include "store/pg.h"
#include "store/query.h"

// The forms a question has in SQL; n is its number, from 1. Texts of questions stand in :paths and, as JSON
// arrays, in :values. A subquery that uses nothing of the row is evaluated once.
enum form {
    FORM_NONE,
    FORM_HOLDS, // :values[n] are objects, of which the payload contains one
    FORM_KEY,   // :paths[n] is a name in the payload
    FORM_NO_KEY,
    FORM_KEY_KIND, // likewise, :values[n] are types of its value
    FORM_PATH,     // :paths[n] is a jsonpath, :values[n] its variables
    FORM_NO_PATH,
    FORM_TYPE_IS,
    FORM_TYPE_NULL,
    FORM_TYPE_THERE,
    FORM_SOURCE_IS,
    FORM_SOURCE_NULL,
    FORM_SOURCE_THERE,
    FORM_TOPIC_IS,
    FORM_TOPIC_NULL,
    FORM_TOPIC_THERE,
    FORM_PARTITION_IS,
    FORM_PARTITION_WITHIN,
    FORM_PARTITION_NULL,
    FORM_PARTITION_THERE,
    FORM_RETRIES_IS,
    FORM_RETRIES_WITHIN,
    FORM_CREATED,
    FORM_HEADER,
    FORM_WORD,
    FORMS
};

#define VALUES_OF(n)                                                                                         \
    "ANY (ARRAY(SELECT pg_catalog.jsonb_array_elements_text((:values)[" #n "]::jsonb) LIMIT 4))"
// Columns of int4, which a float8 holds exactly: limits that are numeric cost three times as much a row.
#define LIMIT_OF(n, i, absent)                                                                               \
    "(SELECT coalesce(((:values)[" #n "]::jsonb ->> " #i ")::float8, '" absent "'))"
#define WITHIN(column, n)                                                                                    \
    "(" column " BETWEEN " LIMIT_OF(n, 0, "-infinity") " AND " LIMIT_OF(n, 1, "infinity") ")"
#define KEY_OF(n) "(e.event_payload::jsonb -> (SELECT (:paths)[" #n "]))"
#define PATH_OF(n)                                                                                           \
    "jsonb_path_exists(e.event_payload::jsonb, (SELECT (:paths)[" #n "]::jsonpath), (SELECT (:values)[" #n   \
    "]::jsonb), true)"
#define HOLDS_OF(n)                                                                                          \
    "e.event_payload::jsonb @> ANY (ARRAY(SELECT pg_catalog.jsonb_array_elements((:values)[" #n "]::jsonb) " \
    "LIMIT 4))"
#define FORMS_OF(n)                                                                                          \
    {                                                                                                        \
        [FORM_NONE] = PIECE_ROW("false"), [FORM_HOLDS] = PIECE_ROW(HOLDS_OF(n)),                             \
        [FORM_KEY] = PIECE_ROW(KEY_OF(n) " IS NOT NULL"), [FORM_NO_KEY] = PIECE_ROW(KEY_OF(n) " IS NULL"),   \
        [FORM_KEY_KIND] = PIECE_ROW("jsonb_typeof" KEY_OF(n) " = " VALUES_OF(n)),                            \
        [FORM_PATH] = PIECE_ROW(PATH_OF(n)),                                                                 \
        [FORM_NO_PATH] = PIECE_ROW("NOT coalesce(" PATH_OF(n) ", false)"),                                   \
        [FORM_TYPE_IS] = PIECE_ROW("e.event_type::text = " VALUES_OF(n)),                                    \
        [FORM_TYPE_NULL] = PIECE_ROW("e.event_type IS NULL"),                                                \
        [FORM_TYPE_THERE] = PIECE_ROW("e.event_type IS NOT NULL"),                                           \
        [FORM_SOURCE_IS] = PIECE_ROW("e.source_table::text = " VALUES_OF(n)),                                \
        [FORM_SOURCE_NULL] = PIECE_ROW("e.source_table IS NULL"),                                            \
        [FORM_SOURCE_THERE] = PIECE_ROW("e.source_table IS NOT NULL"),                                       \
        [FORM_TOPIC_IS] = PIECE_ROW("e.kafka_topic::text = " VALUES_OF(n)),                                  \
        [FORM_TOPIC_NULL] = PIECE_ROW("e.kafka_topic IS NULL"),                                              \
        [FORM_TOPIC_THERE] = PIECE_ROW("e.kafka_topic IS NOT NULL"),                                         \
        [FORM_PARTITION_IS] = PIECE_ROW("e.kafka_partition::text = " VALUES_OF(n)),                          \
        [FORM_PARTITION_WITHIN] = PIECE_ROW(WITHIN("e.kafka_partition", n)),                                 \
        [FORM_PARTITION_NULL] = PIECE_ROW("e.kafka_partition IS NULL"),                                      \
        [FORM_PARTITION_THERE] = PIECE_ROW("e.kafka_partition IS NOT NULL"),                                 \
        [FORM_RETRIES_IS] = PIECE_ROW("coalesce(e.retry_count, 0)::text = " VALUES_OF(n)),                   \
        [FORM_RETRIES_WITHIN] = PIECE_ROW(WITHIN("coalesce(e.retry_count, 0)", n)),                          \
        [FORM_CREATED] = PIECE_ROW("e.created_at::timestamp BETWEEN (SELECT coalesce(((:values)[" #n         \
                                   "]::jsonb ->> 0)::timestamptz AT TIME ZONE :zone, '-infinity')) AND "     \
                                   "(SELECT coalesce(((:values)[" #n                                         \
                                   "]::jsonb ->> 1)::timestamptz AT TIME ZONE :zone, 'infinity'))"),         \
        [FORM_HEADER] = PIECE_ROW("EXISTS (SELECT FROM redrive.record k, unnest(k.header_names, "            \
                                  "k.header_values) AS h (name, value) WHERE k.dlq_id = e.id AND h.name = "  \
                                  "(SELECT (:paths)[" #n "]) AND h.value = ANY (ARRAY(SELECT "               \
                                  "convert_to(v, 'UTF8') FROM "                                              \
                                  "pg_catalog.jsonb_array_elements_text((:values)[" #n "]::jsonb) AS v)))"), \
        [FORM_WORD] = PIECE_ROW("EXISTS (SELECT FROM unnest((SELECT ARRAY(SELECT "                           \
                                "pg_catalog.jsonb_array_elements_text((:values)[" #n                         \
                                "]::jsonb)))) AS w WHERE strpos(e.error_message::text, w) > 0)"),            \
    }
static const struct query_piece forms[APART_COUNTED][FORMS] = {
    FORMS_OF(1), FORMS_OF(2), FORMS_OF(3), FORMS_OF(4),  FORMS_OF(5),  FORMS_OF(6),
    FORMS_OF(7), FORMS_OF(8), FORMS_OF(9), FORMS_OF(10), FORMS_OF(11), FORMS_OF(12)};

// One question as the statement gets it.
struct asked {
    enum form form;
    struct strbuf path, values;
};

void
apart_counts_release(struct apart_counts *counts)
{
    free(counts->corrected);
    *counts = (struct apart_counts){0};
}

// --- questions about payloads ---

// "(.{200}){2}.{17}": PostgreSQL repeats at most 255 times.
static void
add_length(uint32_t length, struct strbuf *out)
{
    enum { PART = 200 };
    strbuf_add_text(out, " like_regex \"^");
    if (length >= PART)
        strbuf_printf(out, "(.{%d}){%" PRIu32 "}", PART, length / PART < 255 ? length / PART : 255);
    if (length % PART)
        strbuf_printf(out, ".{%" PRIu32 "}", length % PART);
    strbuf_add_text(out, "\" flag \"s\"");
}

static const char *
jsonpath_type(enum apart_kind kind)
{
    static const char *const types[APART_KINDS] = {
        [APART_TEXT] = "string", [APART_NUMBER] = "number", [APART_BOOLEAN] = "boolean",
        [APART_NULL] = "null",   [APART_OBJECT] = "object", [APART_ARRAY] = "array"};
    return types[kind];
}

// The condition on a value, `@`.
static void
add_condition(const struct apart_question *question, struct strbuf *out)
{
    switch (question->test) {
    case APART_IS:
        for (size_t i = 0; i < question->value_count; i++)
            strbuf_printf(out, "%s@ == $v%zu", i ? " || " : "", i);
        break;
    case APART_IS_KIND:
        strbuf_printf(out, "@.type() == \"%s\"", jsonpath_type(question->kind));
        break;
    case APART_FROM:
        strbuf_add_text(out, "@ >= $low");
        break;
    case APART_UPTO:
        strbuf_add_text(out, "@ <= $high");
        break;
    case APART_BETWEEN:
        strbuf_add_text(out, "@ >= $low && @ <= $high");
        break;
    case APART_LONG:
        strbuf_add_char(out, '@');
        add_length(question->length, out);
        break;
    case APART_BEGINS:
        strbuf_add_text(out, "@ starts with $v0");
        break;
    case APART_MISSING:
    case APART_THERE:
        break;
    }
}

static void
add_json(const struct apart_value *value, struct strbuf *out)
{
    if (value->kind == APART_TEXT)
        json_quote(value->text, out);
    else
        strbuf_add(out, value->text);
}

// The variables of the jsonpath: {"v0": "JPY", "low": 10}
static void
add_variables(const struct apart_question *question, struct strbuf *out)
{
    strbuf_add_char(out, '{');
    for (size_t i = 0; i < question->value_count; i++) {
        strbuf_printf(out, "%s\"v%zu\": ", i ? ", " : "", i);
        add_json(&question->values[i], out);
    }
    const char *comma = question->value_count ? ", " : "";
    if (question->low.len) {
        strbuf_printf(out, "%s\"low\": %.*s", comma, BYTES_ARGS(question->low));
        comma = ", ";
    }
    if (question->high.len)
        strbuf_printf(out, "%s\"high\": %.*s", comma, BYTES_ARGS(question->high));
    strbuf_add_char(out, '}');
}

// A value at names alone, as the objects that a payload with it contains: {"client": {"version": "4.17.2"}}.
// That is answered in a third less time than a jsonpath. false: the path has other steps.
static bool
add_objects(const struct json_path *path, const struct apart_question *question, struct strbuf *out)
{
    for (size_t i = 0; i < path->count; i++)
        if (path->steps[i].kind != JSON_STEP_NAME || !utf8_valid(strbuf_bytes(&path->steps[i].name)) ||
            memchr(path->steps[i].name.data, '\0', path->steps[i].name.len))
            return false;
    for (size_t value = 0; value < question->value_count; value++) {
        strbuf_add_text(out, value ? ", " : "[");
        for (size_t i = 0; i < path->count; i++) {
            strbuf_add_char(out, '{');
            json_quote(strbuf_bytes(&path->steps[i].name), out);
            strbuf_add_char(out, ':');
        }
        add_json(&question->values[value], out);
        for (size_t i = 0; i < path->count; i++)
            strbuf_add_char(out, '}');
    }
    strbuf_add_char(out, ']');
    return true;
}

// Whether a name at the top is there, or of which type its value is, without a jsonpath: that takes a third
// less time. FORM_NONE: it is another question.
static enum form
ask_key(const struct json_path *path, const struct apart_question *question, struct asked *asked)
{
    enum form form = question->test == APART_THERE     ? FORM_KEY
                     : question->test == APART_MISSING ? FORM_NO_KEY
                     : question->test == APART_IS_KIND ? FORM_KEY_KIND
                                                       : FORM_NONE;
    if (path->count != 1 || path->steps[0].kind != JSON_STEP_NAME || form == FORM_NONE)
        return FORM_NONE;
    struct bytes name = strbuf_bytes(&path->steps[0].name);
    if (!utf8_valid(name) || memchr(name.data, '\0', name.len))
        return FORM_NONE;
    strbuf_add(&asked->path, name);
    if (form == FORM_KEY_KIND)
        strbuf_printf(&asked->values, "[\"%s\"]", jsonpath_type(question->kind));
    return form;
}

static enum form
ask_path(const struct apart_question *question, struct asked *asked)
{
    struct json_path *path = NULL;
    bool is_kind_of_text = question->test == APART_IS_KIND && question->kind == APART_NOT_JSON;
    if (is_kind_of_text || !json_pattern_parse(&path, question->name, NULL))
        return FORM_NONE;
    if (question->test == APART_IS && path->count > 0 && add_objects(path, question, &asked->values)) {
        json_path_destroy(path);
        return FORM_HOLDS;
    }
    enum form key = ask_key(path, question, asked);
    if (key != FORM_NONE) {
        json_path_destroy(path);
        return key;
    }
    bool is_possible = jsonpath_print(path, &asked->path);
    json_path_destroy(path);
    if (!is_possible)
        return FORM_NONE;
    if (question->test != APART_MISSING && question->test != APART_THERE) {
        strbuf_add_text(&asked->path, " ? (");
        add_condition(question, &asked->path);
        strbuf_add_char(&asked->path, ')');
    }
    add_variables(question, &asked->values);
    return question->test == APART_MISSING ? FORM_NO_PATH : FORM_PATH;
}

// --- questions about columns ---

// A JSON array of texts.
static void
add_values(const struct apart_question *question, struct strbuf *out)
{
    strbuf_add_char(out, '[');
    for (size_t i = 0; i < question->value_count; i++) {
        strbuf_add_text(out, i ? ", " : "");
        json_quote(question->values[i].text, out);
    }
    strbuf_add_char(out, ']');
}

static void
add_limits(const struct apart_question *question, struct strbuf *out)
{
    bool has_low = question->test != APART_UPTO, has_high = question->test != APART_FROM;
    strbuf_printf(out, "[%.*s, ", BYTES_ARGS(has_low ? question->low : BYTES("null")));
    strbuf_printf(out, "%.*s]", BYTES_ARGS(has_high ? question->high : BYTES("null")));
}

static void
add_times(const struct apart_question *question, struct strbuf *out)
{
    char low[TIME_TEXT], high[TIME_TEXT];
    bool has_low = question->test != APART_UPTO, has_high = question->test != APART_FROM;
    strbuf_printf(out, has_low ? "[\"%s\", " : "[null, ", time_rfc3339(question->low_time, 0, low));
    strbuf_printf(out, has_high ? "\"%s\"]" : "null]", time_rfc3339(question->high_time, 0, high));
}

// The forms of a column for "is", "is missing", "exists" and limits.
struct column_forms {
    enum form is, null, there, within;
};

static enum form
ask_column(const struct apart_question *question, const struct column_forms *column, struct asked *asked)
{
    switch (question->test) {
    case APART_IS:
        add_values(question, &asked->values);
        return column->is;
    case APART_MISSING:
        return column->null;
    case APART_THERE:
        return column->there;
    case APART_FROM:
    case APART_UPTO:
    case APART_BETWEEN:
        if (column->within)
            add_limits(question, &asked->values);
        return column->within;
    case APART_IS_KIND:
    case APART_LONG:
    case APART_BEGINS:
        break;
    }
    return FORM_NONE;
}

// jsonb takes neither a NUL nor a number of any size.
static bool
is_sendable(const struct apart_question *question)
{
    enum { DIGITS = 40 };
    for (size_t i = 0; i < question->value_count; i++) {
        const struct apart_value *value = &question->values[i];
        bool is_number = value->kind == APART_NUMBER;
        if (memchr(value->text.data, '\0', value->text.len) ||
            (is_number && (value->text.len > DIGITS || memchr(value->text.data, 'e', value->text.len) ||
                           memchr(value->text.data, 'E', value->text.len))))
            return false;
    }
    return true;
}

static enum form
form_of(const struct store *store, const struct apart_question *question, struct asked *asked)
{
    static const struct column_forms columns[APART_WHATS] = {
        [APART_TYPE] = {FORM_TYPE_IS, FORM_TYPE_NULL, FORM_TYPE_THERE, FORM_NONE},
        [APART_SOURCE] = {FORM_SOURCE_IS, FORM_SOURCE_NULL, FORM_SOURCE_THERE, FORM_NONE},
        [APART_TOPIC] = {FORM_TOPIC_IS, FORM_TOPIC_NULL, FORM_TOPIC_THERE, FORM_NONE},
        [APART_PARTITION] = {FORM_PARTITION_IS, FORM_PARTITION_NULL, FORM_PARTITION_THERE,
                             FORM_PARTITION_WITHIN},
        [APART_RETRIES] = {FORM_RETRIES_IS, FORM_NONE, FORM_NONE, FORM_RETRIES_WITHIN},
        [APART_WORD] = {FORM_WORD, FORM_NONE, FORM_NONE, FORM_NONE},
        [APART_HEADER] = {FORM_HEADER, FORM_NONE, FORM_NONE, FORM_NONE},
    };
    if (!is_sendable(question))
        return FORM_NONE;
    if (question->what == APART_PATH)
        return ask_path(question, asked);
    if (question->what == APART_CREATED) {
        add_times(question, &asked->values);
        return FORM_CREATED;
    }
    if (question->what == APART_HEADER) {
        if (store->info.schema_version == 0 || !utf8_valid(question->name))
            return FORM_NONE;
        strbuf_add(&asked->path, question->name);
    }
    return ask_column(question, &columns[question->what], asked);
}

// --- the statement ---

enum { SPAN_MOST = 1 << 28 }; // between the first and the last id: 32 MB of bits

static void
add_sides(const struct apart_sides *sides, struct query *query)
{
    static const struct query_piece is_one = PIECE_ROW(
        "CASE WHEN e.id BETWEEN :lowest AND :highest THEN get_bit(:ids, (e.id - :lowest)::int4) = 1 "
        "ELSE false END");
    static const struct query_piece there[] = {
        [APART_OTHERS] = PIECE_ROW(" FROM :\"events\" e WHERE (e.status = 'PENDING' OR "),
        [APART_RESOLVED] = PIECE_ROW(
            " FROM :\"events\" e WHERE ((e.status = 'RESOLVED' AND e.event_type::text = ANY (:types)) OR "),
        [APART_EARLIER] = PIECE_ROW(" FROM :\"events\" e WHERE (false OR "),
    };
    query_add(query, there[sides->against]);
    query_add(query, is_one);
    query_add(query, PIECE(")"));
}

static void
add_side(const struct apart_sides *sides, struct query *query)
{
    query_add(
        query,
        sides->against == APART_EARLIER
            ? PIECE("SELECT e.created_at::timestamp >= (SELECT :moment::timestamptz AT TIME ZONE :zone)")
            : PIECE("SELECT CASE WHEN e.id BETWEEN :lowest AND :highest THEN "
                    "get_bit(:ids, (e.id - :lowest)::int4) = 1 ELSE false END"));
}

static void
add_params(const struct store *store, const struct apart_sides *sides, const struct asked *asked,
           size_t count, struct arena *arena, struct query *query)
{
    const char *paths[APART_COUNTED], *values[APART_COUNTED];
    char moment[TIME_TEXT];
    const char **types = arena_array(arena, sides->type_count + 1, sizeof *types);
    for (size_t i = 0; i < count; i++) {
        paths[i] = strbuf_text(&asked[i].path);
        values[i] = asked[i].values.len ? strbuf_text(&asked[i].values) : "[]";
    }
    for (size_t i = 0; i < sides->type_count; i++)
        types[i] = arena_text(arena, sides->types[i]);
    param_bits(query_param(query, "ids"), sides->ids, sides->id_count);
    param_int8(query_param(query, "lowest"), sides->ids[0]);
    param_int8(query_param(query, "highest"), sides->ids[sides->id_count - 1]);
    param_text(query_param(query, "zone"), store->zone);
    param_texts(query_param(query, "paths"), paths, count);
    param_texts(query_param(query, "values"), values, count);
    param_texts(query_param(query, "types"), types, sides->type_count);
    param_text(query_param(query, "moment"),
               sides->against == APART_EARLIER
                   ? arena_text(arena, bytes_of(time_rfc3339(sides->moment, 0, moment)))
                   : NULL);
}

static void
add_statement(const struct store *store, const struct apart_sides *sides, const struct asked *asked,
              size_t count, struct query *query)
{
    add_side(sides, query);
    query_add(query, PIECE(" AS side, count(*)"));
    for (size_t i = 0; i < count; i++) {
        query_add(query, PIECE(", count(*) FILTER (WHERE "));
        query_add(query, forms[i][asked[i].form]);
        query_add(query, PIECE(")"));
    }
    add_sides(sides, query);
    if (store->info.schema_version > 0)
        query_add(query, PIECE(" AND NOT EXISTS (SELECT FROM redrive.revision r WHERE r.dlq_id = e.id AND "
                               "r.payload IS NOT NULL)"));
    query_add(query, PIECE(" GROUP BY 1"));
}

static void
take_counts(const PGresult *result, const struct asked *asked, size_t count, struct apart_counts *counts)
{
    for (int row = 0; row < PQntuples(result); row++) {
        bool is_here = !value_is_null(result, row, 0) && value_bool(result, row, 0);
        *(is_here ? &counts->all_here : &counts->all_there) += value_int8(result, row, 1);
        for (size_t i = 0; i < count; i++)
            *(is_here ? &counts->rows[i].here : &counts->rows[i].there) +=
                value_int8(result, row, (int)i + 2);
    }
    for (size_t i = 0; i < count; i++)
        counts->rows[i].is_counted = asked[i].form != FORM_NONE;
}

static bool
find_corrected(struct store *store, struct apart_counts *counts, struct err *err)
{
    PGresult *r;
    if (store->info.schema_version == 0)
        return true;
    if (!pg_ask(store, FOR_READING,
                "SELECT DISTINCT r.dlq_id FROM redrive.revision r WHERE r.payload IS NOT NULL ORDER BY 1",
                NULL, &r, err))
        return false;
    counts->corrected = alloc_array((size_t)PQntuples(r) + 1, sizeof *counts->corrected);
    for (int row = 0; row < PQntuples(r); row++)
        counts->corrected[counts->corrected_count++] = value_int8(r, row, 0);
    PQclear(r);
    return true;
}

bool
store_apart_counts(struct store *store, const struct apart_sides *sides,
                   const struct apart_question *const *questions, size_t count, struct apart_counts *counts,
                   struct err *err)
{
    *counts = (struct apart_counts){0};
    if (sides->id_count == 0 ||
        (uint64_t)sides->ids[sides->id_count - 1] - (uint64_t)sides->ids[0] >= SPAN_MOST)
        return err_set(err, ERR_DATA,
                       "the ids of these events lie too far apart to count them by the server");
    struct asked asked[APART_COUNTED] = {0};
    struct arena arena = {0};
    struct query query = {0};
    count = count < APART_COUNTED ? count : APART_COUNTED;
    for (size_t i = 0; i < count; i++)
        asked[i].form = form_of(store, questions[i], &asked[i]);
    add_params(store, sides, asked, count, &arena, &query);
    add_statement(store, sides, asked, count, &query);
    PGresult *r = NULL;
    bool ok = pg_ask(store, FOR_SCANNING, query_text(&query), &query.params, &r, err);
    if (ok)
        take_counts(r, asked, count, counts);
    PQclear(r);
    query_release(&query);
    arena_release(&arena);
    for (size_t i = 0; i < count; i++) {
        strbuf_release(&asked[i].path);
        strbuf_release(&asked[i].values);
    }
    return ok && find_corrected(store, counts, err);
}
