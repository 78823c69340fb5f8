#include "commands/operation_doubt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "commands/cli/output.h"
#include "store/operations/doubt.h"

bool
operation_doubt_describe(struct store *store, int64_t operation, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct doubt *chunks = NULL;
    size_t count = 0;
    bool ok = doubt_list(store, operation, &arena, &chunks, &count, err);
    for (size_t i = 0; ok && i < count; i++) {
        const struct doubt *chunk = &chunks[i];
        char at[TIME_TEXT];
        strbuf_printf(out, "chunk %.*s in doubt since %s: %" PRId32 " events, %" PRId64 " to %" PRId64 "\n  ",
                      DOUBT_CHUNK_SHOWN, chunk->chunk, time_local(chunk->created_at, at), chunk->events,
                      chunk->first_event, chunk->last_event);
        text_visible(out, bytes_of(chunk->evidence ? chunk->evidence : "no evidence"), false);
        strbuf_printf(
            out,
            "\n  Look in the topic for the header redrive-chunk-id: %s. Then, as an administrator:\n"
            "  redrive operation %" PRId64 " decide %.*s published --reason TEXT   "
            "if they are there; else consumers never get them\n"
            "  redrive operation %" PRId64 " decide %.*s again --reason TEXT       "
            "if they are not; else consumers get them twice\n",
            chunk->chunk, operation, DOUBT_CHUNK_SHOWN, chunk->chunk, operation, DOUBT_CHUNK_SHOWN,
            chunk->chunk);
    }
    arena_release(&arena);
    return ok;
}

static bool
read_verdict(const struct call *call, bool *is_published, struct err *err)
{
    if (call->arg_count != 4)
        return err_set(err, ERR_USAGE,
                       "redrive operation N decide needs a chunk and published or again; redrive operation N "
                       "lists the chunks in doubt");
    *is_published = strcmp(call->args[3], "published") == 0;
    if (!*is_published && strcmp(call->args[3], "again") != 0)
        return err_set(err, ERR_USAGE, "a chunk is decided as published or again, not as \"%s\"",
                       call->args[3]);
    if (call->options.change.reason == NULL || call->options.change.reason[0] == '\0')
        return err_set(err, ERR_USAGE,
                       "a decision about a chunk needs --reason TEXT, such as what the topic holds");
    return true;
}

int
operation_doubt_decide(struct call *call, int64_t operation, struct err *err)
{
    bool is_published = false;
    int64_t events = 0;
    struct store *store = NULL;
    if (!read_verdict(call, &is_published, err))
        return STATUS_USAGE;
    bool ok = command_store(call, STORE_WRITE, &store, err) &&
              doubt_decide(store, operation, call->args[2], is_published, call->options.change.reason,
                           &events, err);
    if (ok)
        remark(call, "%" PRId64 " events %s", events,
               is_published ? "count as published" : "will be published again");
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
