#include "search/text_verdicts.h"

#include <stdlib.h>
#include <string.h>
#include "async/pool.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "core/filter/pattern.h"
#include "search/term_text.h"

enum {
    WORKERS = 4,     // at most
    AHEAD = 256,     // blocks of a batch, at most
    LOOK_EVERY = 32, // texts between two looks at the clock
};
static const int64_t BATCH_US = 2000; // after which no block is begun

// Of one thread, as all threads match at the same time.
struct match_worker {
    struct filter *filter; // of the first worker the caller's, of the others twins
    struct text_room room;
    size_t matched, blocks;
};

// The verdicts of one term: 0 none yet, else the verdict + 1.
struct said {
    unsigned char *of; // by the number of the text
    size_t count;
    unsigned char absent;
};

struct text_verdicts {
    struct match_worker workers[WORKERS];
    unsigned worker_count;
    struct pool *pool;
    struct said *said; // by term
    size_t terms;
    size_t ahead; // blocks of the next batch
};

struct text_verdicts *
text_verdicts_create(struct filter *filter, unsigned threads)
{
    struct text_verdicts *verdicts = alloc_bytes(sizeof *verdicts);
    unsigned wanted = threads ? threads : pool_processors();
    verdicts->worker_count = wanted < WORKERS ? wanted : WORKERS;
    verdicts->pool = pool_create(verdicts->worker_count, "match");
    verdicts->workers[0].filter = filter;
    verdicts->terms = filter_terms(filter);
    verdicts->said = alloc_array(verdicts->terms, sizeof *verdicts->said);
    verdicts->ahead = 1;
    return verdicts;
}

void
text_verdicts_destroy(struct text_verdicts *verdicts)
{
    if (!verdicts)
        return;
    pool_destroy(verdicts->pool);
    text_verdicts_forget(verdicts);
    for (unsigned i = 1; i < verdicts->worker_count; i++)
        filter_destroy(verdicts->workers[i].filter);
    free(verdicts->said);
    free(verdicts);
}

void
text_verdicts_forget(struct text_verdicts *verdicts)
{
    for (size_t i = 0; i < verdicts->terms; i++) {
        free(verdicts->said[i].of);
        verdicts->said[i] = (struct said){0};
    }
    for (unsigned i = 0; i < verdicts->worker_count; i++)
        text_room_release(&verdicts->workers[i].room);
}

size_t
text_verdicts_matched(const struct text_verdicts *verdicts)
{
    size_t sum = 0;
    for (unsigned i = 0; i < verdicts->worker_count; i++)
        sum += verdicts->workers[i].matched;
    return sum;
}

size_t
text_verdicts_blocks(const struct text_verdicts *verdicts)
{
    size_t sum = 0;
    for (unsigned i = 0; i < verdicts->worker_count; i++)
        sum += verdicts->workers[i].blocks;
    return sum;
}

// --- one text ---

// A text from memory is valid UTF-8 (or absent), so its pattern need not check it.
static enum filter_verdict
match_text(struct filter *filter, size_t term, struct bytes text)
{
    struct pattern *pattern = filter_term_pattern(filter, term);
    if (!pattern || !bytes_present(text))
        return term_text_match(filter, term, text);
    enum pattern_verdict verdict = pattern_is_in(pattern, text);
    if (verdict == PATTERN_LIMIT)
        return FILTER_UNDECIDED;
    bool is_inverted = filter_term_is_inverted(filter, term);
    return (verdict == PATTERN_YES) != is_inverted ? FILTER_YES : FILTER_NO;
}

static unsigned char
say(struct match_worker *worker, size_t term, struct bytes text)
{
    return (unsigned char)(match_text(worker->filter, term, text) + 1);
}

// --- one block ---

// Decides the texts of a block from `from` on until the time is over, at least one. One search for the
// literal passes over all texts in front of it.
static void
decide_block(struct match_worker *worker, size_t term, unsigned char *said, const struct text_block *block,
             uint32_t from, int64_t until)
{
    struct pattern *pattern = filter_term_pattern(worker->filter, term);
    bool has_literal = pattern && pattern_holds(pattern).len > 0;
    unsigned char without = (unsigned char)(term_text_without(worker->filter, term) + 1);
    size_t matched = 0; // local: the workers share cache lines
    for (uint32_t i = from; i < block->count; i++) {
        if (has_literal) {
            size_t begin = i ? block->ends[i - 1] : 0;
            size_t hit = pattern_find_held(pattern, block->bytes, begin);
            while (i < block->count && block->ends[i] <= hit)
                said[i++] = without;
            if (i == block->count)
                break;
        }
        bool is_new = !said[i];
        if (is_new)
            said[i] = say(worker, term, text_block_at(block, i));
        matched += is_new;
        bool looks = i % LOOK_EVERY == LOOK_EVERY - 1 || (is_new && said[i] == FILTER_UNDECIDED + 1);
        if (looks && clock_mono() > until)
            break;
    }
    worker->matched += matched;
    worker->blocks++;
}

