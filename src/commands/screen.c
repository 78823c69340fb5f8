// screen: the full screen. The one command that names the UI; joins it to the backend by two mailboxes.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "async/mailbox.h"
#include "async/message.h"
#include "base/alloc.h"
#include "base/text.h"
#include "commands/choosing.h"
#include "commands/cli/command.h"
#include "commands/cli/output.h"
#include "commands/correcting.h"
#include "commands/publishing.h"
#include "backend/backend.h"
#include "ui/app/app.h"
#include "ui/app/script.h"
#include "ui/term/term.h"
#include "ui/views/editor/editor.h"

enum { REQUESTS = 4096, REPLIES = 256, WORKER_ARGUMENTS = 64 };

// The state that the UI's and the backend's callbacks share.
struct screen_backend {
    struct mailbox *requests, *replies;
    struct backend *backend;
};

// The arguments with which a worker reaches the same database and brokers: what was given as an option. The
// rest it reads from the same files and environment.
static const char *const *
worker_arguments(struct call *call)
{
    struct settings *settings = &call->settings;
    const struct {
        enum setting_id id;
        const char *option;
        const char *value;
    } given[] = {
        {SETTING_ID_database, "--dbname", settings->connection.database},
        {SETTING_ID_host, "--host", settings->connection.host},
        {SETTING_ID_port, "--port", settings->connection.port},
        {SETTING_ID_user, "--username", settings->connection.user},
        {SETTING_ID_table, "--table", settings->connection.table},
        {SETTING_ID_zone, "--zone", settings->connection.zone},
        {SETTING_ID_brokers, "--brokers", settings->kafka.brokers},
    };
    size_t count = 0;
    const char **arguments =
        arena_array(&settings->arena,
                    WORKER_ARGUMENTS + settings->kafka.property_count * 2 + settings->kafka.file_count * 2,
                    sizeof *arguments);
    arguments[count++] = "work";
    arguments[count++] = "--once";
    arguments[count++] = "--no-password";
    if (settings->profile) {
        arguments[count++] = "--profile";
        arguments[count++] = settings->profile;
    }
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (settings->origins[given[i].id].place != PLACE_OPTION || !given[i].value)
            continue;
        arguments[count++] = given[i].option;
        arguments[count++] = given[i].value;
    }
    for (size_t i = 0; i < settings->kafka.file_count; i++) {
        arguments[count++] = "--kafka-file";
        arguments[count++] = settings->kafka.files[i];
    }
    for (size_t i = 0; i < settings->kafka.property_count; i++) {
        const struct kafka_property *property = &settings->kafka.properties[i];
        if (property->origin.place != PLACE_OPTION || strcmp(property->origin.where, "-X") != 0)
            continue; // what came from a file may be a secret, and stays in the file
        arguments[count++] = "--kafka-property";
        arguments[count++] = property->source
                                 ? arena_printf(&settings->arena, "%s.%s=%s", property->name,
                                                secret_source_word(property->source), property->source_place)
                                 : arena_printf(&settings->arena, "%s=%s", property->name, property->value);
    }
    return arguments;
}

static bool
start_worker(void *context, struct err *err)
{
    struct call *call = context;
    return worker_start_detached(worker_arguments(call), call->settings.state_home, err);
}

static bool
has_brokers(struct call *call)
{
    struct broker_settings broker = publishing_broker(call);
    return broker_settings_present(&broker);
}

static struct app_config
configure(const struct call *call, const struct screen_backend *pair, const char *read_only_why)
{
    const struct settings *settings = &call->settings;
    const char *test_fd = getenv("REDRIVE_TEST_FD");
    int64_t idle_fd = -1;
    if (test_fd && !text_parse_int(bytes_of(test_fd), &idle_fd, NULL))
        idle_fd = -1;
    return (struct app_config){
        .requests = pair->requests,
        .replies = pair->replies,
        .views = views,
        .view_count = view_count,
        .breadcrumb = "redrive",
        .label = settings->decision.label,
        .is_read_only = settings->connection.read_only || read_only_why,
        .read_only_why = read_only_why,
        .decision.is_protected = strcmp(settings->decision.protect, "count") == 0,
        .decision.confirm_above = settings->decision.confirm_above,
        .decision.approve_above = settings->decision.approve_above,
        .decision.max_replays = settings->decision.max_replays,
        .decision.send_after = settings->decision.send_after,
        .decision.reason_required = settings->decision.reason_required,
        .is_ascii = settings->screen.ascii,
        .takes_mouse = settings->screen.mouse,
        .theme = settings->screen.theme,
        .keymap = settings->screen.keymap,
        .places = {.config_home = settings->config_home, .share = REDRIVE_SHARE},
        .state_home = settings->state_home,
        .editor = {.style = settings->screen.editor_style,
                   .keeps_drafts = settings->screen.drafts,
                   .hands_over = settings->screen.external_editor,
                   .runtime_dir = getenv("XDG_RUNTIME_DIR")},
        .start_filter = call->options.choice.filter,
        .idle_fd = (int)idle_fd,
    };
}

