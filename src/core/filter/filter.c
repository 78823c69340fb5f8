#include "core/filter/filter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "core/filter/parse.h"

static struct bytes
text_column(const struct event *event, enum filter_field field)
{
    switch (field) {
    case FIELD_ERROR:
        return event->error_message;
    case FIELD_STACK:
        return event->stack_trace;
    case FIELD_CLASS:
        return event->error_class;
    case FIELD_PAYLOAD:
        return event_payload_shown(event);
    case FIELD_KEY:
        return event_key(event);
    case FIELD_TYPE:
        return event->event_type;
    case FIELD_SOURCE:
        return event->source_table;
    case FIELD_SOURCE_ID:
        return event->source_id;
    case FIELD_EVENT_ID:
        return event->event_id;
    case FIELD_CORRELATION:
        return event->correlation_id;
    case FIELD_TOPIC:
        return event->topic;
    case FIELD_RESOLVED_BY:
        return event->closed.by;
    case FIELD_QUEUE:
        return event_queue(event);
    case FIELD_FORMAT:
        return event->record.format;
    case FIELD_CONSUMER:
        return event->record.consumer;
    default:
        return BYTES_ABSENT;
    }
}

static enum filter_verdict
match_text(const struct filter_term *term, struct bytes text)
{
    if (!bytes_present(text))
        return FILTER_NO;
    if (term->is_exact)
        return bytes_equal(text, strbuf_bytes(&term->exact)) ? FILTER_YES : FILTER_NO;
    switch (pattern_find(term->pattern, text, 0, NULL, NULL)) {
    case PATTERN_YES:
        return FILTER_YES;
    case PATTERN_LIMIT:
        return FILTER_UNDECIDED;
    case PATTERN_NO:
        break;
    }
    return FILTER_NO;
}

static enum filter_verdict
verdict(bool holds)
{
    return holds ? FILTER_YES : FILTER_NO;
}

static enum filter_verdict
within(const struct filter_term *term, int64_t value)
{
    return verdict(value >= term->range.low && value <= term->range.high);
}

// Any header of that name decides; names are compared as they stand, in any case of letters.
static enum filter_verdict
match_headers(const struct filter_term *term, const struct event_header *headers, uint32_t count)
{
    enum filter_verdict best = FILTER_NO;
    for (uint32_t i = 0; i < count; i++) {
        struct bytes name = headers[i].name;
        if (name.len != term->header.len || strncasecmp(name.data, term->header.data, name.len) != 0)
            continue;
        enum filter_verdict one = match_text(term, headers[i].value);
        if (one == FILTER_YES)
            return FILTER_YES;
        if (one == FILTER_UNDECIDED)
            best = FILTER_UNDECIDED;
    }
    return best;
}

// Of the dead letter, and of the original that it points at.
static enum filter_verdict
match_header(const struct filter_term *term, const struct event *event)
{
    const struct event_record *record = &event->record;
    enum filter_verdict own = match_headers(term, record->headers, record->header_count);
    if (own == FILTER_YES || record->original.header_count == 0)
        return own;
    enum filter_verdict of_original =
        match_headers(term, record->original.headers, record->original.header_count);
    return of_original == FILTER_NO ? own : of_original;
}

static enum filter_verdict
match_json_value(struct filter *filter, const struct filter_term *term, struct bytes token,
                 enum json_kind kind)
{
    struct bytes asked = strbuf_bytes(&term->exact);
    struct bytes content = token;
    if (kind == JSON_STRING) {
        strbuf_reset(&filter->scratch);
        json_decode(token, &filter->scratch);
        content = strbuf_bytes(&filter->scratch);
    }
    if (term->test == JSON_MATCHES)
        return match_text(term, content);
    if (term->test == JSON_EQUALS && kind != JSON_NUMBER)
        return verdict(bytes_equal(content, asked));
    if (kind != JSON_NUMBER || !term->is_number)
        return FILTER_NO;

    int order = json_number_compare(token, asked);
    switch (term->test) {
    case JSON_ABOVE:
        return verdict(order > 0);
    case JSON_BELOW:
        return verdict(order < 0);
    case JSON_AT_LEAST:
        return verdict(order >= 0);
    case JSON_AT_MOST:
        return verdict(order <= 0);
    default:
        return verdict(order == 0);
    }
}

static enum filter_verdict
match_json(struct filter *filter, const struct filter_term *term, const struct event *event)
{
    struct json_token value;
    struct bytes payload = event_payload_shown(event);
    if (!bytes_present(payload) || !json_path_find(term->path, payload, &value))
        return FILTER_NO;
    if (term->test == JSON_EXISTS)
        return verdict(term->wanted == PATH_MISSING ||
                       path_value_is(bytes_slice(payload, value.from, value.len), term->wanted));
    return match_json_value(filter, term, bytes_slice(payload, value.from, value.len), value.kind);
}

