#include "core/newer.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"

// Behind a number, of one and of more.
static const char *const untold_words[UNTOLD_COUNT][2] = {
    [UNTOLD_PLACE] = {"does not say where its record was", "do not say where their records were"},
    [UNTOLD_QUEUE] = {"came from a dead letter queue", "came from dead letter queues"},
    [UNTOLD_KEY] = {"has no key", "have no key"},
    [UNTOLD_GONE] = {"has lost the records behind it to retention",
                     "have lost the records behind them to retention"},
    [UNTOLD_OTHER] = {"has another record in its place", "have other records in their places"},
    [UNTOLD_DENIED] = {"is of a topic that may not be read (ACL Read)",
                       "are of topics that may not be read (ACL Read)"},
    [UNTOLD_CUT] = {"was not reached", "were not reached"},
};

static const char *
taken_out(struct strbuf *text, struct arena *arena)
{
    const char *words = arena_text(arena, strbuf_bytes(text));
    strbuf_release(text);
    return words;
}

int64_t
newer_untold(const struct newer *newer)
{
    int64_t all = 0;
    for (int why = UNTOLD_NOT + 1; why < UNTOLD_COUNT; why++)
        all += newer->untold[why];
    return all;
}

static int64_t
newest_at(const struct newer *newer)
{
    return newer->shown ? newer->keys[0].at : TIME_ABSENT;
}

const char *
newer_found(const struct newer *newer, int64_t now, struct arena *arena)
{
    struct strbuf text = {0};
    char count[TEXT_SHORT];
    int64_t stale = (int64_t)newer->stale_count;
    if (stale > 0) {
        strbuf_printf(&text, "%s %s newer records of the same key", text_count(stale, count),
                      stale == 1 ? "has" : "have");
        if (newest_at(newer) != TIME_ABSENT)
            strbuf_printf(&text, ", the newest %s ago", text_ago(newest_at(newer), now, count));
    } else if (newer_untold(newer) >= newer->events) {
        strbuf_add_text(&text, "newer records of the same key: unknown for all of these events");
    } else {
        strbuf_add_text(&text, newer_untold(newer) ? "no other has newer records of the same key"
                                                   : "no newer records of the same key");
    }
    if (newer->resent)
        strbuf_printf(&text, "; of %s only redrive's own", text_count(newer->resent, count));
    return taken_out(&text, arena);
}

const char *
newer_keys(const struct newer *newer, size_t most, int64_t now, struct arena *arena)
{
    struct strbuf text = {0};
    char ago[TEXT_SHORT];
    size_t shown = newer->shown < most ? newer->shown : most;
    if (shown == 0)
        return NULL;
    strbuf_add_text(&text, newer->key_count == 1 ? "key: " : "keys: ");
    for (size_t i = 0; i < shown; i++) {
        const struct newer_key *key = &newer->keys[i];
        strbuf_add_text(&text, i ? ", " : "");
        strbuf_add(&text, bytes_slice(key->key, 0, 60));
        const char *when =
            key->at == TIME_ABSENT ? "" : arena_printf(arena, "%s ago", text_ago(key->at, now, ago));
        const char *deleted = key->is_deleted ? "deleted" : "";
        if (*when || *deleted)
            strbuf_printf(&text, " (%s%s%s)", deleted, *when && *deleted ? " " : "", when);
    }
    if (newer->key_count > (int64_t)shown)
        strbuf_printf(&text, " and %s more", text_count(newer->key_count - (int64_t)shown, ago));
    return taken_out(&text, arena);
}

const char *
newer_gaps(const struct newer *newer, struct arena *arena)
{
    struct strbuf text = {0};
    char count[TEXT_SHORT];
    int64_t all = newer_untold(newer);
    if (all == 0)
        return NULL;
    strbuf_printf(&text, "%s unknown: ", text_count(all, count));
    bool is_next = false;
    for (int why = UNTOLD_NOT + 1; why < UNTOLD_COUNT; why++) {
        int64_t some = newer->untold[why];
        if (some == 0)
            continue;
        const char *number = some == all ? "" : arena_printf(arena, "%s ", text_count(some, count));
        strbuf_printf(&text, "%s%s%s", is_next ? ", " : "", number, untold_words[why][some != 1]);
        is_next = true;
    }
    return taken_out(&text, arena);
}

const char *
newer_progress(const struct newer *newer, struct arena *arena)
{
    char count[TEXT_SHORT];
    char of[TEXT_SHORT];
    return arena_printf(arena, "read %s of %s records%s%s", text_count(newer->records, count),
                        text_count(newer->of > newer->records ? newer->of : newer->records, of),
                        newer->why ? ": " : "", newer->why ? newer->why : "");
}
