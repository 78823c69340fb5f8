// watch: serves metrics, and keeps the rollup true, as a service; or prints the metrics once.
//
// Two threads a table look into the database: one keeps the rollup (rollup/maintenance), one reads sums and
// evaluates alerts (watch/watcher). A third one sends notices where there are destinations (watch/sender),
// a fourth one runs policies where there are some (watch/policies).
// This one serves HTTP between two looks for news, so a page is made when sums come and only copied when
// somebody asks.
#include "commands/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/output.h"
#include "commands/cli/ready.h"
#include "commands/policy_choose.h"
#include "commands/whole_file.h"
#include "http/client.h"
#include "http/server.h"
#include "rollup/maintenance.h"
#include "rollup/reader.h"
#include "settings/alerts_file.h"
#include "settings/policies_file.h"
#include "settings/runbook_file.h"
#include "settings/secret.h"
#include "watch/metrics.h"
#include "watch/policies.h"
#include "watch/sender.h"
#include "watch/watcher.h"

static const int64_t SERVE_FOR = US_PER_SECOND / 10;
// Sums that are older are told no more: where looks fail, and where one takes as long as none may.
static const int64_t TOLD_WHILE_FAILING = 60 * US_PER_SECOND;
static const int64_t TOLD_WHILE_LOOKING = 660 * US_PER_SECOND;

struct watched {
    struct store_settings settings;
    struct maintenance *maintenance;
    struct watcher *watcher;
    struct sender *sender;
    struct policy_runner *policies;
    struct watch_look *good;  // the last one that succeeded; NULL: none yet
    struct alert_plan alerts; // of the file, with a runbook of its own: a thread each
    struct metrics_table table;
};

struct watch {
    struct watched *watched;
    size_t count;
    int64_t started_at;
    struct alerts_file file;
    struct alert_plan alerts; // of the file
    struct policies_file policies_file;
    struct policy_plan policies; // of the file
    struct strbuf pages[FORM_COUNT];
    bool is_ready; // sums of every table can be told
};

// --- pages ---

// The second number of /proc/self/statm (proc(5)), in bytes; 0: not known.
static int64_t
resident_memory(void)
{
    char line[200];
    FILE *file = fopen("/proc/self/statm", "re");
    bool ok = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    const char *second = ok ? strchr(line, ' ') : NULL;
    return second ? strtol(second, NULL, 10) * sysconf(_SC_PAGESIZE) : 0;
}