static bool
has_flag(const struct filter *filter, enum filter_flag flag, const struct event *event)
{
    switch (flag) {
    case FLAG_EDITED:
        return event->known.revisions > 0;
    case FLAG_RETURNED:
        return event->known.returned > 0;
    case FLAG_QUARANTINED:
        return event->known.is_quarantined;
    case FLAG_NEW:
        return event->created_at != TIME_ABSENT && event->created_at > filter->context.new_after;
    case FLAG_BUSY:
        return event->known.operation != 0;
    case FLAG_STACK:
        return bytes_present(event->stack_trace) && event->stack_trace.len > 0;
    case FLAG_RAW:
        return event->record.is_kept;
    }
    return false;
}

static bool
filter_is_among(uint64_t group, const struct filter_term *term)
{
    size_t low = 0;
    size_t high = term->group_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (term->groups[middle].high < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low < term->group_count && group >= term->groups[low].low;
}

static bool
is_of_operation(const struct filter_term *term, const struct event_part *part)
{
    return part->operation >= term->range.low && part->operation <= term->range.high;
}

static const struct filter_term *
term_of(const struct filter *filter, size_t node)
{
    return filter->nodes[node].join == JOIN_NONE ? &filter->terms[filter->nodes[node].term] : NULL;
}

// Does the part belong to the operations that are named beside this term, in the brackets it stands in and
// those around them? *holds: it does; as far as is known above `node`.
static bool
is_named_beside(const struct filter *filter, size_t node, const struct filter_term *asked,
                const struct event_part *part, bool *holds)
{
    if (term_of(filter, node))
        return term_of(filter, node) == asked;
    bool is_here = false;
    bool is_of = true;
    for (size_t child = filter->nodes[node].first; child != FILTER_NO_NODE;
         child = filter->nodes[child].next) {
        const struct filter_term *term = term_of(filter, child);
        is_here |= is_named_beside(filter, child, asked, part, holds);
        if (term && term->field == FIELD_OPERATION && !term->is_inverted)
            is_of &= is_of_operation(term, part);
    }
    if (is_here && filter->nodes[node].join == JOIN_ALL)
        *holds &= is_of;
    return is_here;
}

// An outcome is that in the operations which are named beside it.
static bool
is_part_of(const struct filter *filter, const struct filter_term *term, const struct event *event)
{
    for (uint32_t i = 0; i < event->known.part_count; i++) {
        const struct event_part *part = &event->known.parts[i];
        bool holds = term->field == FIELD_OPERATION ? is_of_operation(term, part)
                                                    : (part->outcomes & term->statuses) != 0;
        if (holds && term->field == FIELD_OUTCOME)
            (void)is_named_beside(filter, filter->root, term, part, &holds);
        if (holds)
            return true;
    }
    return false;
}

static enum filter_verdict
match_term(struct filter *filter, const struct filter_term *term, const struct event *event)
{
    switch (term->field) {
    case FIELD_JSON:
        return match_json(filter, term, event);
    case FIELD_HEADER:
        return match_header(term, event);
    case FIELD_ID:
        return within(term, event->id);
    case FIELD_RETRIES:
        return within(term, event->retries.count);
    case FIELD_PARTITION:
        return event->origin.has_partition ? within(term, event->origin.partition) : FILTER_NO;
    case FIELD_OFFSET:
        return event->origin.has_offset ? within(term, event->origin.offset) : FILTER_NO;
    case FIELD_AGE:
        return event->created_at == TIME_ABSENT ? FILTER_NO
                                                : within(term, filter->context.now - event->created_at);
    case FIELD_CREATED:
        return event->created_at == TIME_ABSENT ? FILTER_NO : within(term, event->created_wall);
    case FIELD_GROUP:
        return verdict(filter_is_among(event->group, term));
    case FIELD_CATEGORY:
        return verdict(event->category == term->category);
    case FIELD_STATUS:
        return verdict(term->statuses >> event->status & 1);
    case FIELD_OPERATION:
    case FIELD_OUTCOME:
        return verdict(is_part_of(filter, term, event));
    case FIELD_IS:
    case FIELD_HAS:
        return verdict(has_flag(filter, term->flag, event));
    default:
        return match_text(term, text_column(event, term->field));
    }
}

static enum filter_verdict
invert(const struct filter_term *term, enum filter_verdict verdict)
{
    if (!term->is_inverted || verdict == FILTER_UNDECIDED)
        return verdict;
    return verdict == FILTER_YES ? FILTER_NO : FILTER_YES;
}

static bool
names_one(const struct filter_term *term, int64_t *no)
{
    bool is_one =
        term && term->field == FIELD_OPERATION && !term->is_inverted && term->range.low == term->range.high;
    if (is_one)
        *no = term->range.low;
    return is_one;
}

bool
filter_operation(const struct filter *filter, int64_t *no)
{
    if (filter->root == FILTER_NO_NODE)
        return false;
    const struct filter_node *root = &filter->nodes[filter->root];
    if (root->join != JOIN_ALL)
        return names_one(term_of(filter, filter->root), no);
    for (size_t child = root->first; child != FILTER_NO_NODE; child = filter->nodes[child].next)
        if (names_one(term_of(filter, child), no))
            return true;
    return false;
}

static bool
is_of_letter(const struct filter_term *term)
{
    return term && !term->is_inverted && (term->field == FIELD_FORMAT || term->field == FIELD_CONSUMER);
}

bool
filter_wants_letter(const struct filter *filter)
{
    if (filter->root == FILTER_NO_NODE)
        return false;
    const struct filter_node *root = &filter->nodes[filter->root];
    if (root->join != JOIN_ALL)
        return is_of_letter(term_of(filter, filter->root));
    for (size_t child = root->first; child != FILTER_NO_NODE; child = filter->nodes[child].next)
        if (is_of_letter(term_of(filter, child)))
            return true;
    return false;
}

bool
filter_names_quarantined(const char *text)
{
    const struct filter_context context = {0};
    struct filter *filter = NULL;
    struct err err = {0};
    bool is_named = false;
    if (!text || !filter_parse(&filter, bytes_of(text), &context, &err))
        return false;
    for (size_t i = 0; i < filter->count; i++) {
        const struct filter_term *term = &filter->terms[i];
        is_named |= term->field == FIELD_IS && term->flag == FLAG_QUARANTINED && !term->is_inverted;
    }
    filter_destroy(filter);
    return is_named;
}

bool
quarantine_is_named(bool by_id, const char *filter)
{
    return by_id || filter_names_quarantined(filter);
}

// What PostgreSQL cannot return of the event.
static unsigned
fields_missing(const struct event *event)
{
    unsigned payload = event->known.unreadable ? EVENT_PAYLOAD : 0;
    unsigned error = event->known.unreadable_error ? EVENT_ERROR | EVENT_GROUP : 0;
    unsigned stack = event->known.unreadable_stack ? EVENT_STACK | EVENT_GROUP : 0;
    return payload | error | stack;
}

enum filter_verdict
filter_match_term(struct filter *filter, size_t i, const struct event *event)
{
    const struct filter_term *term = &filter->terms[i];
    if (filter_term_needs(filter, i) & fields_missing(event))
        return FILTER_UNDECIDED;
    return invert(term, match_term(filter, term, event));
}

static int
filter_by_place(const void *left, const void *right)
{
    const struct filter_span *a = left;
    const struct filter_span *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->len < b->len) - (a->len > b->len);
}

