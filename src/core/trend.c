#include "core/trend.h"

#include "base/clock.h"
#include "base/text.h"

static const struct {
    const char *name;
    int64_t length, point; // seconds
} spans[TREND_SPANS] = {
    [TREND_15_MINUTES] = {"15 min", 900, 60},
    [TREND_6_HOURS] = {"6 h", 21600, 360},
    [TREND_24_HOURS] = {"24 h", 86400, 900},
    [TREND_7_DAYS] = {"7 d", 604800, 3600},
};

int64_t
trend_span_length(enum trend_span span)
{
    return spans[span].length * US_PER_SECOND;
}

int64_t
trend_span_point(enum trend_span span)
{
    return spans[span].point * US_PER_SECOND;
}

const char *
trend_span_name(enum trend_span span)
{
    return spans[span].name;
}

bool
trend_span_parse(struct bytes text, enum trend_span *span, struct err *err)
{
    int64_t length;
    if (text_parse_duration(text, &length, NULL))
        for (int i = 0; i < TREND_SPANS; i++)
            if (length == trend_span_length((enum trend_span)i)) {
                *span = (enum trend_span)i;
                return true;
            }
    return err_set(err, ERR_USAGE, "the backlog is known over 15m, 6h, 24h or 7d, not over \"%.*s\"",
                   BYTES_ARGS(text));
}

int64_t
trend_came(const struct trend_point *point)
{
    return point->arrived + point->restored;
}

int64_t
trend_left(const struct trend_point *point)
{
    return point->resolved + point->discarded + point->reprocessed + point->gone;
}

int64_t
trend_first(const struct trend *trend)
{
    int64_t step = trend_span_point(trend->span);
    return trend->as_of - trend->as_of % step - ((int64_t)trend->count - 1) * step;
}

void
trend_lay(struct trend *trend, const struct trend_point *read, size_t read_count)
{
    int64_t step = trend_span_point(trend->span);
    int64_t first = trend_first(trend);
    for (size_t i = 0; i < trend->count; i++)
        trend->points[i] = (struct trend_point){.at = first + (int64_t)i * step, .pending = -1};
    for (size_t i = 0; i < read_count; i++) {
        if (read[i].at < first)
            continue;
        size_t at = (size_t)((read[i].at - first) / step);
        if (at < trend->count)
            trend->points[at] = read[i];
    }
}

static void
add_point(struct trend_point *sum, const struct trend_point *point)
{
    sum->arrived += point->arrived;
    sum->resolved += point->resolved;
    sum->discarded += point->discarded;
    sum->reprocessed += point->reprocessed;
    sum->gone += point->gone;
    sum->restored += point->restored;
    if (point->pending >= 0)
        sum->pending = point->pending;
}

size_t
trend_fold(const struct trend *trend, size_t most, struct trend_point *folded, int64_t *length)
{
    size_t per = (trend->count + most - 1) / most;
    per = per ? per : 1;
    size_t count = (trend->count + per - 1) / per;
    size_t lacking = count * per - trend->count; // of the oldest
    *length = (int64_t)per * trend_span_point(trend->span);
    for (size_t i = 0; i < count; i++)
        folded[i] = (struct trend_point){.at = trend_first(trend) + (int64_t)i * *length -
                                               (int64_t)lacking * trend_span_point(trend->span),
                                         .pending = -1};
    for (size_t i = 0; i < trend->count; i++)
        add_point(&folded[(i + lacking) / per], &trend->points[i]);
    return count;
}

const struct trend_mark *
trend_mark_in(const struct trend *trend, int64_t from, int64_t to)
{
    const struct trend_mark *last = NULL;
    for (size_t i = 0; i < trend->mark_count; i++)
        if (trend->marks[i].at >= from && trend->marks[i].at < to &&
            (!last || last->operation || !trend->marks[i].operation))
            last = &trend->marks[i];
    return last;
}
