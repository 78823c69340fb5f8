// The writer sends what an action would meet, part by part. The reader's thread gets requests first. It ends
// a preview that nobody waits for any more: the server stops at once, and the writer is free for the next
// request.
//
// An interrupt must never meet another statement of the writer, least of all a freeze. So the reader sets
// is_interrupting before it reads which preview runs. The writer clears `running` first and then waits until
// is_interrupting is false.
#include "backend/writer.h"
#include "publish/forecast.h"
#include "store/operations/consumers.h"

static const size_t SENT_AT_ONCE = 20000; // ids: it takes no time that a person would notice
static const int64_t INTERRUPT_EVERY = US_PER_SECOND / 100;
static const int64_t LOOK_EVERY = US_PER_SECOND / 1000;
static const int64_t ANSWER_WITHIN = 3 * US_PER_SECOND;
static const int64_t ANSWER_EVERY = US_PER_SECOND / 10;
static const int64_t READERS_LIFE = 10 * US_PER_SECOND; // then a worker is asked again
enum { READERS_MOST = 4 };

static void
preview_begin(struct writer *writer, uint64_t number)
{
    atomic_store(&writer->preview.running, number);
}

static void
preview_end(struct writer *writer)
{
    atomic_store(&writer->preview.running, 0);
    while (atomic_load(&writer->preview.is_interrupting))
        clock_sleep(LOOK_EVERY);
}

static bool
is_wanted(const struct writer *writer, uint64_t number, struct err *err)
{
    return (number > atomic_load(&writer->preview.unwanted) && !writer->session.is_stopping) ||
           err_set(err, ERR_CANCELLED, "stopped; nothing changed");
}

// A preview while it is made.
struct previewing {
    struct writer *writer;
    const struct request *request;
    struct preview_query query;
    struct forecast forecast;
    bool is_awaited; // a worker was, which has been asked about the topics
    struct {
        struct arena arena;
        const char *topics[READERS_MOST];
        int64_t read_at[READERS_MOST]; // as they were first found
        size_t count;
        bool is_wanted; // older than a little, and a worker lives that will ask
    } readers;          // of the topics
};

static bool
waits_for_worker(const struct previewing *previewing)
{
    return previewing->forecast.has_worker || previewing->readers.is_wanted;
}

static void
name_readers(struct previewing *previewing, const struct preview *preview)
{
    size_t *count = &previewing->readers.count;
    *count = 0;
    arena_reset(&previewing->readers.arena);
    for (size_t i = 0; i < preview->topic_count && *count < READERS_MOST; i++)
        if (!preview->topics[i].refusal && preview->topics[i].topic)
            previewing->readers.topics[(*count)++] =
                arena_printf(&previewing->readers.arena, "%s", preview->topics[i].topic);
}

// Who reads these topics, as far as a worker has told. What is old is asked again, once. Not being able to is
// no reason to refuse the preview.
static void
add_readers(struct previewing *previewing, struct arena *arena, struct preview *preview)
{
    struct store *store = previewing->writer->session.store;
    struct err ignored = {0};
    if (previewing->request->action != ACTION_REPROCESS)
        return;
    name_readers(previewing, preview);
    size_t count = previewing->readers.count;
    if (!count ||
        !consumers_read(store, previewing->readers.topics, count, arena, &preview->readers, &ignored))
        return;
    preview->reader_count = count;
    bool is_old = false;
    for (size_t i = 0; i < count; i++) {
        previewing->readers.read_at[i] = preview->readers[i].read_at;
        is_old |= preview->readers[i].read_at == TIME_ABSENT ||
                  clock_now() - preview->readers[i].read_at > READERS_LIFE;
    }
    if (is_old && !previewing->is_awaited &&
        !consumers_ask(store, previewing->readers.topics, count, &previewing->readers.is_wanted, &ignored))
        previewing->readers.is_wanted = false;
}

static bool
readers_have_news(struct previewing *previewing, bool *has_news, struct err *err)
{
    struct arena arena = {0};
    struct topic_consumers *found;
    size_t count = previewing->readers.count;
    bool ok = consumers_read(previewing->writer->session.store, previewing->readers.topics, count, &arena,
                             &found, err);
    *has_news = ok;
    for (size_t i = 0; ok && i < count; i++)
        *has_news &= found[i].read_at != TIME_ABSENT && found[i].read_at != previewing->readers.read_at[i];
    arena_release(&arena);
    return ok;
}