static bool
shows_in(enum filter_field field, enum filter_column column)
{
    static const enum filter_field fields[] = {
        [FILTER_COLUMN_ERROR] = FIELD_ERROR,     [FILTER_COLUMN_STACK] = FIELD_STACK,
        [FILTER_COLUMN_PAYLOAD] = FIELD_PAYLOAD, [FILTER_COLUMN_KEY] = FIELD_KEY,
        [FILTER_COLUMN_TYPE] = FIELD_TYPE,       [FILTER_COLUMN_TOPIC] = FIELD_TOPIC,
        [FILTER_COLUMN_SOURCE] = FIELD_SOURCE,   [FILTER_COLUMN_EVENT_ID] = FIELD_EVENT_ID};
    return fields[column] == field;
}

size_t
filter_spans(struct filter *filter, enum filter_column column, struct bytes text, struct filter_span *spans,
             size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < filter->count; i++) {
        const struct filter_term *term = &filter->terms[i];
        if (term->is_inverted || !shows_in(term->field, column))
            continue;
        if (term->is_exact && count < room && bytes_equal(text, strbuf_bytes(&term->exact)))
            spans[count++] = (struct filter_span){.from = 0, .len = text.len};
        for (size_t at = 0; term->pattern && count < room;) {
            size_t from;
            size_t len;
            if (pattern_find(term->pattern, text, at, &from, &len) != PATTERN_YES)
                break;
            if (len)
                spans[count++] = (struct filter_span){.from = from, .len = len};
            at = from + (len ? len : 1);
        }
    }

    if (count > 1)
        qsort(spans, count, sizeof *spans, filter_by_place);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || spans[i].from >= spans[kept - 1].from + spans[kept - 1].len)
            spans[kept++] = spans[i];
    return kept;
}
