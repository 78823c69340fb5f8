// Dry runs of recipes. They read every payload of a selection, and ask jq and the checks, so they have a lane
// (async/lane) beside the reader. Recipes that are kept, in the database or in a file, are read and saved
// here too.
#include "backend/reader.h"
#include "backend/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "store/operations/recipes.h"

enum { TRIES = 4 };
static const int64_t TELL_EVERY = US_PER_SECOND / 10;
static const uint64_t SEED = 0x9e3779b97f4a7c15; // the same events give the same samples

struct recipe_lane {
    struct lane *lane;
    uint64_t number; // of the newest dry run
};

struct held_sample {
    struct arena arena;
    struct recipe_sample sample;
};

// One dry run, on its way and while it runs.
struct recipe_try {
    struct reader *reader; // of it: the settings and the mailbox of replies
    struct lane *lane;
    uint64_t number;
    char *text;
    int64_t *ids;
    size_t count;
    int64_t told_at; // clock_mono
    bool has_told_samples;
    uint64_t chance;
    size_t capacities[CORRECT_OUTCOMES], departing_capacity;
    struct held_sample samples[TRIAL_SAMPLES];
    struct recipe_trial trial; // without the samples themselves
    struct arena arena;        // of its texts
};

static void
forget_trial(struct recipe_try *job)
{
    for (int i = 0; i < CORRECT_OUTCOMES; i++)
        free(job->trial.classes[i].ids);
    free(job->trial.departing.ids);
    job->departing_capacity = 0;
    for (size_t i = 0; i < TRIAL_SAMPLES; i++)
        arena_release(&job->samples[i].arena);
    arena_release(&job->arena);
    memset(job->capacities, 0, sizeof job->capacities);
    job->trial = (struct recipe_trial){.of = (int64_t)job->count};
    job->chance = SEED;
}

static void
try_destroy(struct recipe_try *job)
{
    forget_trial(job);
    free(job->text);
    free(job->ids);
    free(job);
}

// --- samples ---

static void
add_value(struct bytes value, struct strbuf *out)
{
    if (bytes_present(value))
        strbuf_add(out, value);
    else
        strbuf_add_text(out, "null");
    strbuf_add_char(out, '\n');
}

// What the revision sends beside the payload.
static const char *
record_lines(const struct correction *correction, struct arena *arena)
{
    struct strbuf lines = {0};
    if (correction->has_topic) {
        strbuf_add_text(&lines, "topic ");
        add_value(correction->topic, &lines);
    }
    if (correction->has_partition)
        strbuf_printf(&lines, "partition %" PRId32 "\n", correction->partition);
    if (correction->has_key) {
        strbuf_add_text(&lines, "key ");
        add_value(correction->key, &lines);
    }
    for (uint32_t i = 0; correction->has_headers && i < correction->header_count; i++) {
        strbuf_printf(&lines, "header %.*s ", BYTES_ARGS(correction->headers[i].name));
        add_value(correction->headers[i].value, &lines);
    }
    if (correction->has_headers && correction->header_count == 0)
        strbuf_add_text(&lines, "no headers\n");
    const char *text = arena_text(arena, strbuf_bytes(&lines));
    strbuf_release(&lines);
    return text;
}

static struct recipe_sample
sample_of(const struct correct_result *result, struct arena *arena)
{
    bool is_large = result->before.len > TRIAL_SAMPLE_BYTES || result->after.len > TRIAL_SAMPLE_BYTES;
    return (struct recipe_sample){
        .id = result->id,
        .before_len = result->before.len,
        .after_len = result->after.len,
        .is_large = is_large,
        .before = is_large ? BYTES_ABSENT : arena_copy(arena, result->before),
        .after = is_large ? BYTES_ABSENT : arena_copy(arena, result->after),
        .record = record_lines(&result->correction, arena),
    };
}

static size_t
below(struct recipe_try *job, uint64_t limit)
{
    job->chance ^= job->chance << 13;
    job->chance ^= job->chance >> 7;
    job->chance ^= job->chance << 17;
    return (size_t)(job->chance % limit);
}

