// schema_pass: finds schemas that values wait for, and decodes the values.
#include <stdlib.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "core/fingerprint/hash.h"
#include "ingest/letter.h"
#include "ingest/schemas.h"

enum { NAMES = 100, AT_ONCE = 200, ASKED = 20 };
static const int64_t REST = 2 * US_PER_SECOND;

struct pass {
    struct store *store;
    const struct schema_source *source;
    bool (*is_wanted)(void *wanted);
    void *wanted;
    uint64_t *kept; // hash of the files that were kept last; 0: none were
};

static bool
pass_is_wanted(const struct pass *pass)
{
    return !pass->is_wanted || pass->is_wanted(pass->wanted);
}

// --- where schemas come from ---

static uint64_t
hash_files(const struct kept_schema *files, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        hash = fingerprint_hash(bytes_of(files[i].name), hash);
        for (size_t n = 0; n < files[i].text_count; n++)
            hash = fingerprint_hash(files[i].texts[n], hash);
    }
    return hash;
}

static bool
keep_files(const struct pass *pass, struct err *err)
{
    struct arena arena = {0};
    struct kept_schema *files = NULL;
    size_t count = 0;
    bool ok = true;
    if (pass->source->list_files)
        pass->source->list_files(pass->source->context, &arena, &files, &count);
    uint64_t hash = hash_files(files, count);
    for (size_t i = 0; ok && hash != *pass->kept && i < count; i++)
        ok = schemas_keep(pass->store, &files[i], err);
    if (ok)
        *pass->kept = hash;
    arena_release(&arena);
    return ok;
}

// *is_away: it does not answer, so that others are not asked for now.
static bool
ask_registry(const struct pass *pass, const char *name, bool *is_away, struct err *err)
{
    struct arena arena = {0};
    struct kept_schema found;
    struct err failure = {0};
    bool ok = true;
    const struct schema_source *source = pass->source;
    if (source->ask(source->context, name, pass->is_wanted, pass->wanted, &arena, &found, &failure)) {
        ok = schemas_keep(pass->store, &found, err);
        log_line(LOG_INFO, "the schema registry knows a schema", LOG_TEXT("schema", name));
    } else if (failure.kind != ERR_CANCELLED) {
        *is_away = failure.kind == ERR_UNREACHABLE;
        log_line(LOG_WARN, "the schema registry does not give a schema; it is asked again later",
                 LOG_TEXT("schema", name), LOG_TEXT("why", failure.text));
        ok = schemas_missed(pass->store, name, failure.text, err);
    }
    arena_release(&arena);
    return ok;
}

// A number or a GUID; what is named by a topic, only files have.
static bool
is_of_registry(const char *name)
{
    return !strchr(name, '.');
}

static bool
ask_for_due(const struct pass *pass, const struct wanted_schema *wanted, size_t count, struct err *err)
{
    bool ok = true, is_away = false;
    int asked = 0;
    for (size_t i = 0; ok && !is_away && i < count && asked < ASKED && pass_is_wanted(pass); i++) {
        if (wanted[i].is_known || !wanted[i].is_due || !is_of_registry(wanted[i].name))
            continue;
        ok = ask_registry(pass, wanted[i].name, &is_away, err);
        asked++;
    }
    return ok;
}

// --- what waits for them ---

struct one_schema {
    const char *name;
    const struct schema *schema;
};

static const struct schema *
find_one(void *context, const char *name)
{
    const struct one_schema *one = context;
    return strcmp(one->name, name) == 0 ? one->schema : NULL;
}

static struct decoded_record
decode_record(const struct pass *pass, const struct kept_record *waiting, struct one_schema *one,
              struct arena *arena)
{
    struct ingest_letter letter;
    const char *topic = arena_text(arena, waiting->record.topic);
    const struct letter_place place = {.cluster = "",
                                       .topic = topic,
                                       .generation = waiting->generation,
                                       .original = &waiting->original,
                                       .rule = topic_rule_of(pass->source->rules, topic),
                                       .find_schema = find_one,
                                       .find_context = one};
    letter_read(&waiting->record, &place, arena, &letter);
    return (struct decoded_record){
        .id = waiting->id,
        .payload = arena_text(arena, letter.payload),
        .is_decoded = letter.decoding && strcmp(letter.decoding, "decoded") == 0,
    };
}

