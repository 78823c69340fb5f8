// term_text: the long texts of an event as the terms of a filter see them. The one place that knows which
// text a term reads, and which member of struct event holds it.
#ifndef REDRIVE_SEARCH_TERM_TEXT_H
#define REDRIVE_SEARCH_TERM_TEXT_H

#include "core/filter/filter.h"
#include "store/events/texts.h"

// The text that a term reads; EVENT_TEXT_COUNT: it reads short columns only.
enum event_text term_text(const struct filter *filter, size_t term);
// The verdict of a term that reads a text, with its !, on that text (or its absence).
enum filter_verdict term_text_match(struct filter *filter, size_t term, struct bytes text);
// The text that all terms of a part read; EVENT_TEXT_COUNT: they read different ones, or short columns.
enum event_text part_text(const struct filter *filter, size_t part);
enum filter_verdict part_text_match(struct filter *filter, size_t part, struct bytes text);
// The same for an event without what the pattern looks for: only the ! decides.
enum filter_verdict term_text_without(const struct filter *filter, size_t term);

#endif
