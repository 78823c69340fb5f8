// Any line as a filter, up to the first line end; what follows is every text of an event. A filter is read or
// refused at a character of its line, asks for what it looks at, and never says more than the text holds.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"
#include "core/filter/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SPANS = 16 };

static int
characters(struct bytes text)
{
    int count = 0;
    for (size_t at = 0; at < text.len; count++) {
        uint32_t point;
        at += utf8_decode(text, at, &point);
    }
    return count;
}

static void
check_spans(struct filter *filter, struct bytes text)
{
    struct filter_span spans[SPANS];
    for (int column = FILTER_COLUMN_ERROR; column <= FILTER_COLUMN_EVENT_ID; column++) {
        size_t count = filter_spans(filter, (enum filter_column)column, text, spans, SPANS);
        if (count > SPANS)
            abort();
        size_t end = 0;
        for (size_t i = 0; i < count; i++) {
            if (spans[i].from < end || spans[i].from + spans[i].len > text.len)
                abort();
            end = spans[i].from + spans[i].len;
        }
    }
}

// By the verdicts of the terms one by one the filter says the same.
static void
check_decided(struct filter *filter, const struct event *event, enum filter_verdict verdict)
{
    struct filter_known known = {0};
    uint64_t open = 0;
    if (filter_terms(filter) > 64)
        return;
    enum filter_verdict decided = filter_decide(filter, &known, &open);
    for (size_t i = 0; i < filter_terms(filter); i++) {
        filter_know(&known, 1ull << i, filter_match_term(filter, i, event));
        decided = filter_decide(filter, &known, &open);
    }
    bool is_limited = decided == FILTER_UNDECIDED || verdict == FILTER_UNDECIDED;
    if (open || (decided != verdict && !is_limited))
        abort();
}

static void
check_event(struct filter *filter, struct bytes text)
{
    struct event_header header = {.name = text, .value = text};
    struct event event = {.id = 1,
                          .event_id = text,
                          .event_type = text,
                          .source_table = text,
                          .source_id = text,
                          .topic = text,
                          .error_message = text,
                          .stack_trace = text,
                          .payload = text,
                          .record.key = text,
                          .record.headers = &header,
                          .record.header_count = 1,
                          .error_class = text};
    enum filter_verdict first = filter_match(filter, &event);
    enum filter_verdict again = filter_match(filter, &event);
    // A limit of time may come sooner or later; otherwise a filter has one opinion.
    if (first != again && first != FILTER_UNDECIDED && again != FILTER_UNDECIDED)
        abort();
    if (filter_is_empty(filter) && first != FILTER_YES)
        abort();
    check_decided(filter, &event, first);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 4096)
        return 0;
    struct bytes all = {(const char *)data, size};
    const char *end = size ? memchr(data, '\n', size) : NULL;
    struct bytes line = bytes_slice(all, 0, end ? (size_t)(end - all.data) : size);
    struct bytes text = bytes_slice(all, line.len + 1, SIZE_MAX);
    for (size_t i = 0; i < 8 && filter_complete(line, i); i++)
        continue;

    struct filter_context context = {.now = 1700000000LL * US_PER_SECOND, .new_after = TIME_ABSENT};
    struct filter *filter;
    struct err err = {0};
    if (!filter_parse(&filter, line, &context, &err)) {
        bool is_placed = err.column >= 1 && err.column <= characters(line) + 1;
        if (!err_is_set(&err) || err.kind != ERR_USAGE || is_placed != utf8_valid(line))
            abort();
        return 0;
    }
    (void)filter_statuses(filter);
    if (filter_is_empty(filter) != (filter_needs(filter) == 0) && filter_is_empty(filter))
        abort();
    check_event(filter, text);
    check_spans(filter, text);
    filter_destroy(filter);
    return 0;
}
