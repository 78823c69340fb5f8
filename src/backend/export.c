// Events that leave redrive from the screen: into a file, or through a command of the person's. Reading them
// takes as long as it takes, so this has a lane (async/lane) beside the reader; one at a time.
#include "backend/reader.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "async/lane.h"
#include "base/alloc.h"
#include "export/export.h"
#include "export/file.h"
#include "process/child.h"

enum { JOBS = 4, LOOK_MS = 50, OUTPUT_PORTION = 65536 };
static const int64_t TELL_OUTPUT_EVERY = US_PER_SECOND / 10;

struct export_lane {
    struct lane *lane;
    uint64_t number;            // of the newest; 0: it was cancelled
    atomic_uint_least64_t over; // the newest that has ended
};

// One export, on its way and while it runs.
struct export_job {
    struct reader *reader; // of it: the settings and the mailbox of replies
    struct lane *lane;
    uint64_t number;
    struct export_asked asked; // texts are its own
    int64_t *ids;
    size_t count;
    struct export_file file;
    struct child child;
    bool is_deaf;         // the command reads no more
    struct strbuf output; // of the command, not yet told
    int64_t shown;        // bytes of it, so far
    bool is_output_cut;
    int64_t told_at; // clock_mono
    struct export_tally tally;
};

static void
job_destroy(struct export_job *job)
{
    free(job->asked.file);
    free(job->asked.command);
    free(job->ids);
    strbuf_release(&job->output);
    free(job);
}

static void
export_tell(struct export_job *job, bool is_last)
{
    if (!is_last && clock_mono() - job->told_at < TELL_OUTPUT_EVERY)
        return;
    job->told_at = clock_mono();
    struct reply *reply = reply_create(REPLY_EXPORT, job->number);
    reply->is_last = is_last;
    reply->exported = (struct export_reply){.written = job->tally.written,
                                            .of = (int64_t)job->count,
                                            .gone = job->tally.gone,
                                            .unreadable = job->tally.unreadable,
                                            .output = arena_copy(&reply->arena, strbuf_bytes(&job->output)),
                                            .is_output_cut = job->is_output_cut,
                                            .has_stopped_reading = job->is_deaf,
                                            .status = -1};
    strbuf_reset(&job->output);
    if (is_last && job->asked.command) {
        struct strbuf ended = {0};
        child_describe(&job->child, &ended);
        reply->exported.ended = arena_text(&reply->arena, strbuf_bytes(&ended));
        if (job->child.is_known && WIFEXITED(job->child.status))
            reply->exported.status = WEXITSTATUS(job->child.status);
        strbuf_release(&ended);
    }
    session_reply(&job->reader->session, reply);
}

static bool
export_stopped(struct err *err)
{
    return err_set(err, ERR_CANCELLED, "stopped");
}

// --- into a file ---

static bool
to_file(void *context, struct bytes text, const struct export_tally *tally, struct err *err)
{
    struct export_job *job = context;
    (void)tally;
    export_tell(job, false);
    return lane_is_wanted(job->lane) ? export_file_write(&job->file, text, err) : export_stopped(err);
}

// "~/" is the home of the person, as a shell would have it.
static const char *
place_of(const char *name, struct arena *arena)
{
    const char *home = getenv("HOME");
    return strncmp(name, "~/", 2) == 0 && home ? arena_printf(arena, "%s%s", home, name + 1) : name;
}

static bool
export_to_file(struct export_job *job, struct store *store, struct err *err)
{
    struct arena arena = {0};
    enum export_form form = export_form_of_file(job->asked.file);
    bool ok = export_file_open(&job->file, place_of(job->asked.file, &arena), job->asked.replaces,
                               ":export! FILE", err) &&
              export_events(store, form, job->ids, job->count, to_file, job, &job->tally, err);
    if (ok)
        ok = export_file_finish(&job->file, err);
    else
        export_file_abandon(&job->file);
    arena_release(&arena);
    return ok;
}

// --- through a command ---

// Takes what the command has said. More than is shown is read too, and forgotten, so that the command ends.
static bool
take_output(struct export_job *job)
{
    char portion[OUTPUT_PORTION];
    size_t count;
    enum child_transfer got = child_read(&job->child, portion, sizeof portion, &count);
    int64_t room = EXPORT_OUTPUT - job->shown;
    size_t kept = (int64_t)count < room ? count : (size_t)room;
    strbuf_add(&job->output, (struct bytes){portion, kept});
    job->shown += (int64_t)kept;
    job->is_output_cut |= kept < count;
    child_listen(&job->child);
    return got != CHILD_GONE;
}

// Waits until the command takes or says something.
static void
await_child(const struct export_job *job, bool has_text)
{
    struct pollfd files[] = {{.fd = job->child.out, .events = POLLIN},
                             {.fd = job->child.err, .events = POLLIN},
                             {.fd = has_text ? job->child.in : -1, .events = POLLOUT}};
    (void)poll(files, sizeof files / sizeof *files, LOOK_MS);
}

