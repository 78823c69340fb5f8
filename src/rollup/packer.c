#include "rollup/packer.h"

#include <sys/random.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/events/texts.h"

enum {
    FIRST_PAGE = 200, // rows asked for at once, to begin with; then so many as come to PAGE_BYTES
    PAGE_BYTES = 256 << 10,
    EVENTS = 8000,   // of a pack,
    BYTES = 4 << 20, // and of their texts
    SMALL = 2000,    // events of a pack that is put together with others
    SHARE = 5,       // of the time that packing may take, where there is something to pack
};
static const int64_t LOOK_EVERY = 5 * US_PER_SECOND;

void
packer_init(struct packer *packer)
{
    *packer = (struct packer){.small = SMALL};
    if (getrandom(packer->key, sizeof packer->key, 0) != (ssize_t)sizeof packer->key)
        die("the system gave no random bytes");
}

// A role that was given its rights by hand has none on what is new until it is given them again.
static bool
is_denied(struct packer *packer, struct err *err)
{
    if (err->kind != ERR_DENIED)
        return false;
    log_line(LOG_WARN, "error messages are not packed", LOG_TEXT("why", err->text));
    err_clear(err);
    packer->is_denied = true;
    packer->at = INT64_MAX;
    return true;
}

bool
packer_sweep_began(struct packer *packer, struct store *store, struct err *err)
{
    // The count first: what is written in between is counted later.
    return store_change_count(store, &packer->changes, err) && store_xmin_floor(store, &packer->mark, err);
}

bool
packer_sweep_ended(struct packer *packer, struct store *store, const char *maintainer, struct err *err)
{
    int64_t mark = packer->mark;
    packer->mark = 0;
    return mark == 0 || packer->is_denied ||
           text_packs_mark(store, maintainer, mark, packer->changes, packer->small, err) ||
           is_denied(packer, err);
}

struct packing {
    struct column column;
    int64_t lowest;
    size_t page, page_bytes, bytes;
};

static bool
is_enough(const struct packing *packing)
{
    return column_count(&packing->column) >= EVENTS || packing->bytes >= BYTES;
}

// The next ones may be a hundred times as long as those before.
static bool
add(void *context, int64_t id, struct bytes text)
{
    struct packing *packing = context;
    column_add(&packing->column, id, text);
    packing->lowest = id;
    packing->page_bytes += text.len;
    packing->bytes += text.len;
    packing->page++;
    return !is_enough(packing);
}

static size_t
next_page(const struct packing *packing)
{
    size_t each = packing->page_bytes / (packing->page ? packing->page : 1) + 1;
    size_t rows = PAGE_BYTES / each;
    size_t left = EVENTS - column_count(&packing->column);
    return rows > left ? left : rows ? rows : 1;
}

// Reads events of the hole, highest first, until they are enough. *low: all above it were read.
static bool
read_hole(struct packer *packer, struct store *store, const struct text_hole *hole, struct packing *packing,
          int64_t *low, struct err *err)
{
    struct event_texts_query query = {.text = EVENT_TEXT_ERROR,
                                      .after_id = hole->after,
                                      .before_id = hole->before,
                                      .limit = packer->page ? packer->page : FIRST_PAGE};
    for (bool is_end = false; !is_end && !is_enough(packing);) {
        packing->page = packing->page_bytes = 0;
        if (!store_event_texts(store, &query, add, packing, err))
            return false;
        is_end = packing->page < query.limit && !is_enough(packing);
        *low = is_end ? hole->after + 1 : packing->lowest;
        query.before_id = packing->lowest;
        query.limit = packer->page = next_page(packing);
    }
    return true;
}

// A pack of few but long texts is as large as it gets: put together with others it would be made anew each
// time.
static void
learn_small(struct packer *packer, const struct packing *packing)
{
    size_t events = column_count(&packing->column);
    if (packing->bytes >= BYTES && packer->small > events / 2)
        packer->small = events / 2;
}

static bool
packer_fill(struct packer *packer, struct store *store, const char *maintainer, const struct text_hole *hole,
            struct err *err)
{
    struct packing packing = {0};
    struct strbuf pack = {0};
    int64_t low = hole->before;
    column_init(&packing.column, packer->key);
    bool ok = read_hole(packer, store, hole, &packing, &low, err);
    if (ok) {
        learn_small(packer, &packing);
        column_pack(&packing.column, &pack);
        ok = text_packs_put(store, maintainer, low, hole->before - 1, column_count(&packing.column),
                            strbuf_bytes(&pack), err);
    }
    strbuf_release(&pack);
    column_release(&packing.column);
    return ok;
}

bool
packer_step(struct packer *packer, struct store *store, const char *maintainer, int64_t upto, struct err *err)
{
    struct text_hole hole;
    int64_t began = clock_mono();
    if (!text_packs_hole(store, maintainer, upto, &hole, err))
        return is_denied(packer, err);
    if (hole.before == 0) {
        packer->at = clock_mono() + LOOK_EVERY;
        return true;
    }
    if (!packer_fill(packer, store, maintainer, &hole, err))
        return is_denied(packer, err);
    int64_t now = clock_mono();
    packer->at = now + (now - began) * (SHARE - 1);
    return true;
}
