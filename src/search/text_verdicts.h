// text_verdicts: the verdicts of a filter's terms on the different texts of a column (core/backlog/texts).
// Each text is matched once; the verdict is kept by the text's number.
//
// A caller that will want most texts gets whole blocks decided in advance, by several threads, in batches
// that grow from call to call. A pattern with a literal rules out all texts without the literal in one search
// of the block. A call takes some milliseconds at most, unless a single text takes longer
// (core/filter/pattern says how long). Columns may grow between two calls. Everything given is borrowed until
// text_verdicts_destroy.
#ifndef REDRIVE_SEARCH_TEXT_VERDICTS_H
#define REDRIVE_SEARCH_TEXT_VERDICTS_H

#include "core/filter/filter.h"
#include "core/backlog/texts.h"
#include "store/events/texts.h"

struct text_verdicts;

// threads: the caller's own included; 0: one for each processor, a few at most.
struct text_verdicts *text_verdicts_create(struct filter *filter, unsigned threads);
void text_verdicts_destroy(struct text_verdicts *verdicts);
void text_verdicts_forget(struct text_verdicts *verdicts); // the numbers will be of other texts

// The verdict of a term that reads this column on the text of that number, or on TEXT_ABSENT.
enum filter_verdict text_verdicts_of(struct text_verdicts *verdicts, size_t term, const struct texts *texts,
                                     uint32_t number, bool wants_most);
// How many of these texts, from the first on, the term is known to rule out.
size_t text_verdicts_ruled_out(const struct text_verdicts *verdicts, size_t term, const uint32_t *numbers,
                               size_t count);

size_t text_verdicts_matched(const struct text_verdicts *verdicts); // texts that were matched one by one
size_t text_verdicts_blocks(const struct text_verdicts *verdicts);  // blocks that were decided or begun

#endif