// Every changed event so far has the same chance to be among the samples.
static void
take_sample(struct recipe_try *job, const struct correct_result *result)
{
    struct recipe_trial *trial = &job->trial;
    size_t place = trial->sample_count;
    if (place == TRIAL_SAMPLES)
        place = below(job, trial->classes[CORRECT_CHANGED].count);
    else
        trial->sample_count++;
    if (place >= TRIAL_SAMPLES)
        return;
    struct held_sample *held = &job->samples[place];
    arena_release(&held->arena);
    held->sample = sample_of(result, &held->arena);
}

// --- replies ---

static int
recipe_by_id(const void *left, const void *right)
{
    int64_t a = ((const struct recipe_sample *)left)->id;
    int64_t b = ((const struct recipe_sample *)right)->id;
    return (a > b) - (a < b);
}

// Copies, since the run may exchange them.
static void
add_samples(const struct recipe_try *job, struct reply *reply)
{
    struct recipe_trial *to = &reply->recipe;
    to->sample_count = job->trial.sample_count;
    to->samples = arena_array(&reply->arena, to->sample_count, sizeof *to->samples);
    for (size_t i = 0; i < to->sample_count; i++) {
        const struct recipe_sample *sample = &job->samples[i].sample;
        to->samples[i] = *sample;
        to->samples[i].before = arena_copy(&reply->arena, sample->before);
        to->samples[i].after = arena_copy(&reply->arena, sample->after);
        to->samples[i].record = arena_text(&reply->arena, bytes_of(sample->record));
    }
    if (to->sample_count)
        qsort(to->samples, to->sample_count, sizeof *to->samples, recipe_by_id);
}

static void
tell_class(struct recipe_class *from, struct recipe_class *to, bool is_last, struct arena *arena)
{
    if (to->example)
        to->example = arena_text(arena, bytes_of(to->example));
    if (is_last)
        from->ids = NULL; // the reply's now
    else
        to->ids = NULL;
}

static void
tell_trial(struct recipe_try *job, bool is_last)
{
    struct reply *reply = reply_create(REPLY_RECIPE, job->number);
    struct recipe_trial *to = &reply->recipe;
    reply->is_last = is_last;
    *to = job->trial;
    to->samples = NULL;
    to->sample_count = 0;
    for (int i = 0; i < CORRECT_OUTCOMES; i++)
        tell_class(&job->trial.classes[i], &to->classes[i], is_last, &reply->arena);
    tell_class(&job->trial.departing, &to->departing, is_last, &reply->arena);
    if (is_last || !job->has_told_samples)
        add_samples(job, reply);
    job->has_told_samples = job->has_told_samples || to->sample_count > 0;
    job->told_at = clock_mono();
    session_reply(&job->reader->session, reply);
}

// --- the run ---

static void
add_to_class(struct recipe_try *job, struct recipe_class *class, size_t *capacity, int64_t id, int line,
             const char *reason)
{
    class->ids = alloc_grow(class->ids, class->count, capacity, sizeof *class->ids);
    class->ids[class->count++] = id;
    if (class->example || !reason)
        return;
    struct strbuf words = {0};
    if (line)
        strbuf_printf(&words, "line %d: ", line);
    strbuf_add_text(&words, reason);
    class->example = arena_text(&job->arena, strbuf_bytes(&words));
    strbuf_release(&words);
}

static void
take_result(struct recipe_try *job, const struct correct_result *result)
{
    struct recipe_trial *trial = &job->trial;
    trial->tally.counts[result->outcome]++;
    trial->tally.inexact += correct_outcome_writes(result->outcome) && !result->is_exact;
    if (correct_outcome_writes(result->outcome))
        correct_tally_replaced(&trial->tally, result->replaced);
    for (unsigned i = 0; i < RECIPE_WARN_COUNT; i++)
        trial->warned[i] += (result->warnings & 1u << i) != 0;
    trial->tally.again += result->again > 0;
    trial->tally.again_line = trial->tally.again_line ? trial->tally.again_line : result->again;
    add_to_class(job, &trial->classes[result->outcome], &job->capacities[result->outcome], result->id,
                 result->line, result->reason);
    if (result->departs) {
        trial->tally.departs++;
        add_to_class(job, &trial->departing, &job->departing_capacity, result->id, 0, result->departs);
    }
    if (result->outcome == CORRECT_CHANGED)
        take_sample(job, result);
}

