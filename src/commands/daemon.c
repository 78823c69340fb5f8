// daemon: work, watch and, where topics are set for it, ingest as one service. The first process starts the
// others, tells systemd when all of them are ready, and ends them in their order. A part that ends by itself
// ends the daemon with its status, and the service manager starts all of it again.
#include <signal.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/ready.h"
#include "commands/daemon_part.h"
#include "commands/watch.h"
#include "core/category.h"
#include "core/fingerprint/rules.h"

static const int64_t LOOK_EVERY = US_PER_SECOND / 10;

static bool
names_topics(const struct settings *settings)
{
    const struct ingest_words *ingest = &settings->ingest;
    return (ingest->ingest_topics && *ingest->ingest_topics) ||
           (ingest->ingest_pattern && *ingest->ingest_pattern);
}

// A row a part, in the order in which they end: first what takes in, last what tells.
static const struct part_row {
    const char *name;
    command_run *run;
    bool (*is_wanted)(const struct settings *settings); // NULL: always
} rows[] = {
    {"ingest", command_ingest, names_topics},
    {"work", command_work, NULL},
    {"watch", command_watch, NULL},
};
enum { PARTS = sizeof rows / sizeof *rows };

struct daemon {
    struct daemon_part parts[PARTS]; // those that are wanted
    size_t count;
    bool was_told_ready;
};

// A signal handler is handed nothing, so the flag that it sets is one for the process.
static volatile sig_atomic_t is_reload_wanted;

static void
on_hangup(int signal)
{
    (void)signal;
    is_reload_wanted = 1;
}

// *part: this is a new process, which is to run it; NULL: this is the first one.
static bool
start_parts(const struct call *call, struct daemon *daemon, struct daemon_part **part, struct err *err)
{
    *part = NULL;
    *daemon = (struct daemon){0};
    for (size_t i = 0; i < PARTS; i++) {
        struct daemon_part *next = &daemon->parts[daemon->count];
        bool is_part;
        if (rows[i].is_wanted && !rows[i].is_wanted(&call->settings))
            continue;
        *next = (struct daemon_part){.name = rows[i].name, .run = rows[i].run};
        if (!daemon_part_start(next, &is_part, err))
            return false;
        if (is_part) {
            for (size_t other = 0; other < daemon->count; other++)
                close(daemon->parts[other].notices);
            *part = next;
            return true;
        }
        daemon->count++;
        log_line(LOG_INFO, "started a part of the daemon", LOG_TEXT("of", next->name),
                 LOG_INT("pid", next->pid));
    }
    return true;
}

static void
stop_parts(struct daemon *daemon)
{
    for (size_t i = 0; i < daemon->count; i++) {
        struct daemon_part *part = &daemon->parts[i];
        if (!part->pid)
            continue;
        daemon_part_stop(part);
        log_line(part->status == STATUS_DONE ? LOG_INFO : LOG_WARN, "ended a part of the daemon",
                 LOG_TEXT("of", part->name), LOG_INT("status", part->status));
    }
}

// The first part that has ended; NULL: all of them run.
static const struct daemon_part *
look_at_parts(struct daemon *daemon)
{
    const struct daemon_part *ended = NULL;
    bool is_ready = true;
    for (size_t i = 0; i < daemon->count; i++) {
        bool runs = daemon_part_look(&daemon->parts[i]);
        if (!runs && !ended)
            ended = &daemon->parts[i];
        is_ready = is_ready && daemon->parts[i].is_ready;
    }
    if (is_ready && !ended && !daemon->was_told_ready) {
        daemon->was_told_ready = true;
        ready_tell();
        log_line(LOG_INFO, "all parts of the daemon are ready", LOG_INT("parts", daemon->count));
    }
    return ended;
}

// Reads files and environment again. Where something is wrong with them, everything stays as it is.
static bool
read_again(struct call *call)
{
    struct err err = {0};
    struct call next = *call;
    struct settings_request request = options_request(&call->options);
    next.settings = (struct settings){0};
    next.rules = NULL;
    next.group_rules = NULL;
    next.table = NULL;
    bool ok = settings_load(&next.settings, &request, &err) && command_rules(&next, &err) &&
              watch_check_files(&next, &err);
    struct call *unused = ok ? call : &next;
    category_rules_destroy(unused->rules);
    group_rules_destroy(unused->group_rules);
    settings_release(&unused->settings);
    if (ok)
        *call = next;
    else
        log_line(LOG_ERROR, "the configuration is wrong; the daemon continues with the one it has",
                 LOG_TEXT("why", err.text));
    return ok;
}

// False: the parts cannot be started again.
static bool
reload(struct call *call, struct daemon *daemon, struct daemon_part **part, struct err *err)
{
    is_reload_wanted = 0;
    if (!read_again(call))
        return true;
    log_line(LOG_INFO, "reloading: the parts of the daemon are started again",
             LOG_INT("parts", daemon->count));
    ready_tell_reloading();
    stop_parts(daemon);
    return start_parts(call, daemon, part, err);
}

// Until a signal, or a part ended by itself, whose status is the daemon's. Returns in the processes of parts
// too, with `part`.
static int
keep_parts(struct call *call, struct daemon *daemon, struct daemon_part **part, struct err *err)
{
    const struct daemon_part *ended = NULL;
    bool ok = true;
    while (ok && !*part && !ended && !interrupt_is_set()) {
        ended = look_at_parts(daemon);
        if (!ended && is_reload_wanted)
            ok = reload(call, daemon, part, err);
        else if (!ended)
            clock_sleep(LOOK_EVERY);
    }
    if (*part)
        return STATUS_DONE;
    int status = ended ? ended->status : ok ? STATUS_DONE : command_status(err);
    if (ended)
        log_line(LOG_ERROR, "a part of the daemon ended; the daemon ends", LOG_TEXT("of", ended->name),
                 LOG_INT("status", status));
    ready_tell_stopping();
    stop_parts(daemon);
    return status;
}

int
command_daemon(struct call *call, struct err *err)
{
    struct daemon daemon;
    struct daemon_part *part;
    if (!command_no_args(call, err) || !command_rules(call, err))
        return command_status(err);
    log_to(stderr, call->options.general.quiet ? LOG_ERROR : LOG_INFO, call->options.general.json);
    interrupt_catch();
    struct sigaction action = {.sa_handler = on_hangup};
    sigemptyset(&action.sa_mask);
    sigaction(SIGHUP, &action, NULL);
    int status = STATUS_DONE;
    bool ok = start_parts(call, &daemon, &part, err);
    if (!ok)
        stop_parts(&daemon);
    else if (!part)
        status = keep_parts(call, &daemon, &part, err);
    if (!ok || !part)
        return ok ? status : command_status(err);
    // Only the first process reads the configuration again, also where a signal goes to all of them.
    signal(SIGHUP, SIG_IGN);
    log_always("part", part->name);
    return part->run(call, err);
}