static struct metrics_process
process_now(const struct watch *watch)
{
    struct metrics_process process = {.version = REDRIVE_VERSION, .started_at = watch->started_at};
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        process.cpu_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                              (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    process.memory = resident_memory();
    return process;
}

static void
write_pages(struct watch *watch)
{
    struct metrics_process process = process_now(watch);
    struct metrics_table *tables = alloc_array(watch->count, sizeof *tables);
    int64_t now = clock_mono();
    watch->is_ready = true;
    for (size_t i = 0; i < watch->count; i++) {
        const struct watched *watched = &watch->watched[i];
        tables[i] = watched->table;
        int64_t told_for = watched->table.is_up ? TOLD_WHILE_LOOKING : TOLD_WHILE_FAILING;
        bool is_told = watched->good && now - watched->good->ended_at < told_for;
        tables[i].sums = is_told ? &watched->good->sums : NULL;
        watch->is_ready = watch->is_ready && is_told;
    }
    for (enum exposition_form form = 0; form < FORM_COUNT; form++) {
        strbuf_reset(&watch->pages[form]);
        metrics_write(form, &process, tables, watch->count, &watch->pages[form]);
    }
    free(tables);
}

static void
take_look(struct watched *watched, struct watch_look *look)
{
    struct metrics_table *table = &watched->table;
    table->is_up = look->is_good;
    table->took = look->took;
    table->looks++;
    table->failed_looks += !look->is_good;
    if (look->is_good) {
        watch_look_destroy(watched->good);
        watched->good = look;
        return;
    }
    watch_look_destroy(look);
}

static bool
take_looks(struct watch *watch)
{
    bool has_news = false;
    for (size_t i = 0; i < watch->count; i++) {
        struct watch_look *look;
        while ((look = watcher_take(watch->watched[i].watcher))) {
            take_look(&watch->watched[i], look);
            has_news = true;
        }
    }
    return has_news;
}

// --- answers ---

static void
answer_metrics(void *context, const char *accept, struct http_answer *answer)
{
    const struct watch *watch = context;
    enum exposition_form form = exposition_wanted(accept);
    answer->type = exposition_type(form);
    answer->body = strbuf_bytes(&watch->pages[form]);
}

static void
answer_health(void *context, const char *accept, struct http_answer *answer)
{
    (void)context;
    (void)accept;
    answer->body = bytes_of("ok\n");
}

static void
answer_ready(void *context, const char *accept, struct http_answer *answer)
{
    const struct watch *watch = context;
    (void)accept;
    answer->status = watch->is_ready ? 200 : 503;
    answer->body = bytes_of(watch->is_ready ? "ok\n" : "the database cannot be read\n");
}

static const struct http_route routes[] = {
    {"/metrics", false, answer_metrics},
    {"/healthz", true, answer_health},
    {"/readyz", true, answer_ready},
};

// --- the service ---

// The parts of the endpoint that are kept in files.
struct watch_files {
    struct strbuf certificate, key, token;
};

static void
files_release(struct watch_files *files)
{
    if (files->key.data)
        explicit_bzero(files->key.data, files->key.len);
    if (files->token.data)
        explicit_bzero(files->token.data, files->token.len);
    strbuf_release(&files->certificate);
    strbuf_release(&files->key);
    strbuf_release(&files->token);
}

static bool
files_read(const struct watch_settings *settings, struct watch_files *files, struct err *err)
{
    if (!settings->watch_certificate != !settings->watch_key)
        return err_set(err, ERR_USAGE, "watch_certificate and watch_key belong together: set both, or none");
    if (settings->watch_certificate &&
        (!whole_file_read(settings->watch_certificate, &files->certificate, err) ||
         !secret_read_file(settings->watch_key, &files->key, err)))
        return false;
    if (settings->watch_token && !secret_read(SECRET_FILE, settings->watch_token, &files->token, err))
        return false;
    if (settings->watch_token && files->token.len == 0)
        return err_set(err, ERR_USAGE, "the first line of %s is empty: it is to hold the token",
                       settings->watch_token);
    return true;
}

bool
watch_check_files(const struct call *call, struct err *err)
{
    struct watch_files files = {0};
    struct alerts_file alerts;
    struct policies_file policies;
    bool ok = files_read(&call->settings.watch, &files, err);
    files_release(&files);
    ok = ok && alerts_file_read(call->settings.watch.alerts, &alerts, err);
    if (ok)
        alerts_file_release(&alerts);
    ok = ok && policies_file_read(call->settings.watch.policies, &policies, err);
    if (ok)
        policies_file_release(&policies);
    return ok;
}

static struct http_server *
start_server(struct call *call, struct watch *watch, struct err *err)
{
    const struct watch_settings *settings = &call->settings.watch;
    struct watch_files files = {0};
    struct http_server *server = NULL;
    if (files_read(settings, &files, err))
        server = http_server_start(
            &(struct http_server_settings){
                .listen = settings->watch_listen,
                .certificate = settings->watch_certificate ? strbuf_text(&files.certificate) : NULL,
                .key = settings->watch_certificate ? strbuf_text(&files.key) : NULL,
                .token = settings->watch_token ? strbuf_text(&files.token) : NULL,
                .routes = routes,
                .route_count = sizeof routes / sizeof *routes,
                .context = watch},
            err);
    files_release(&files);
    if (!server)
        return NULL;
    log_line(LOG_INFO, "serving metrics", LOG_TEXT("listen", http_server_address(server)),
             LOG_TEXT("scheme", settings->watch_certificate ? "https" : "http"));
    if (!http_server_is_local(server) && !settings->watch_token)
        log_line(LOG_WARN, "other hosts can read the metrics without a token; set watch_token",
                 LOG_TEXT("listen", http_server_address(server)));
    return server;
}

// Here a person hears at once what is wrong: no schema, no right, no way to PostgreSQL. Later the threads
// only log it.
static bool
prepare_table(struct call *call, const char *table, struct watched *watched, struct err *err)
{
    struct store *store = NULL;
    call->table = table;
    if (!command_store(call, STORE_WRITE, &store, err))
        return false;
    watched->settings = command_store_settings(call, STORE_WRITE);
    watched->table.table = call->table;
    bool ok = runbook_file_read(call->settings.grouping.runbook, &watched->alerts.runbook, err) &&
              watch_sums_look(store, call->settings.watch.watch_every, err);
    store_close(store);
    return ok;
}

static void
serve(struct call *call, struct watch *watch, struct http_server *server)
{
    int64_t written_at = 0;
    for (size_t i = 0; i < watch->count; i++) {
        struct watched *watched = &watch->watched[i];
        struct runbook *runbook = watched->alerts.runbook;
        watched->alerts = watch->alerts;
        watched->alerts.runbook = runbook;
        watched->maintenance = maintenance_start(&watched->settings);
        watched->watcher =
            watcher_start(&watched->settings, call->settings.watch.watch_every, &watched->alerts);
        watched->sender =
            sender_start(&watched->settings, watch->alerts.destinations, watch->alerts.destination_count);
        watched->policies =
            policy_runner_start(&watched->settings, &watch->policies, call->settings.watch.policies_every);
    }
    write_pages(watch);
    ready_tell();
    while (!interrupt_is_set()) {
        // Without news too: sums grow old.
        if (take_looks(watch) || clock_mono() - written_at > call->settings.watch.watch_every) {
            write_pages(watch);
            written_at = clock_mono();
        }
        http_server_run(server, SERVE_FOR);
    }
    ready_tell_stopping();
    log_line(LOG_INFO, "ending", LOG_INT("tables", watch->count));
    for (size_t i = 0; i < watch->count; i++)
        maintenance_end(watch->watched[i].maintenance);
    for (size_t i = 0; i < watch->count; i++) {
        policy_runner_stop(watch->watched[i].policies);
        watcher_stop(watch->watched[i].watcher);
        sender_stop(watch->watched[i].sender);
        maintenance_stop(watch->watched[i].maintenance);
    }
}

// --- once ---

// The rollup catches up first where nobody kept it.
static bool
look_now(struct call *call, struct watched *watched, struct err *err)
{
    struct store *store = NULL;
    if (!store_open(&store, &watched->settings, err))
        return false;
    struct rollup_state state;
    (void)rollup_catch_up(&watched->settings, store, &state);
    struct watch_look *look = watch_look_once(store, call->settings.watch.watch_every);
    bool ok = look->is_good || err_set(err, look->err.kind, "%s", look->err.text);
    take_look(watched, look);
    store_close(store);
    return ok;
}

static bool
print_once(struct call *call, struct watch *watch, struct err *err)
{
    for (size_t i = 0; i < watch->count; i++)
        if (!look_now(call, &watch->watched[i], err))
            return false;
    write_pages(watch);
    return output_bytes(strbuf_bytes(&watch->pages[FORM_TEXT]), err) && output_flush(err);
}

static void
watched_release(struct watched *watched)
{
    watch_look_destroy(watched->good);
    runbook_destroy(watched->alerts.runbook);
}

static void
watch_release(struct watch *watch)
{
    for (size_t i = 0; watch->watched && i < watch->count; i++)
        watched_release(&watch->watched[i]);
    for (size_t i = 0; i < FORM_COUNT; i++)
        strbuf_release(&watch->pages[i]);
    alerts_file_release(&watch->file);
    policies_file_release(&watch->policies_file);
}

static bool
read_alerts(const struct call *call, struct watch *watch, struct err *err)
{
    if (!alerts_file_read(call->settings.watch.alerts, &watch->file, err))
        return false;
    watch->alerts = (struct alert_plan){.rules = watch->file.rules,
                                        .rule_count = watch->file.rule_count,
                                        .destinations = watch->file.destinations,
                                        .destination_count = watch->file.destination_count};
    return true;
}

static bool
read_policies(struct call *call, struct watch *watch, struct err *err)
{
    if (!policies_file_read(call->settings.watch.policies, &watch->policies_file, err))
        return false;
    watch->policies = policy_choose_plan(call, &watch->policies_file);
    return true;
}

static bool
watch_tables(struct call *call, struct watch *watch, struct err *err)
{
    if (call->options.command.once)
        return print_once(call, watch, err);
    if (!http_client_begin(err))
        return false;
    struct http_server *server = start_server(call, watch, err);
    if (server)
        serve(call, watch, server);
    http_server_stop(server);
    http_client_end();
    return server != NULL;
}

int
command_watch(struct call *call, struct err *err)
{
    const char **tables;
    struct watch watch = {.started_at = clock_now()};
    if (!command_no_args(call, err) || !command_rules(call, err) || !read_alerts(call, &watch, err) ||
        !read_policies(call, &watch, err) || !command_tables(call, &tables, &watch.count, NULL, err)) {
        watch_release(&watch);
        return command_status(err);
    }
    if (watch.count == 0) // the database has no schema yet, which command_store says
        watch.count = 1;
    log_to(stderr, call->options.general.quiet || call->options.command.once ? LOG_ERROR : LOG_INFO,
           call->options.general.json);
    interrupt_catch();
    watch.watched = arena_array(&call->settings.arena, watch.count, sizeof *watch.watched);
    bool ok = true;
    for (size_t i = 0; ok && i < watch.count; i++)
        ok = prepare_table(call, tables[i], &watch.watched[i], err);
    ok = ok && watch_tables(call, &watch, err);
    watch_release(&watch);
    return ok ? STATUS_DONE : command_status(err);
}