// Why this user can only look: without the right to decide. NULL: the user has it, or access fails otherwise.
static const char *
only_looks(struct call *call, const struct store *store)
{
    const struct store_info *info = store_info(store);
    if (call->settings.connection.read_only || info->schema_version == 0 || info->may_decide)
        return NULL;
    return arena_printf(&call->settings.arena, "%s has read-only access: GRANT redrive_operator TO %s;",
                        info->user, store_quote_name(info->user, &call->settings.arena));
}

static int
run_on_terminal(struct app_config *config, const struct screen_settings *screen, struct err *err)
{
    const struct term_options options = {.color = screen->color,
                                         .is_ascii = screen->ascii,
                                         .takes_mouse = screen->mouse,
                                         .esc_delay = screen->esc_delay};
    struct term *term = term_open(&options, err);
    if (!term)
        return STATUS_USAGE;
    config->is_ascii = term_is_ascii(term);
    config->start_note = term_note(term);
    struct app *app = app_create(config, err);
    int status = app ? app_run(app, term) : STATUS_USAGE;
    term_close(term);
    app_destroy(app);
    return status;
}

static int
run_script(const struct app_config *config, const struct screen_options *options, struct err *err)
{
    struct app *app = app_create(config, err);
    bool ok = app && script_run(app, options->script, options->script_out, err);
    app_destroy(app);
    return ok ? STATUS_DONE : STATUS_PART;
}

static int
dump_keymap(struct call *call, struct err *err)
{
    const struct ui_places places = {.config_home = call->settings.config_home, .share = REDRIVE_SHARE};
    struct strbuf warnings = {0};
    struct strbuf text = {0};
    struct keymap *keymap = keymap_load(call->settings.screen.keymap, &places, &warnings, err);
    bool ok = keymap != NULL;
    if (ok) {
        keymap_dump(keymap, &text);
        ok = output_bytes(strbuf_bytes(&text), err);
    }
    keymap_destroy(keymap);
    strbuf_release(&warnings);
    strbuf_release(&text);
    return ok ? STATUS_DONE : command_status(err);
}

static int
purge_drafts(struct call *call, struct err *err)
{
    char count[TEXT_SHORT];
    size_t removed = editor_purge_drafts(call->settings.state_home, getenv("XDG_RUNTIME_DIR"));
    const char *said = call->options.general.json
                           ? arena_printf(&call->settings.arena, "{\"removed\": %zu}\n", removed)
                           : arena_printf(&call->settings.arena, "removed %s draft%s\n",
                                          text_count((int64_t)removed, count), removed == 1 ? "" : "s");
    return output_bytes(bytes_of(said), err) ? STATUS_DONE : command_status(err);
}

int
command_screen(struct call *call, struct err *err)
{
    if (!command_no_args(call, err))
        return STATUS_USAGE;
    if (call->options.screen.dump_keymap)
        return dump_keymap(call, err);
    if (call->options.screen.purge_drafts)
        return purge_drafts(call, err);
    bool needs_terminal = !call->options.screen.script;
    if (needs_terminal && (!call->in_is_terminal || !call->out_is_terminal)) {
        err_set(err, ERR_USAGE,
                "the screen needs a terminal for input and output; redrive groups, events and the other "
                "commands of "
                "redrive --help work in a pipe");
        return STATUS_USAGE;
    }

    // Once before the screen: a wrong name or a missing right is a sentence on the command line, and a
    // password is asked there.
    struct store *store = NULL;
    if (!command_store(call, STORE_READ, &store, err))
        return command_status(err);
    const char *read_only_why = only_looks(call, store);
    store_close(store);
    if (!settings_make_state_home(&call->settings, err))
        return command_status(err);

    if (!choosing_expand(call, &call->options.choice.filter, err))
        return command_status(err);
    alloc_return_large();
    struct screen_backend pair = {.requests = mailbox_create(REQUESTS), .replies = mailbox_create(REPLIES)};
    struct backend_settings backend = {
        .store = publishing_store(call),
        .plan = publishing_plan(call),
        .correct = correcting_limits(call),
        .refresh_us = call->settings.screen.refresh,
        .filter_cache = call->settings.screen.filter_cache,
        .start_worker = call->settings.publish.start_worker ? start_worker : NULL,
        .worker_context = call,
        .worker_publishes = has_brokers(call),
    };
    backend.store.is_read_only = backend.store.is_read_only || read_only_why;
    pair.backend = backend_start(&backend, pair.requests, pair.replies);
    struct app_config config = configure(call, &pair, read_only_why);
    int status = needs_terminal ? run_on_terminal(&config, &call->settings.screen, err)
                                : run_script(&config, &call->options.screen, err);
    backend_stop(pair.backend);
    mailbox_destroy(pair.requests, request_drop);
    mailbox_destroy(pair.replies, reply_drop);
    return status;
}