// How the last reprocess of these events ended.
static bool
add_last(struct writer *writer, const struct request *request, struct reply *reply, struct err *err)
{
    int64_t no;
    if (!operation_last_reprocess(writer->session.store, request->texts.group, request->ids,
                                  request->id_count, &no, err))
        return false;
    if (no == 0)
        return true;
    struct operation *last = arena_alloc(&reply->arena, sizeof *last);
    reply->preview.last = last;
    return operation_get(writer->session.store, no, &reply->arena, last, err);
}

// Some of the parts, in one reply.
static bool
send_parts(struct previewing *previewing, unsigned parts, bool is_last, struct err *err)
{
    struct writer *writer = previewing->writer;
    struct reply *reply = reply_create(REPLY_PREVIEW, previewing->request->number);
    bool ok = true;
    for (unsigned part = 0; ok && part < PREVIEW_PARTS; part++)
        if (parts & 1u << part)
            ok = is_wanted(writer, previewing->request->number, err) &&
                 forecast_part(&previewing->forecast, &previewing->query, (enum preview_part)part,
                               &reply->arena, &reply->preview, err);
    if (ok && parts & 1u << PREVIEW_COUNTS)
        add_readers(previewing, &reply->arena, &reply->preview);
    reply->is_last = is_last && (previewing->is_awaited || !waits_for_worker(previewing));
    if (ok && previewing->request->action == ACTION_REPROCESS && (parts & 1u << PREVIEW_COUNTS))
        ok = add_last(writer, previewing->request, reply, err);
    if (ok)
        session_reply(&writer->session, reply);
    else
        reply_destroy(reply);
    return ok;
}

// A worker has been asked about the topics. What it says replaces what was counted without.
static bool
await_topics(struct previewing *previewing, struct err *err)
{
    bool has_news = !previewing->forecast.has_worker, ok = true;
    bool has_readers = !previewing->readers.is_wanted;
    previewing->is_awaited = true;
    for (int64_t start = clock_mono();
         ok && !(has_news && has_readers) && clock_mono() - start < ANSWER_WITHIN;) {
        clock_sleep(ANSWER_EVERY);
        ok = is_wanted(previewing->writer, previewing->request->number, err) &&
             (has_news || forecast_has_news(&previewing->forecast, &has_news, err)) &&
             (has_readers || readers_have_news(previewing, &has_readers, err));
    }
    // Said once more, so that the last reply is there in any case.
    unsigned parts = 1u << PREVIEW_COUNTS | 1u << PREVIEW_DOUBLED | 1u << PREVIEW_REFUSED;
    return ok && send_parts(previewing, parts, true, err);
}

static bool
send_preview(struct previewing *previewing, struct err *err)
{
    const struct request *request = previewing->request;
    unsigned parts = preview_parts(request->action);
    bool ok = true;
    for (unsigned part = 1; ok && parts; part <<= 1) {
        unsigned now = request->id_count <= SENT_AT_ONCE ? parts : parts & part;
        parts &= ~now;
        ok = now == 0 || send_parts(previewing, now, parts == 0, err);
    }
    return ok && (!waits_for_worker(previewing) || await_topics(previewing, err));
}

void
writer_preview_request(struct writer *writer, const struct request *request)
{
    struct err err = {0};
    struct previewing previewing = {
        .writer = writer,
        .request = request,
        .query = {.action = request->action,
                  .ids = request->ids,
                  .count = request->id_count,
                  .to = request->texts.target_topic,
                  .restores_resolved = request->is_on},
        .forecast = {.store = writer->session.store,
                     .plan = &writer->session.settings->plan,
                     .wants_topics = true},
    };
    preview_begin(writer, request->number);
    bool ok = send_preview(&previewing, &err);
    preview_end(writer);
    forecast_release(&previewing.forecast);
    arena_release(&previewing.readers.arena);
    if (!ok)
        session_failed(&writer->session, request->number, &err);
}

void
writer_preview_end(struct writer *writer, uint64_t last)
{
    if (last > atomic_load(&writer->preview.unwanted))
        atomic_store(&writer->preview.unwanted, last);
    // An interrupt that comes between two statements stops none of them: it is said again until it is heard.
    for (;;) {
        atomic_store(&writer->preview.is_interrupting, true);
        uint64_t running = atomic_load(&writer->preview.running);
        bool is_over = running == 0 || running > last;
        if (!is_over)
            store_interrupt(writer->session.store);
        atomic_store(&writer->preview.is_interrupting, false);
        if (is_over)
            return;
        clock_sleep(INTERRUPT_EVERY);
    }
}
