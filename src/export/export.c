#include "export/export.h"

#include "store/events/events.h"
#include "store/events/payload.h"
#include "store/events/revisions.h"

enum { PAGE = 500, IDS_PAGE = 10000, TEXT_BYTES = 1 << 20 };

struct export_run {
    struct store *store;
    enum export_form form;
    export_write_fn *write;
    void *context;
    struct export_tally *tally;
    struct strbuf text; // not yet given to `write`
};

static bool
hand_over(struct export_run *run, struct err *err)
{
    if (!run->write(run->context, strbuf_bytes(&run->text), run->tally, err))
        return err_is_set(err) ? false : err_set(err, ERR_CANCELLED, "stopped");
    strbuf_reset(&run->text);
    return true;
}

// The payload as it was received, whole, where the page has the newest revision, or the beginning. A large
// one comes in slices.
static bool
read_original(struct export_run *run, struct event *event, struct arena *arena, struct err *err)
{
    bool is_kept;
    if (event->known.correction.has_payload)
        return store_original(run->store, event->id, arena, &event->payload, &is_kept, err);
    return payload_complete(run->store, event->payload_size, arena, event, err);
}

static bool
add_event(struct export_run *run, struct event *event, struct err *err)
{
    struct arena arena = {0};
    struct revision *revisions = NULL;
    struct exported exported = {.event = event};
    bool is_unreadable =
        event->known.unreadable || event->known.unreadable_error || event->known.unreadable_stack;
    bool ok = event->known.unreadable || read_original(run, event, &arena, err);
    if (ok && run->form == EXPORT_JSONL && event->known.revisions > 0)
        ok = store_revisions(run->store, event->id, &arena, &revisions, &exported.revision_count, err);
    exported.revisions = revisions;
    if (ok) {
        export_form_event(run->form, &exported, &run->text);
        run->tally->written++;
        run->tally->unreadable += is_unreadable;
    }
    arena_release(&arena);
    return ok && (run->text.len < TEXT_BYTES || hand_over(run, err));
}

static bool
add_page(struct export_run *run, const int64_t *ids, size_t count, size_t *answered, struct err *err)
{
    struct event_query query = {.takes_unreadable = true,
                                .fields = export_form_fields(run->form),
                                .ids = ids,
                                .id_count = count < PAGE ? count : PAGE,
                                .payload_cut = PAYLOAD_SLICE,
                                .most_bytes = EVENT_PAGE_BYTES};
    struct event_page page = {0};
    bool ok = store_events(run->store, &query, &page, err);
    *answered = event_page_answers(&page, &query);
    for (size_t i = 0; ok && i < page.count; i++)
        ok = add_event(run, &page.events[i], err);
    run->tally->gone += ok ? (int64_t)(*answered - page.count) : 0;
    event_page_release(&page);
    return ok && hand_over(run, err);
}

static bool
add_ids(struct export_run *run, const int64_t *ids, size_t count, size_t *answered, struct err *err)
{
    *answered = count < IDS_PAGE ? count : IDS_PAGE;
    for (size_t i = 0; i < *answered; i++)
        export_form_event(run->form, &(struct exported){.event = &(struct event){.id = ids[i]}}, &run->text);
    run->tally->written += (int64_t)*answered;
    return hand_over(run, err);
}

bool
export_events(struct store *store, enum export_form form, const int64_t *ids, size_t count,
              export_write_fn *write, void *context, struct export_tally *tally, struct err *err)
{
    struct export_run run = {
        .store = store, .form = form, .write = write, .context = context, .tally = tally};
    export_form_head(form, &run.text);
    bool ok = true;
    for (size_t at = 0, answered = 0; ok && at < count; at += answered)
        ok = form == EXPORT_IDS ? add_ids(&run, ids + at, count - at, &answered, err)
                                : add_page(&run, ids + at, count - at, &answered, err);
    strbuf_release(&run.text);
    return ok;
}