// --- several blocks ---

struct block_batch {
    struct text_verdicts *verdicts;
    size_t term;
    const struct texts *texts;
    uint32_t from[AHEAD]; // of each block: the number from which its texts are decided
    size_t count, most;
    int64_t until;
};

static void
decide_block_of(void *context, size_t block_at, unsigned worker_at)
{
    const struct block_batch *batch = context;
    if (block_at > 0 && clock_mono() > batch->until)
        return;
    struct match_worker *worker = &batch->verdicts->workers[worker_at];
    uint32_t number = batch->from[block_at];
    struct text_block block = texts_block(batch->texts, number, &worker->room);
    unsigned char *said = batch->verdicts->said[batch->term].of + block.first;
    decide_block(worker, batch->term, said, &block, number - block.first, batch->until);
}

// False: the batch is full, or the block is decided.
static bool
gather_block(struct block_batch *batch, uint32_t first, uint32_t count)
{
    const struct said *said = &batch->verdicts->said[batch->term];
    if (batch->count == batch->most || !memchr(said->of + first, 0, count))
        return false;
    batch->from[batch->count++] = first;
    return true;
}

// Gathers the block of this number, from there on, and the blocks after it. Where none is left to decide, the
// caller may be walking the texts backwards: then that block whole, and the blocks before it.
static void
text_verdicts_gather(struct block_batch *batch, uint32_t number)
{
    uint32_t first, count;
    texts_span(batch->texts, number, &first, &count);
    batch->from[batch->count++] = number;
    const uint32_t lowest = first; // of this block
    for (uint32_t next = first + count; next < texts_count(batch->texts); next = first + count) {
        texts_span(batch->texts, next, &first, &count);
        if (!gather_block(batch, first, count))
            break;
    }
    if (batch->count > 1)
        return;
    batch->from[0] = lowest;
    for (first = lowest; first > 0;) {
        texts_span(batch->texts, first - 1, &first, &count);
        if (!gather_block(batch, first, count))
            break;
    }
}

static void
decide_batch(struct text_verdicts *verdicts, size_t term, const struct texts *texts, uint32_t number)
{
    struct block_batch batch = {.verdicts = verdicts,
                                .term = term,
                                .texts = texts,
                                .most = verdicts->worker_count > 1 ? verdicts->ahead : 1,
                                .until = clock_mono() + BATCH_US};
    text_verdicts_gather(&batch, number);
    for (unsigned i = 1; batch.count > 1 && i < verdicts->worker_count; i++)
        if (!verdicts->workers[i].filter)
            verdicts->workers[i].filter = filter_twin(verdicts->workers[0].filter);
    pool_run(verdicts->pool, batch.count, decide_block_of, &batch);
    verdicts->ahead = verdicts->ahead * 2 < AHEAD ? verdicts->ahead * 2 : AHEAD;
}

static void
grow(struct said *said, size_t texts)
{
    size_t wanted = texts > said->count * 2 ? texts : said->count * 2;
    said->of = alloc_resize(said->of, wanted, 1);
    memset(said->of + said->count, 0, wanted - said->count);
    said->count = wanted;
}

enum filter_verdict
text_verdicts_of(struct text_verdicts *verdicts, size_t term, const struct texts *texts, uint32_t number,
                 bool wants_most)
{
    struct said *said = &verdicts->said[term];
    struct match_worker *self = &verdicts->workers[0];
    if (number == TEXT_ABSENT) {
        if (!said->absent)
            said->absent = say(self, term, BYTES_ABSENT);
        return (enum filter_verdict)(said->absent - 1);
    }
    if (texts_count(texts) > said->count)
        grow(said, texts_count(texts));
    if (!said->of[number] && !wants_most) {
        struct text_block block = texts_block(texts, number, &self->room);
        said->of[number] = say(self, term, text_block_at(&block, number - block.first));
        self->matched++;
    }
    while (!said->of[number])
        decide_batch(verdicts, term, texts, number);
    return (enum filter_verdict)(said->of[number] - 1);
}

size_t
text_verdicts_ruled_out(const struct text_verdicts *verdicts, size_t term, const uint32_t *numbers,
                        size_t count)
{
    const struct said *said = &verdicts->said[term];
    for (size_t i = 0; i < count; i++) {
        bool is_text = numbers[i] < said->count;
        unsigned char one = is_text ? said->of[numbers[i]] : numbers[i] == TEXT_ABSENT ? said->absent : 0;
        if (one != FILTER_NO + 1)
            return i;
    }
    return count;
}