static bool
decode_waiting(const struct pass *pass, struct one_schema *one, struct err *err)
{
    struct kept_record *records = alloc_array(AT_ONCE, sizeof *records);
    struct decoded_record *decoded = alloc_array(AT_ONCE, sizeof *decoded);
    int64_t after = INT64_MIN;
    size_t count = 0;
    bool ok = true;
    do {
        struct arena arena = {0};
        ok = schemas_waiting(pass->store, one->name, after, &arena, records, AT_ONCE, &count, err);
        for (size_t i = 0; ok && i < count; i++)
            decoded[i] = decode_record(pass, &records[i], one, &arena);
        if (ok && count > 0) {
            after = records[count - 1].id;
            ok = schemas_decoded(pass->store, decoded, count, err);
        }
        arena_release(&arena);
    } while (ok && count > 0 && pass_is_wanted(pass));
    free(records);
    free(decoded);
    return ok;
}

static bool
decode_known(const struct pass *pass, const char *name, struct err *err)
{
    struct arena arena = {0};
    struct kept_schema kept;
    struct err why = {0};
    bool ok = schemas_find(pass->store, name, &arena, &kept, err);
    struct one_schema one = {.name = name};
    if (ok && kept.name) {
        one.schema = schema_read(kept.language, kept.texts, kept.text_count, &arena, &why);
        if (one.schema)
            ok = decode_waiting(pass, &one, err);
    }
    arena_release(&arena);
    return ok;
}

static bool
run_pass(const struct pass *pass, struct err *err)
{
    struct arena arena = {0};
    struct wanted_schema names[NAMES];
    size_t count = 0;
    bool ok = keep_files(pass, err) && schemas_wanted(pass->store, &arena, names, NAMES, &count, err);
    if (ok && pass->source->ask) {
        ok = ask_for_due(pass, names, count, err);
        ok = ok && schemas_wanted(pass->store, &arena, names, NAMES, &count, err);
    }
    for (size_t i = 0; ok && i < count && pass_is_wanted(pass); i++)
        if (names[i].is_known)
            ok = decode_known(pass, names[i].name, err);
    arena_release(&arena);
    return ok;
}

bool
schemas_pass(struct store *store, const struct schema_source *source, bool (*is_wanted)(void *wanted),
             void *wanted, struct err *err)
{
    uint64_t kept = 0;
    return run_pass(&(struct pass){store, source, is_wanted, wanted, &kept}, err);
}

// --- on a thread ---

struct schema_watch {
    struct lane *lane;
    const struct schema_source *source;
    uint64_t kept;
};

static bool
watch_is_wanted(void *lane)
{
    return lane_is_wanted(lane);
}

static void
watch_schemas(struct lane *lane, void *job)
{
    struct schema_watch *watch = job;
    int failed = 0;
    do {
        struct err err = {0};
        const struct pass pass = {lane_connection(lane), watch->source, watch_is_wanted, lane, &watch->kept};
        bool ok = store_connect(pass.store, &err) && run_pass(&pass, &err);
        if (!ok && failed == 0 && lane_is_wanted(lane))
            log_line(LOG_WARN, "values are not decoded", LOG_TEXT("why", err.text));
        failed = ok ? 0 : failed + 1;
    } while (lane_sleep(lane, failed > 0 ? store_backoff(failed - 1) : REST));
}

struct schema_watch *
schema_watch_start(const struct store_settings *settings, const struct schema_source *source)
{
    struct schema_watch *watch = alloc_bytes(sizeof *watch);
    *watch = (struct schema_watch){.source = source};
    watch->lane = lane_create(&(struct lane_settings){.name = "schemas",
                                                      .work = watch_schemas,
                                                      .connection = store_create(settings),
                                                      .interrupt = store_lane_interrupt,
                                                      .close = store_lane_close,
                                                      .jobs = 1});
    (void)!lane_give(watch->lane, watch, 0);
    return watch;
}

void
schema_watch_stop(struct schema_watch *watch)
{
    if (!watch)
        return;
    lane_destroy(watch->lane);
    free(watch);
}
