#include "publish/letters.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "store/events/events.h"

enum { LOOKED_AT = 20, NAMES = 12, FORMATS = 8 };

// Names, each once, with how often they were met.
struct tally {
    struct bytes names[64];
    size_t counts[64];
    size_t count;
};

static void
meet(struct tally *tally, struct bytes name)
{
    for (size_t i = 0; i < tally->count; i++)
        if (bytes_equal(tally->names[i], name)) {
            tally->counts[i]++;
            return;
        }
    if (tally->count < sizeof tally->names / sizeof *tally->names) {
        tally->names[tally->count] = name;
        tally->counts[tally->count++] = 1;
    }
}

static const char *
list(const struct tally *tally, size_t most, bool with_counts, struct arena *arena)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < tally->count && i < most; i++) {
        strbuf_add_text(&text, i ? ", " : "");
        text_visible(&text, tally->names[i], false);
        if (with_counts)
            strbuf_printf(&text, " (%zu)", tally->counts[i]);
    }
    if (tally->count > most)
        strbuf_printf(&text, " and %zu more", tally->count - most);
    const char *copy = arena_text(arena, text.len ? strbuf_bytes(&text) : BYTES(""));
    strbuf_release(&text);
    return copy;
}

struct tallies {
    struct tally formats, kept, dropped, added;
};

static void
look(const struct plan_settings *settings, const struct preview_query *query, const struct event *event,
     struct arena *arena, struct tallies *tallies, struct preview_letters *letters)
{
    struct plan plan;
    struct arena of_this = {0};
    const struct plan_input input = {.event = event, .target_topic = query->to, .reprocess_count = 1};
    plan_make(settings, &input, &of_this, &plan);
    letters->events++;
    letters->letters += plan.format || plan.kept_count || plan.dropped_count;
    if (plan.format)
        meet(&tallies->formats, bytes_of(plan.format));
    for (uint32_t i = 0; i < plan.header_count; i++)
        meet(i < plan.kept_count ? &tallies->kept : &tallies->added, arena_copy(arena, plan.headers[i].name));
    for (uint32_t i = 0; i < plan.dropped_count; i++)
        meet(&tallies->dropped, arena_copy(arena, plan.dropped[i].name));
    letters->exact += plan.is_exact;
    letters->unsure += plan.unsure != NULL;
    if (!plan.is_exact && !letters->why_inexact)
        letters->why_inexact = arena_text(arena, bytes_of(plan.why ? plan.why : plan.refusal));
    if (plan.unsure && !letters->why_unsure)
        letters->why_unsure = arena_text(arena, bytes_of(plan.unsure));
    arena_release(&of_this);
}

bool
letters_sample(struct store *store, const struct plan_settings *settings, const struct preview_query *query,
               struct arena *arena, struct preview_letters *letters, struct err *err)
{
    *letters = (struct preview_letters){.formats = "", .kept = "", .dropped = "", .added = ""};
    if (query->count == 0)
        return true;
    int64_t ids[LOOKED_AT];
    size_t count = LOOKED_AT;
    if (query->count < count)
        count = query->count;
    for (size_t i = 0; i < count; i++)
        ids[i] = query->ids[i * query->count / count];
    const struct event_query page_of = {.takes_unreadable = true,
                                        .fields = EVENT_PLANNED,
                                        .ids = ids,
                                        .id_count = count,
                                        .most_bytes = EVENT_PAGE_BYTES};
    struct event_page page = {0};
    struct tallies tallies = {0};
    if (!store_events(store, &page_of, &page, err))
        return false;
    for (size_t i = 0; i < page.count; i++)
        look(settings, query, &page.events[i], arena, &tallies, letters);
    letters->formats = list(&tallies.formats, FORMATS, true, arena);
    letters->kept = list(&tallies.kept, NAMES, false, arena);
    letters->dropped = list(&tallies.dropped, NAMES, false, arena);
    letters->added = list(&tallies.added, NAMES, false, arena);
    event_page_release(&page);
    return true;
}

void
letters_describe(const struct preview_letters *letters, const char *between, struct strbuf *out)
{
    if (letters->letters == 0)
        return;
    if (*letters->formats)
        strbuf_printf(out, "%sdead letters, of %zu looked at: %s", between, letters->events,
                      letters->formats);
    strbuf_printf(out, "%sheaders kept: %s", between, *letters->kept ? letters->kept : "none");
    strbuf_printf(out, "%sdropped: %s", between, *letters->dropped ? letters->dropped : "none");
    strbuf_printf(out, "%sadded: %s", between, letters->added);
    strbuf_printf(out, "%s%zu of %zu byte for byte", between, letters->exact, letters->events);
    if (letters->unsure)
        strbuf_printf(out, "%s%zu not certain: %s", between, letters->unsure, letters->why_unsure);
    else if (letters->why_inexact)
        strbuf_printf(out, "; else %s", letters->why_inexact);
}
