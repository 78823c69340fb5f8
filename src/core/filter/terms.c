// A filter's terms one by one: the data that each needs, and matching by part of an event.
#include "core/filter/parse.h"

static const int64_t LAST_OF_SECOND = US_PER_SECOND - 1;
static const int64_t ZONES_US = 16 * 3600 * US_PER_SECOND; // no zone is further from UTC

size_t
filter_terms(const struct filter *filter)
{
    return filter->count;
}

bool
filter_term_is_inverted(const struct filter *filter, size_t i)
{
    return filter->terms[i].is_inverted;
}

struct pattern *
filter_term_pattern(const struct filter *filter, size_t i)
{
    const struct filter_term *term = &filter->terms[i];
    return filter_field_kind(term->field) == KIND_TEXT ? term->pattern : NULL;
}

struct bytes
filter_term_exact(const struct filter *filter, size_t i)
{
    const struct filter_term *term = &filter->terms[i];
    bool is_text = filter_field_kind(term->field) == KIND_TEXT && term->is_exact;
    return is_text ? strbuf_bytes(&term->exact) : BYTES_ABSENT;
}

enum filter_from
filter_term_from(const struct filter *filter, size_t i)
{
    const struct filter_term *term = &filter->terms[i];
    switch (term->field) {
    case FIELD_ERROR:
        return FILTER_FROM_ERROR;
    case FIELD_STACK:
        return FILTER_FROM_STACK;
    case FIELD_PAYLOAD:
    case FIELD_JSON:
        return FILTER_FROM_PAYLOAD;
    case FIELD_ID:
    case FIELD_STATUS:
    case FIELD_TYPE:
    case FIELD_SOURCE:
    case FIELD_TOPIC:
    case FIELD_RETRIES:
    case FIELD_AGE:
    case FIELD_CREATED:
    case FIELD_GROUP:
    case FIELD_CATEGORY:
    case FIELD_CLASS:
        return FILTER_FROM_ROW;
    case FIELD_IS:
        return term->flag == FLAG_NEW ? FILTER_FROM_ROW : FILTER_FROM_EVENT;
    case FIELD_HAS:
        return term->flag == FLAG_STACK ? FILTER_FROM_STACK : FILTER_FROM_EVENT;
    default:
        return FILTER_FROM_EVENT;
    }
}

// The verdict on a value between low and high, both included. False: it depends on the value.
static bool
within_all(const struct filter_range *range, int64_t low, int64_t high, enum filter_verdict *verdict)
{
    bool is_inside = low >= range->low && high <= range->high;
    bool is_outside = high < range->low || low > range->high;
    *verdict = is_inside ? FILTER_YES : FILTER_NO;
    return is_inside || is_outside;
}

static bool
time_verdict(const struct filter *filter, const struct filter_term *term, int64_t created,
             enum filter_verdict *verdict)
{
    if (term->field == FIELD_AGE) {
        int64_t age = filter->context.now - created;
        return within_all(&term->range, age - LAST_OF_SECOND, age, verdict);
    }
    if (term->field == FIELD_CREATED)
        return within_all(&term->range, created - ZONES_US, created + ZONES_US, verdict);
    struct filter_range later = {.low = filter->context.new_after + 1, .high = INT64_MAX};
    return within_all(&later, created, created + LAST_OF_SECOND, verdict);
}

// Of a text that is absent or empty, which of the two is not known: false where that matters.
static bool
blank_decides(struct filter *filter, size_t i, enum filter_verdict *verdict)
{
    const struct event empty = {.event_type = BYTES(""), .source_table = BYTES(""), .topic = BYTES("")};
    const struct event absent = {.created_at = TIME_ABSENT};
    *verdict = filter_match_term(filter, i, &absent);
    return *verdict == filter_match_term(filter, i, &empty);
}

static bool
is_blank_text(enum filter_field field, const struct event *event)
{
    return (field == FIELD_TYPE && !event->event_type.len) ||
           (field == FIELD_SOURCE && !event->source_table.len) || (field == FIELD_TOPIC && !event->topic.len);
}

bool
filter_match_second(struct filter *filter, size_t i, const struct event *event, enum filter_verdict *verdict)
{
    const struct filter_term *term = &filter->terms[i];
    if (is_blank_text(term->field, event))
        return blank_decides(filter, i, verdict);
    bool is_time = term->field == FIELD_AGE || term->field == FIELD_CREATED || term->field == FIELD_IS;
    if (!is_time || event->created_at == TIME_ABSENT) {
        *verdict = filter_match_term(filter, i, event);
        return true;
    }
    if (!time_verdict(filter, term, event->created_at, verdict))
        return false;
    if (term->is_inverted)
        *verdict = *verdict == FILTER_YES ? FILTER_NO : FILTER_YES;
    return true;
}
