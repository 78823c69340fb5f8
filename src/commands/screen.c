// screen: the full screen. The one command that names the UI; joins it to the backend by two mailboxes.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "async/mailbox.h"
#include "async/message.h"
#include "base/alloc.h"
#include "base/text.h"
#include "base/uuid.h"
#include "commands/choosing.h"
#include "commands/cli/command.h"
#include "commands/cli/output.h"
#include "commands/correcting.h"
#include "commands/publishing.h"
#include "commands/screen_connections.h"
#include "backend/backend.h"
#include "core/link.h"
#include "settings/runbook_file.h"
#include "ui/app/app.h"
#include "ui/app/script.h"
#include "ui/term/term.h"
#include "ui/views/editor/editor.h"

enum { REQUESTS = 4096, REPLIES = 256, WORKER_ARGUMENTS = 64 };

// The screen on one of its connections.
struct screen {
    struct screen_connections connections;
    struct app_connection *shown; // the same for the app
    struct store *connected;      // by which the connection in use was tried; NULL: by none that is open yet
    struct mailbox *requests, *replies;
    struct backend *backend;
    struct app_config config;
    struct runbook *runbook;
    struct app *app;
    struct term *term;  // NULL: a script plays
    char id[UUID_SIZE]; // for presence: the same in every connection
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
    // The screen shows the worker's note for as long as it is there, and would start the next one anyway.
    arguments[count++] = "--patience";
    arguments[count++] = "10m";
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
    arguments[count++] = "--table";
    arguments[count++] = settings->connection.table; // as command_store found it
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

// What the theme is by, where it counts more than the person's own file.
static const char *
theme_by(const struct settings *settings)
{
    const struct settings_origin *origin = &settings->origins[SETTING_ID_theme];
    size_t own = strlen(settings->config_home);
    bool is_below = origin->place == PLACE_BUILT_IN ||
                    strncmp(origin->where, "/etc/redrive/config:", 20) == 0 ||
                    strncmp(origin->where, settings->config_home, own) == 0;
    return is_below ? NULL : origin->where;
}

static struct app_config
configure(const struct screen *screen, const struct call *call, const struct screen_connection *connection)
{
    const struct settings *settings = &call->settings;
    const char *test_fd = getenv("REDRIVE_TEST_FD");
    int64_t idle_fd = -1;
    if (test_fd && !text_parse_int(bytes_of(test_fd), &idle_fd, NULL))
        idle_fd = -1;
    return (struct app_config){
        .requests = screen->requests,
        .replies = screen->replies,
        .views = views,
        .view_count = view_count,
        .breadcrumb = "redrive",
        .label = settings->decision.label,
        .label_color = settings->decision.label_color,
        .is_read_only = settings->connection.read_only || connection->read_only_why,
        .read_only_why = connection->read_only_why,
        .decision.is_protected = strcmp(settings->decision.protect, "count") == 0,
        .decision.confirm_above = settings->decision.confirm_above,
        .decision.approve_above = settings->decision.approve_above,
        .decision.max_replays = settings->decision.max_replays,
        .decision.send_after = settings->decision.send_after,
        .decision.reason_required = settings->decision.reason_required,
        .is_ascii = screen->term ? term_is_ascii(screen->term) : settings->screen.ascii,
        .follow_after = settings->screen.follow,
        .column = settings->screen.column,
        .takes_mouse = settings->screen.mouse,
        .times_by_clock = strcmp(settings->screen.times, "clock") == 0,
        .look.theme = settings->screen.theme,
        .look.keymap = settings->screen.keymap,
        .look.theme_by = theme_by(settings),
        .places = {.config_home = settings->config_home, .share = REDRIVE_SHARE},
        .state_home = settings->state_home,
        .editor = {.style = settings->screen.editor_style,
                   .keeps_drafts = settings->screen.drafts,
                   .hands_over = settings->screen.external_editor,
                   .runtime_dir = getenv("XDG_RUNTIME_DIR")},
        .start.filter = connection->filter ? connection->filter : call->options.choice.filter,
        .start.place = connection->place,
        .connections = {.list = screen->shown,
                        .count = screen->connections.count,
                        .current = screen->connections.current},
        .idle_fd = (int)idle_fd,
    };
}

static void
show_connections(struct screen *screen)
{
    const struct screen_connections *all = &screen->connections;
    free(screen->shown);
    screen->shown = alloc_array(all->count, sizeof *screen->shown);
    for (size_t i = 0; i < all->count; i++)
        screen->shown[i] = (struct app_connection){.profile = all->list[i]->profile,
                                                   .table = all->list[i]->table,
                                                   .of = all->list[i]->of,
                                                   .words = all->list[i]->words};
}

// Starts backend and app on the connection in use, which was tried.
static bool
screen_begin(struct screen *screen, struct err *err)
{
    size_t current = screen->connections.current;
    screen_connections_add_tables(&screen->connections);
    show_connections(screen);
    struct screen_connection *connection = screen->connections.list[current];
    struct call *call = connection->call;
    struct backend_settings backend = {
        .store = publishing_store(call),
        .connected = screen->connected,
        .plan = publishing_plan(call),
        .correct = correcting_limits(call),
        .refresh_us = call->settings.screen.refresh,
        .filter_cache = call->settings.screen.filter_cache,
        .start_worker = call->settings.publish.start_worker ? start_worker : NULL,
        .worker_context = call,
        .worker_publishes = has_brokers(call),
        .try_connection = screen_connections_try,
        .connections = &screen->connections,
        .screen = screen->id,
    };
    if (!screen->id[0])
        uuid_make(screen->id);
    backend.store.is_read_only = backend.store.is_read_only || connection->read_only_why;
    screen->requests = mailbox_create(REQUESTS);
    screen->replies = mailbox_create(REPLIES);
    screen->backend = backend_start(&backend, screen->requests, screen->replies);
    screen->connected = NULL;
    screen->config = configure(screen, call, connection);
    if (!link_list_read(call->settings.screen.links, &call->settings.arena, &screen->config.links, err))
        return err_context(err, "%s", call->settings.origins[SETTING_ID_links].where);
    if (!runbook_file_read(call->settings.grouping.runbook, &screen->runbook, err))
        return false;
    screen->config.runbook = screen->runbook;
    screen->config.tells_presence = true;
    screen->app = app_create(&screen->config, err);
    if (screen->app && connection->asks_table)
        (void)app_choose_table(screen->app);
    connection->asks_table = false;
    return screen->app != NULL;
}

static void
screen_end(struct screen *screen)
{
    app_destroy(screen->app);
    screen->app = NULL;
    runbook_destroy(screen->runbook);
    screen->runbook = NULL;
    backend_stop(screen->backend);
    screen->backend = NULL;
    mailbox_destroy(screen->requests, request_drop);
    mailbox_destroy(screen->replies, reply_drop);
    screen->requests = screen->replies = NULL;
}

// From the connection that was left to the one that the person asked for. Place and filter of the old one are
// kept.
static struct app *
screen_follow(void *context, struct err *err)
{
    struct screen *screen = context;
    size_t next;
    (void)!app_is_leaving_for(screen->app, &next);
    struct screen_connection *left = screen->connections.list[screen->connections.current];
    left->place = app_place(screen->app);
    free(left->filter);
    left->filter = alloc_text(app_filter(screen->app));
    screen_end(screen);
    screen->connections.current = next;
    return screen_begin(screen, err) ? screen->app : NULL;
}

static int
run_on_terminal(struct screen *screen, const struct screen_settings *settings, struct err *err)
{
    const struct term_options options = {.color = settings->color,
                                         .is_ascii = settings->ascii,
                                         .takes_mouse = settings->mouse,
                                         .esc_delay = settings->esc_delay};
    screen->term = term_open(&options, err);
    if (!screen->term)
        return STATUS_USAGE;
    int status = STATUS_USAGE;
    size_t next;
    bool ok = screen_begin(screen, err);
    if (ok && term_note(screen->term))
        app_say(screen->app, SAY_WARN, "%s", term_note(screen->term));
    while (ok) {
        status = app_run(screen->app, screen->term);
        if (!app_is_leaving_for(screen->app, &next))
            break;
        ok = screen_follow(screen, err) != NULL;
    }
    term_close(screen->term);
    return ok ? status : STATUS_USAGE;
}

static int
run_script(struct screen *screen, const struct screen_options *options, struct err *err)
{
    const struct script_follow follow = {.follow = screen_follow, .context = screen};
    bool ok = screen_begin(screen, err) &&
              script_run(screen->app, &follow, options->script, options->script_out, err);
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

    struct screen screen = {0};
    bool ok = screen_connections_read(&screen.connections, call, err) &&
              screen_connections_open(&screen.connections, 0, &screen.connected, err) &&
              settings_make_state_home(&call->settings, err) &&
              choosing_expand(call, &call->options.choice.filter, err);
    int status = command_status(err);
    if (ok) {
        alloc_return_large();
        status = needs_terminal ? run_on_terminal(&screen, &call->settings.screen, err)
                                : run_script(&screen, &call->options.screen, err);
        screen_end(&screen);
    }
    store_close(screen.connected);
    free(screen.shown);
    screen_connections_release(&screen.connections);
    return status;
}
