#include "commands/screen_connections.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/category.h"
#include "core/fingerprint/rules.h"

// The options that hold for every connection; heap.
static struct settings_option *
lasting_options(const struct options *options, size_t *count)
{
    struct settings_option *lasting = alloc_array(options->setting_count + 1, sizeof *lasting);
    *count = 0;
    for (size_t i = 0; i < options->setting_count; i++)
        if (!setting_connects(options->settings[i].id))
            lasting[(*count)++] = options->settings[i];
    return lasting;
}

// Nothing is asked at the terminal, which belongs to the screen.
static bool
read_profile(const struct call *start, const char *profile, struct call *call, struct err *err)
{
    size_t count;
    struct settings_option *options = lasting_options(&start->options, &count);
    const struct settings_request request = {
        .profile = profile, .options = options, .option_count = count, .no_password = true};
    *call = *start;
    call->rules = NULL;
    call->group_rules = NULL;
    call->options.choice.filter = NULL;
    bool ok = settings_load(&call->settings, &request, err);
    free(options);
    return ok;
}

// "prod  PROD  service=orders", of what an operator tells environments apart by.
static const char *
words_of(const struct settings *settings, const char *name, struct arena *arena)
{
    const char *label = settings->decision.label;
    const char *conninfo = settings->connection.conninfo;
    bool has_label = label && strcmp(label, name) != 0;
    return arena_printf(arena, "%s%s%s%s%s", name, has_label ? "  " : "", has_label ? label : "",
                        *conninfo ? "  " : "", conninfo);
}

bool
screen_connections_read(struct screen_connections *connections, struct call *start, struct err *err)
{
    const struct settings *settings = &start->settings;
    size_t most = settings->profile_count + 1;
    struct arena *arena = &connections->arena;
    connections->start = start;
    connections->list = arena_array(arena, most, sizeof *connections->list);
    memset(connections->list, 0, most * sizeof *connections->list);
    connections->count = 1;
    connections->list[0].profile = settings->profile;
    connections->list[0].words =
        words_of(settings, settings->profile ? settings->profile : "(as started)", arena);
    for (size_t i = 0; i < settings->profile_count; i++) {
        const char *name = settings->profiles[i].name;
        if (settings->profile && strcmp(name, settings->profile) == 0)
            continue;
        struct screen_connection *connection = &connections->list[connections->count++];
        if (!read_profile(start, name, &connection->call, err))
            return false;
        connection->profile = name;
        connection->words = words_of(&connection->call.settings, name, arena);
    }
    return true;
}

void
screen_connections_release(struct screen_connections *connections)
{
    for (size_t i = 0; i < connections->count; i++) {
        struct screen_connection *connection = &connections->list[i];
        free(connection->filter);
        if (i == 0)
            continue;
        category_rules_destroy(connection->call.rules);
        group_rules_destroy(connection->call.group_rules);
        settings_release(&connection->call.settings);
    }
    arena_release(&connections->arena);
    *connections = (struct screen_connections){0};
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

struct call *
screen_connection_call(struct screen_connections *connections, size_t connection)
{
    return connection == 0 ? connections->start : &connections->list[connection].call;
}

bool
screen_connections_try(void *context, size_t connection, struct err *err)
{
    struct screen_connections *connections = context;
    struct screen_connection *tried = &connections->list[connection];
    struct call *call = screen_connection_call(connections, connection);
    struct store *store = NULL;
    if ((connection > 0 && !settings_check_profile(&call->settings, err)) ||
        !command_store(call, STORE_READ, &store, err))
        return false;
    call->settings.connection.ask_password =
        false; // it was typed, and the terminal is the screen's from now on
    call->settings.connection.no_password = true;
    tried->read_only_why = only_looks(call, store);
    store_close(store);
    return true;
}