static bool
to_command(void *context, struct bytes text, const struct export_tally *tally, struct err *err)
{
    struct export_job *job = context;
    (void)tally;
    while (text.len > 0) {
        size_t count = 0;
        if (!lane_is_wanted(job->lane))
            return export_stopped(err);
        enum child_transfer given = child_write(&job->child, text, &count);
        (void)take_output(job);
        job->is_deaf |= given == CHILD_GONE;
        if (job->is_deaf)
            return err_set(err, ERR_CANCELLED, "the command reads no more");
        text = bytes_slice(text, count, text.len - count);
        if (given == CHILD_LATER)
            await_child(job, true);
        export_tell(job, false);
    }
    return true;
}

static bool
export_to_command(struct export_job *job, struct store *store, struct err *err)
{
    // What it says on standard error is part of what is shown, a mistake in the command included.
    const char *const argv[] = {"/bin/sh", "-c", "exec 2>&1; eval \"$1\"", "sh", job->asked.command, NULL};
    const struct child_program program = {.path = "/bin/sh", .argv = argv};
    struct err stopped = {0};
    if (!child_start(&job->child, &program, err))
        return false;
    bool ok =
        export_events(store, job->asked.form, job->ids, job->count, to_command, job, &job->tally, &stopped);
    if (!ok && !job->is_deaf) {
        *err = stopped;
        child_end(&job->child, 0);
        return false;
    }
    child_finish(&job->child);
    while (take_output(job) && lane_is_wanted(job->lane)) {
        await_child(job, false);
        export_tell(job, false);
    }
    bool is_wanted = lane_is_wanted(job->lane);
    child_end(&job->child, is_wanted ? clock_mono() + US_PER_SECOND : 0);
    return is_wanted || export_stopped(err);
}

// --- the lane ---

// Before the screen is told, which may ask for the next one at once.
static void
export_over(const struct export_job *job)
{
    if (job->number > atomic_load(&job->reader->exporting->over))
        atomic_store(&job->reader->exporting->over, job->number);
}

static void
export_beside(struct lane *lane, void *given)
{
    struct export_job *job = given;
    struct store *store = lane_connection(lane);
    struct err err = {0};
    job->lane = lane;
    bool ok = store_connect(store, &err) &&
              (job->asked.command ? export_to_command(job, store, &err) : export_to_file(job, store, &err));
    if (!ok && !lane_is_wanted(lane)) {
        err_clear(&err);
        (void)!export_stopped(&err);
    }
    export_over(job);
    if (ok)
        export_tell(job, true);
    else
        session_error(&job->reader->session, job->number, &err);
    job_destroy(job);
}

static void
drop_export(void *given)
{
    struct export_job *job = given;
    struct err err = {0};
    (void)!export_stopped(&err);
    export_over(job);
    session_error(&job->reader->session, job->number, &err);
    job_destroy(job);
}

static struct export_job *
export_job_of(struct reader *reader, const struct request *request)
{
    struct export_job *job = alloc_bytes(sizeof *job);
    *job = (struct export_job){
        .reader = reader, .number = request->number, .asked = request->exported, .count = request->id_count};
    job->asked.file = request->exported.file ? alloc_text(request->exported.file) : NULL;
    job->asked.command = request->exported.command ? alloc_text(request->exported.command) : NULL;
    job->ids = alloc_array(job->count + 1, sizeof *job->ids);
    if (job->count)
        memcpy(job->ids, request->ids, job->count * sizeof *job->ids);
    return job;
}

void
reader_export_request(struct reader *reader, const struct request *request)
{
    struct err err = {0};
    if (!reader->exporting) {
        reader->exporting = alloc_bytes(sizeof *reader->exporting);
        reader->exporting->lane =
            lane_create(&(struct lane_settings){.name = "export",
                                                .work = export_beside,
                                                .connection = store_create(&reader->session.settings->store),
                                                .interrupt = store_lane_interrupt,
                                                .close = store_lane_close,
                                                .jobs = JOBS,
                                                .drop_job = drop_export});
    }
    struct export_lane *exporting = reader->exporting;
    if (exporting->number > atomic_load(&exporting->over)) {
        err_set(&err, ERR_CONFLICT, "another export or command still runs; stop it there first");
        session_error(&reader->session, request->number, &err);
        return;
    }
    struct export_job *job = export_job_of(reader, request);
    exporting->number = request->number;
    if (!lane_give(exporting->lane, job, 0))
        drop_export(job);
}

void
reader_export_cancel(struct reader *reader, uint64_t number)
{
    struct export_lane *exporting = reader->exporting;
    if (!exporting || exporting->number != number)
        return;
    exporting->number = 0;
    lane_abandon(exporting->lane);
    lane_interrupt(exporting->lane);
}

void
reader_export_release(struct reader *reader)
{
    if (!reader->exporting)
        return;
    lane_destroy(reader->exporting->lane);
    free(reader->exporting);
    reader->exporting = NULL;
}
