#include "commands/screen_connections.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/category.h"
#include "core/fingerprint/rules.h"
#include "store/tables.h"

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

static struct screen_connection *
add_connection(struct screen_connections *connections, const char *profile)
{
    connections->list =
        alloc_grow(connections->list, connections->count, &connections->capacity, sizeof *connections->list);
    struct screen_connection *connection = alloc_bytes(sizeof *connection);
    connection->profile = profile;
    connection->call = &connection->own;
    connection->of = connections->count;
    connections->list[connections->count++] = connection;
    return connection;
}

bool
screen_connections_read(struct screen_connections *connections, struct call *start, struct err *err)
{
    const struct settings *settings = &start->settings;
    struct arena *arena = &connections->arena;
    struct screen_connection *first = add_connection(connections, settings->profile);
    first->call = start;
    first->words = words_of(settings, settings->profile ? settings->profile : "(as started)", arena);
    for (size_t i = 0; i < settings->profile_count; i++) {
        const char *name = settings->profiles[i].name;
        if (settings->profile && strcmp(name, settings->profile) == 0)
            continue;
        struct screen_connection *connection = add_connection(connections, name);
        if (!read_profile(start, name, connection->call, err))
            return false;
        connection->words = words_of(&connection->call->settings, name, arena);
    }
    return true;
}

static bool
is_known(const struct screen_connections *connections, size_t of, const char *table)
{
    for (size_t i = 0; i < connections->count; i++) {
        const struct screen_connection *other = connections->list[i];
        if (other->of == of && other->table && strcmp(other->table, table) == 0)
            return true;
    }
    return false;
}

// The settings of a further table are those of its profile, which outlive it; what is added to them is its
// own.
void
screen_connections_add_tables(struct screen_connections *connections)
{
    struct screen_connection *current = connections->list[connections->current];
    const struct call *call = connections->list[current->of]->call;
    for (size_t i = 0; i < current->table_count; i++) {
        if (is_known(connections, current->of, current->tables[i]))
            continue;
        struct screen_connection *connection = add_connection(connections, current->profile);
        connection->of = current->of;
        connection->words = connection->table = arena_text(&connections->arena, bytes_of(current->tables[i]));
        connection->own = *call;
        connection->own.settings.arena = (struct arena){0};
        connection->own.table = connection->table;
        connection->own.settings.connection.table = connection->table;
        connection->own.options.choice.filter = NULL;
    }
}

void
screen_connections_release(struct screen_connections *connections)
{
    for (size_t i = 0; i < connections->count; i++) {
        struct screen_connection *connection = connections->list[i];
        bool is_own = connection->call == &connection->own;
        if (is_own && connection->of == i) {
            category_rules_destroy(connection->own.rules);
            group_rules_destroy(connection->own.group_rules);
        }
        if (is_own)
            arena_release(&connection->own.settings.arena);
        free(connection->filter);
        free(connection);
    }
    free(connections->list);
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

// What else the database has; a failure leaves it out.
static void
list_tables(struct screen_connection *tried, const struct store *store)
{
    struct err ignored = {0};
    if (store_info(store)->tables < 2)
        return;
    const struct store_settings settings = command_store_settings(tried->call, STORE_READ);
    tried->table = tried->call->table;
    if (!store_tables(&settings, &tried->call->settings.arena, &tried->tables, &tried->table_count, NULL,
                      &ignored))
        tried->table_count = 0;
}

bool
screen_connections_open(struct screen_connections *connections, size_t connection, struct store **store,
                        struct err *err)
{
    struct screen_connection *tried = connections->list[connection];
    struct call *call = tried->call;
    *store = NULL;
    if ((call == &tried->own && !settings_check_profile(&call->settings, err)) || !command_rules(call, err))
        return false;
    bool is_named = command_store_settings(call, STORE_USUAL).table != NULL;
    if (!command_store(call, STORE_USUAL, store, err))
        return false;
    tried->asks_table = !is_named && store_info(*store)->tables > 1;
    call->settings.connection.no_password = true; // the terminal is the screen's from now on
    tried->read_only_why = only_looks(call, *store);
    list_tables(tried, *store);
    return true;
}

bool
screen_connections_try(void *context, size_t connection, struct err *err)
{
    struct store *store;
    bool ok = screen_connections_open(context, connection, &store, err);
    store_close(store);
    return ok;
}