static bool
take_results(void *context, const struct correct_result *results, size_t count, size_t read)
{
    struct recipe_try *job = context;
    for (size_t i = 0; i < count; i++)
        take_result(job, &results[i]);
    job->trial.tally.gone += (int64_t)read - job->trial.read - (int64_t)count;
    job->trial.read = (int64_t)read;
    bool is_wanted = lane_is_wanted(job->lane);
    if (is_wanted && read < job->count && clock_mono() - job->told_at >= TELL_EVERY)
        tell_trial(job, false);
    return is_wanted;
}

static bool
is_try_wanted(void *context)
{
    const struct recipe_try *job = context;
    return lane_is_wanted(job->lane);
}

static bool
run_trial(struct recipe_try *job, struct err *err)
{
    const struct backend_settings *settings = job->reader->session.settings;
    struct store *store = lane_connection(job->lane);
    struct correct_limits limits = settings->correct;
    limits.is_wanted = is_try_wanted;
    limits.context = job;
    struct corrector *corrector = NULL;
    struct correct_tally tally = {0};
    bool ok = store_connect(store, err) &&
              corrector_create(&corrector, "recipe", bytes_of(job->text), &limits, err);
    if (ok)
        corrector_look_twice(corrector, TRIAL_TWICE);
    const struct correct_reading reading = {.store = store, .ids = job->ids, .count = job->count};
    ok = ok && correct_dry_run(corrector, &reading, take_results, job, &tally, err);
    corrector_destroy(corrector);
    return ok;
}

static void
recipe_stopped(struct reader *reader, uint64_t number)
{
    struct err err = {0};
    err_set(&err, ERR_CANCELLED, "dry run stopped; nothing was written · r run again");
    session_error(&reader->session, number, &err);
}

static void
try_beside(struct lane *lane, void *given)
{
    struct recipe_try *job = given;
    struct err err = {0};
    job->lane = lane;
    job->told_at = clock_mono() - TELL_EVERY;
    bool ok = run_trial(job, &err);
    if (!ok && err.kind == ERR_CANCELLED && lane_is_wanted(lane)) {
        // An interrupt that was meant for the run before came late. There is no second one.
        err_clear(&err);
        forget_trial(job);
        ok = run_trial(job, &err);
    }
    if (ok)
        tell_trial(job, true);
    else if (!lane_is_wanted(lane))
        recipe_stopped(job->reader, job->number);
    else
        session_error(&job->reader->session, job->number, &err);
    try_destroy(job);
}

// One that was replaced before it began is answered too.
static void
drop_try(void *given)
{
    struct recipe_try *job = given;
    recipe_stopped(job->reader, job->number);
    try_destroy(job);
}

void
reader_recipe_request(struct reader *reader, const struct request *request)
{
    if (!reader->recipe) {
        reader->recipe = alloc_bytes(sizeof *reader->recipe);
        reader->recipe->lane =
            lane_create(&(struct lane_settings){.name = "recipe",
                                                .work = try_beside,
                                                .connection = store_create(&reader->session.settings->store),
                                                .interrupt = store_lane_interrupt,
                                                .close = store_lane_close,
                                                .jobs = TRIES,
                                                .drop_job = drop_try});
    }
    struct recipe_try *job = alloc_bytes(sizeof *job);
    *job = (struct recipe_try){.reader = reader,
                               .number = request->number,
                               .text = alloc_text(request->recipe.text ? request->recipe.text : ""),
                               .count = request->id_count};
    job->ids = alloc_array(job->count + 1, sizeof *job->ids);
    if (job->count)
        memcpy(job->ids, request->ids, job->count * sizeof *job->ids);
    forget_trial(job);
    lane_abandon(reader->recipe->lane);
    lane_interrupt(reader->recipe->lane);
    reader->recipe->number = request->number;
    if (!lane_give(reader->recipe->lane, job, 0))
        drop_try(job);
}

