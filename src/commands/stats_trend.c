#include "commands/stats_trend.h"

#include <inttypes.h>
#include "base/clock.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "store/rollup/trend.h"

static bool
is_known(const struct trend_point *point)
{
    return point->pending >= 0 || trend_came(point) || trend_left(point);
}

// --- for people ---

static void
add_known(struct output_table *table, bool is_known, int64_t count)
{
    if (is_known)
        table_add_count(table, count);
    else
        table_add(table, BYTES_ABSENT);
}

static bool
points_text(const struct call *call, const struct trend *trend, struct err *err)
{
    static const struct output_column columns[] = {{"from", ALIGN_LEFT, 19, 0},
                                                   {"in", ALIGN_RIGHT, 9, 0},
                                                   {"out", ALIGN_RIGHT, 9, 0},
                                                   {"pending", ALIGN_RIGHT, 9, 0}};
    struct output_table table;
    table_begin(&table, call, columns, 4);
    for (size_t i = 0; i < trend->count; i++) {
        const struct trend_point *point = &trend->points[i];
        table_add_time(&table, point->at);
        add_known(&table, is_known(point), trend_came(point));
        add_known(&table, is_known(point), trend_left(point));
        add_known(&table, point->pending >= 0, point->pending);
    }
    return table_end(&table, err);
}

static bool
marks_text(const struct call *call, const struct trend *trend, struct err *err)
{
    static const struct output_column columns[] = {
        {"at", ALIGN_LEFT, 19, 0}, {"operation", ALIGN_RIGHT, 9, 0}, {"mark", ALIGN_LAST, 0, 0}};
    struct output_table table;
    if (!trend->mark_count)
        return true;
    table_begin(&table, call, columns, 3);
    for (size_t i = 0; i < trend->mark_count; i++) {
        table_add_time(&table, trend->marks[i].at);
        if (trend->marks[i].operation)
            table_add_number(&table, trend->marks[i].operation);
        else
            table_add(&table, BYTES_ABSENT);
        table_add_text(&table, trend->marks[i].text);
    }
    return output_bytes(BYTES("\nMarks\n"), err) && table_end(&table, err);
}

// --- for programs ---

static struct value *
points_json(const struct trend *trend, int64_t zone_us)
{
    struct value *list = value_array();
    for (size_t i = 0; i < trend->count; i++) {
        const struct trend_point *point = &trend->points[i];
        struct value *row = value_object();
        bool is_there = is_known(point);
        value_add_time(row, "at", point->at, zone_us);
        value_add_int_or_null(row, "in", is_there, trend_came(point));
        value_add_int_or_null(row, "out", is_there, trend_left(point));
        value_add_int_or_null(row, "pending", point->pending >= 0, point->pending);
        value_add_int_or_null(row, "arrived", is_there, point->arrived);
        value_add_int_or_null(row, "restored", is_there, point->restored);
        value_add_int_or_null(row, "resolved", is_there, point->resolved);
        value_add_int_or_null(row, "reprocessed", is_there, point->reprocessed);
        value_add_int_or_null(row, "discarded", is_there, point->discarded);
        value_add_int_or_null(row, "gone", is_there, point->gone);
        value_add(list, NULL, row);
    }
    return list;
}

static struct value *
marks_json(const struct trend *trend, int64_t zone_us)
{
    struct value *list = value_array();
    for (size_t i = 0; i < trend->mark_count; i++) {
        const struct trend_mark *mark = &trend->marks[i];
        struct value *row = value_object();
        value_add_time(row, "at", mark->at, zone_us);
        value_add_int_or_null(row, "operation", mark->operation != 0, mark->operation);
        value_add_text(row, "text", mark->text);
        value_add(list, NULL, row);
    }
    return list;
}

static bool
trend_json(const struct trend *trend, int64_t zone_us, struct err *err)
{
    struct value *object = value_object();
    value_add_text(object, "analysis", "backlog");
    value_add_int(object, "span_seconds", trend_span_length(trend->span) / US_PER_SECOND);
    value_add_int(object, "point_seconds", trend_span_point(trend->span) / US_PER_SECOND);
    value_add_time(object, "as_of", trend->as_of, zone_us);
    value_add(object, "points", points_json(trend, zone_us));
    value_add(object, "marks", marks_json(trend, zone_us));
    return json_print(object, err);
}

bool
stats_trend(struct call *call, struct store *store, struct bytes span, struct err *err)
{
    enum trend_span asked;
    struct arena arena = {0};
    struct trend trend;
    bool ok = trend_span_parse(span, &asked, err) && trend_read(store, asked, &arena, &trend, err);
    if (ok && call->options.general.json)
        ok = trend_json(&trend, store_info(store)->zone_us, err);
    else if (ok)
        ok = points_text(call, &trend, err) && marks_text(call, &trend, err);
    arena_release(&arena);
    return ok;
}
