#include "commands/stale.h"

#include "base/clock.h"
#include "base/text.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"
#include "core/json/value.h"
#include "publish/newer.h"
#include "store/operations/newer.h"

#define ASK_EVERY (US_PER_SECOND / 5)
#define WORKER_PATIENCE (5 * US_PER_SECOND) // without one
enum { SLICE_MS = 100, KEYS_SAID = 5 };

bool
stale_is_asked(const struct call *call, const struct preview *preview)
{
    return call->options.reprocess.check_newer || call->options.reprocess.skip_stale || preview->checks_newer;
}

static bool
is_interrupted(struct err *err)
{
    return interrupt_is_set() && !err_set(err, ERR_CANCELLED, "interrupted; nothing was changed");
}

static bool
read_kafka(const struct newer_question *question, struct progress_line *progress, struct arena *arena,
           struct newer *newer, struct err *err)
{
    bool is_over = false, ok = true;
    struct newer_search *search = newer_begin(question);
    while (ok && !is_over) {
        ok = !is_interrupted(err) && newer_step(search, SLICE_MS, &is_over, err);
        if (ok)
            newer_result(search, arena, newer);
        progress_show(progress, newer->records, newer->of, NULL);
    }
    newer_end(search);
    return ok;
}

static bool
ask_worker(struct store *store, const int64_t *ids, size_t count, struct progress_line *progress,
           struct arena *arena, struct newer *newer, struct err *err)
{
    int64_t no;
    bool has_worker;
    if (!newer_ask(store, ids, count, &no, &has_worker, err))
        return false;
    for (int64_t seen_at = clock_mono(); !newer->is_over;) {
        clock_sleep(ASK_EVERY);
        if (is_interrupted(err) || !newer_look(store, no, arena, newer, &has_worker, err))
            return false;
        progress_show(progress, newer->records, newer->of, NULL);
        if (has_worker)
            seen_at = clock_mono();
        if (!newer->is_over && clock_mono() - seen_at > WORKER_PATIENCE)
            return err_set(err, ERR_UNREACHABLE,
                           "newer records were not looked for: no Kafka brokers are configured here, and no "
                           "worker that publishes is alive; give -b HOST:PORT, or start redrive work");
    }
    return true;
}

bool
stale_find(const struct call *call, struct store *store, const struct broker_settings *broker,
           const struct plan_settings *plan, const int64_t *ids, size_t count, struct arena *arena,
           struct newer *newer, struct err *err)
{
    struct progress_line progress;
    const struct newer_question question = {
        .store = store, .broker = broker, .plan = plan, .ids = ids, .count = count};
    *newer = (struct newer){0};
    interrupt_catch();
    progress_begin(&progress, call, "reading newer records");
    bool ok = broker_settings_present(broker) ? read_kafka(&question, &progress, arena, newer, err)
                                              : ask_worker(store, ids, count, &progress, arena, newer, err);
    progress_end(&progress);
    return ok;
}

void
stale_describe(const struct newer *newer, bool is_left_out, struct strbuf *out)
{
    struct arena arena = {0};
    int64_t now = clock_now();
    if (!newer->is_over)
        return;
    const char *keys = newer_keys(newer, KEYS_SAID, now, &arena);
    const char *gaps = newer_gaps(newer, &arena);
    strbuf_printf(out, "; %s%s", is_left_out && newer->stale_count ? "left out: " : "",
                  newer_found(newer, now, &arena));
    if (keys)
        strbuf_printf(out, ", %s", keys);
    if (gaps)
        strbuf_printf(out, "; %s", gaps);
    if (newer->why)
        strbuf_printf(out, "; %s", newer_progress(newer, &arena));
    arena_release(&arena);
}

static bool
print_stale(const struct newer *newer, int64_t zone_us, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < newer->stale_count && ok; i++) {
        struct value *object = value_object();
        value_add_int(object, "id", newer->stale[i]);
        value_add_text(object, "outcome", "stale");
        value_add_time(object, "newest_at", newer->stale_at[i], zone_us);
        ok = json_print(object, err);
    }
    return ok;
}

bool
stale_print(const struct call *call, const struct newer *newer, int64_t zone_us, struct err *err)
{
    struct arena arena = {0};
    if (!call->options.general.json || !newer->is_over)
        return true;
    if (call->options.command.each && !print_stale(newer, zone_us, err))
        return false;
    struct value *object = value_object();
    value_add_int(object, "stale", (int64_t)newer->stale_count);
    value_add_int(object, "keys", newer->key_count);
    value_add_time(object, "newest_at", newer->shown ? newer->keys[0].at : TIME_ABSENT, zone_us);
    value_add_int(object, "resent", newer->resent);
    value_add_int(object, "untold", newer_untold(newer));
    value_add_text(object, "untold_why", newer_gaps(newer, &arena));
    value_add_int(object, "records", newer->records);
    value_add_int(object, "of", newer->of);
    value_add_text(object, "cut", newer->why);
    arena_release(&arena);
    return json_print(object, err);
}