void
reader_recipe_cancel(struct reader *reader, uint64_t number)
{
    if (!reader->recipe || reader->recipe->number != number)
        return;
    reader->recipe->number = 0;
    lane_abandon(reader->recipe->lane);
    lane_interrupt(reader->recipe->lane);
}

void
reader_recipe_release(struct reader *reader)
{
    if (!reader->recipe)
        return;
    lane_destroy(reader->recipe->lane);
    free(reader->recipe);
    reader->recipe = NULL;
}

// --- recipes that are kept ---

// Only regular files: nothing else ends by itself.
static bool
read_recipe_file(const char *name, struct strbuf *out, struct err *err)
{
    struct stat status;
    char part[65536];
    ssize_t got = 0;
    int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_NOT_FOUND, "cannot read %s: %s", name, strerror(errno));
    bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    while (is_file && out->len <= RECIPE_BYTES && (got = read(fd, part, sizeof part)) > 0)
        strbuf_add(out, (struct bytes){part, (size_t)got});
    close(fd);
    if (!is_file)
        return err_set(err, ERR_USAGE, "%s is not a file", name);
    if (got < 0)
        return err_set(err, ERR_USAGE, "cannot read %s to its end", name);
    if (out->len > RECIPE_BYTES)
        return err_set(err, ERR_USAGE, "%s has more than 1 MiB; a recipe has less", name);
    return bytes_find(strbuf_bytes(out), (struct bytes){"", 1}, 0) >= out->len ||
           err_set(err, ERR_USAGE, "%s has a NUL byte; a recipe is text", name);
}

void
reader_recipe_file(struct reader *reader, const struct request *request)
{
    struct strbuf text = {0};
    struct err err = {0};
    if (!read_recipe_file(request->recipe.name, &text, &err)) {
        session_error(&reader->session, request->number, &err);
    } else {
        struct reply *reply = reply_create(REPLY_RECIPES, request->number);
        reply->is_last = true;
        reply->recipes.count = 1;
        reply->recipes.list = arena_alloc(&reply->arena, sizeof *reply->recipes.list);
        reply->recipes.list->name = arena_printf(&reply->arena, "%s", request->recipe.name);
        reply->recipes.list->text = arena_text(&reply->arena, strbuf_bytes(&text));
        session_reply(&reader->session, reply);
    }
    strbuf_release(&text);
}

static void
send_recipes(struct session *session, uint64_t number, const char *sentence)
{
    struct err err = {0};
    struct reply *reply = reply_create(REPLY_RECIPES, number);
    reply->is_last = true;
    reply->news.sentence = sentence ? arena_printf(&reply->arena, "%s", sentence) : NULL;
    if (recipe_list(session->store, &reply->arena, &reply->recipes.list, &reply->recipes.count, &err)) {
        session_reply(session, reply);
        return;
    }
    reply_destroy(reply);
    session_failed(session, number, &err);
}

void
reader_recipe_list(struct reader *reader, const struct request *request)
{
    send_recipes(&reader->session, request->number, NULL);
}

void
writer_recipe_request(struct writer *writer, const struct request *request)
{
    struct session *session = &writer->session;
    const struct recipe_asked *asked = &request->recipe;
    struct err err = {0};
    bool ok = asked->text ? recipe_save(session->store, asked->name, asked->text, request->reason, &err)
                          : recipe_forget(session->store, asked->name, request->reason, &err);
    if (!ok) {
        session_failed(session, request->number, &err);
        return;
    }
    char words[RECIPE_NAME + 32];
    snprintf(words, sizeof words, asked->text ? "recipe %s saved" : "recipe %s forgotten", asked->name);
    send_recipes(session, request->number, words);
}
