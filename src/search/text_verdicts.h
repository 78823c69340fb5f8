// text_verdicts: what the terms of a filter say of the different texts of a column (core/backlog/texts), each
// asked once and kept by its number.
//
// Who will want most texts of a column has whole blocks decided, by several threads, and more and more of
// those that follow with them: of a pattern with a literal the texts without it all at once. It takes some
// milliseconds at most, but for a text that alone takes longer (core/filter/pattern says how much). Columns
// may grow between two calls. Everything given is borrowed until text_verdicts_destroy.
#ifndef REDRIVE_SEARCH_TEXT_VERDICTS_H
#define REDRIVE_SEARCH_TEXT_VERDICTS_H

#include "core/filter/filter.h"
#include "core/backlog/texts.h"
#include "store/events/texts.h"

struct text_verdicts;

// threads: with the caller's own; 0: as many as there are processors, but a few at most.
struct text_verdicts *text_verdicts_create(struct filter *filter, unsigned threads);
void text_verdicts_destroy(struct text_verdicts *verdicts);
void text_verdicts_forget(struct text_verdicts *verdicts); // numbers stand for other texts from here on

// One term, which is about `text`, on the text of that number, or TEXT_ABSENT.
enum filter_verdict text_verdicts_of(struct text_verdicts *verdicts, size_t term, const struct texts *texts,
                                     uint32_t number, bool wants_most);
// Of how many of these texts, from the first on, the term is known to say no.
size_t text_verdicts_ruled_out(const struct text_verdicts *verdicts, size_t term, const uint32_t *numbers,
                               size_t count);

// So far.
size_t text_verdicts_matched(const struct text_verdicts *verdicts); // texts, each for itself
size_t text_verdicts_blocks(const struct text_verdicts *verdicts);  // that were decided or begun

#endif
