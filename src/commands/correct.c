// correct: writes a revision of one event; or applies a recipe to many, as an operation (change.c).
#include <inttypes.h>
#include <string.h>
#include "base/alloc.h"
#include "commands/changing.h"
#include "commands/choosing.h"
#include "commands/cli/output.h"
#include "commands/correcting.h"
#include "commands/one_event.h"
#include "commands/publishing.h"
#include "commands/revisions.h"
#include "commands/whole_file.h"
#include "core/json/json.h"
#include "store/events/revisions.h"

// --- reading ---

// The place of the = between a path and its JSON, behind brackets and quotes; the length where there is none.
static size_t
find_equals(struct bytes text)
{
    char quote = 0;
    int depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (quote) {
            if (c == '\\')
                i++;
            else if (c == quote)
                quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '[' || c == ']') {
            depth += c == '[' ? 1 : -1;
        } else if (c == '=' && depth <= 0) {
            return i;
        }
    }
    return text.len;
}

// A line of the recipe that an option stands for. What is wrong with it is told without a place in a recipe
// that nobody wrote.
static bool
check_line(const char *option, struct bytes path, struct bytes line, struct err *err)
{
    struct err trouble = {0};
    struct recipe *recipe = NULL;
    bool ok = recipe_parse(&recipe, "", line, &trouble);
    recipe_destroy(recipe);
    if (ok)
        return true;
    const char *behind = strstr(trouble.text, ": ");
    return err_set(err, ERR_USAGE, "%s %.*s: %s", option, (int)path.len, path.data,
                   behind ? behind + 2 : trouble.text);
}

static bool
add_set(const char *given, struct strbuf *recipe, struct err *err)
{
    struct bytes text = bytes_of(given);
    size_t at = find_equals(text);
    if (at == text.len)
        return err_set(err, ERR_USAGE, "--set takes PATH=JSON, such as --set '$.amount=17.90', not \"%s\"",
                       given);
    struct bytes value = bytes_slice(text, at + 1, text.len - at - 1);
    struct err trouble = {0};
    if (!json_check(value, &trouble))
        return err_set(err, ERR_USAGE, "--set %.*s: %s; text needs quotes: --set '%.*s=\"…\"'", (int)at,
                       given, trouble.text, (int)at, given);
    size_t begin = recipe->len;
    strbuf_printf(recipe, "set %.*s ", (int)at, given);
    (void)json_minify(value, recipe); // one line
    strbuf_add_char(recipe, '\n');
    return check_line("--set", bytes_slice(text, 0, at),
                      bytes_slice(strbuf_bytes(recipe), begin, recipe->len - begin), err);
}

// --set and --unset as a recipe: one language, one way to apply it.
static bool
options_recipe(const struct command_options *options, struct strbuf *recipe, struct err *err)
{
    for (size_t i = 0; i < options->set.count; i++)
        if (!add_set(options->set.items[i], recipe, err))
            return false;
    for (size_t i = 0; i < options->unset.count; i++) {
        size_t begin = recipe->len;
        strbuf_printf(recipe, "remove %s\n", options->unset.items[i]);
        if (!check_line("--unset", bytes_of(options->unset.items[i]),
                        bytes_slice(strbuf_bytes(recipe), begin, recipe->len - begin), err))
            return false;
    }
    return true;
}

// --- one event ---

struct correcting_one {
    struct call *call;
    struct store *store;
    struct one_event one;
    int32_t parent; // the newest revision
    struct record_parts before, after;
    struct correction correction;
    bool is_inexact; // the bytes that were received are unknown
    bool was_asked;  // Kafka was, for them
};

// The bytes that were received, as far as they are known; what an edit then keeps is exact.
static bool
find_bytes(struct correcting_one *correcting, struct err *err)
{
    struct call *call = correcting->call;
    struct event *event = &correcting->one.event;
    struct broker_settings settings;
    struct correcting_originals originals = {0};
    if (!publishing_broker_ready(call, &settings, err))
        return false;
    if (broker_settings_present(&settings) && !broker_open(&originals.broker, &settings, err))
        return false;
    const char *trouble = NULL;
    bool ok = correcting_find_originals(&originals, correcting->store, event, 1, false,
                                        &correcting->one.arena, &trouble, err);
    broker_close(originals.broker);
    if (ok && trouble)
        return err_set(err, ERR_UNREACHABLE, "event %" PRId64 " was not corrected: %s", event->id, trouble);
    correcting->is_inexact =
        ok && !call->options.command.file && !event->record.is_kept && !event->known.correction.has_payload;
    correcting->was_asked = broker_settings_present(&settings);
    return ok;
}

static bool
apply_options(struct correcting_one *correcting, struct err *err)
{
    struct strbuf text = {0};
    struct recipe *recipe = NULL;
    struct recipe_note note = {0};
    bool ok = options_recipe(&correcting->call->options.command, &text, err) &&
              recipe_parse(&recipe, "options", strbuf_bytes(&text), err);
    strbuf_release(&text);
    if (!ok)
        return false;
    enum recipe_outcome outcome =
        recipe_apply(recipe, &correcting->before, NULL, &correcting->one.arena, &correcting->after, &note);
    recipe_destroy(recipe);
    for (unsigned i = 0; i < RECIPE_WARN_COUNT; i++)
        if (note.warnings & 1u << i)
            remark(correcting->call, "warning: %s", recipe_warning_sentence((enum recipe_warning)i));
    switch (outcome) {
    case RECIPE_CHANGED:
    case RECIPE_UNCHANGED:
        return true;
    case RECIPE_NOT_APPLICABLE:
        return err_set(err, ERR_NOT_FOUND, "event %" PRId64 " was not corrected: %s",
                       correcting->one.event.id, note.reason);
    case RECIPE_INVALID:
    case RECIPE_FAILED:
    case RECIPE_OUTCOMES:
        break;
    }
    return err_set(err, ERR_USAGE, "event %" PRId64 " was not corrected: %s", correcting->one.event.id,
                   note.reason);
}

static bool
take_file(struct correcting_one *correcting, const char *name, struct err *err)
{
    struct strbuf text = {0};
    struct err trouble = {0};
    bool ok = whole_file_read(name, &text, err);
    correcting->after = correcting->before;
    correcting->after.payload = arena_copy(&correcting->one.arena, strbuf_bytes(&text));
    if (ok && !correcting->call->options.command.force && !json_check(strbuf_bytes(&text), &trouble))
        ok = err_set(err, ERR_USAGE, "%s: %s; --force saves it as it is",
                     strcmp(name, "-") == 0 ? "standard input" : name, trouble.text);
    strbuf_release(&text);
    return ok;
}

// What the event would be with the correction in place of its newest one.
static bool
revert_parts(struct correcting_one *correcting, struct err *err)
{
    struct event event = correcting->one.event;
    bool is_exact;
    event.known.correction = correcting->correction;
    if (!correcting->correction.has_payload &&
        !one_event_original(correcting->call, correcting->store, &correcting->one, &event.payload, &is_exact,
                            err))
        return false;
    if (correcting->correction.has_payload)
        event.payload = correcting->correction.payload;
    correct_parts(&event, &correcting->after);
    return true;
}

static bool
take_revision(struct correcting_one *correcting, int64_t no, struct err *err)
{
    const struct revision *revision = one_event_revision(&correcting->one, no);
    if (no != 0 && !revision)
        return err_set(err, ERR_NOT_FOUND, "event %" PRId64 " has no revision %" PRId64 "; its newest is %d",
                       correcting->one.event.id, no, (int)correcting->parent);
    correcting->correction = revision ? revision->parts : (struct correction){0};
    correct_parts(&correcting->one.event, &correcting->before);
    return revert_parts(correcting, err);
}

static bool
make_correction(struct correcting_one *correcting, struct err *err)
{
    const struct command_options *options = &correcting->call->options.command;
    if (options->revert.is_given)
        return take_revision(correcting, options->revert.number, err);
    if (!find_bytes(correcting, err))
        return false;
    correct_parts(&correcting->one.event, &correcting->before);
    if (options->file ? !take_file(correcting, options->file, err) : !apply_options(correcting, err))
        return false;
    correct_revision(&correcting->one.event, &correcting->before, &correcting->after, &correcting->one.arena,
                     &correcting->correction);
    return true;
}

// The payload that the new revision sends.
static struct bytes
payload_of(const struct correcting_one *correcting)
{
    return correcting->correction.has_payload ? correcting->correction.payload : correcting->after.payload;
}

static bool
print_saved(struct correcting_one *correcting, int32_t no, struct err *err)
{
    struct call *call = correcting->call;
    int64_t id = correcting->one.event.id;
    if (correcting->is_inexact)
        remark(call,
               "the bytes that were received are unknown; PostgreSQL's text of the payload is corrected%s",
               correcting->was_asked ? "" : " (Kafka was not asked; give -b HOST:PORT)");
    if (!call->options.general.json) {
        if (no)
            remark(call, "event %" PRId64 " has revision %" PRId32, id, no);
        else
            remark(call, "would write revision %" PRId32 " of event %" PRId64, correcting->parent + 1, id);
        return true;
    }
    struct value *object = value_object();
    value_add_int(object, "id", id);
    value_add_int_or_null(object, "revision", no > 0, no);
    value_add_int(object, "bytes", (int64_t)payload_of(correcting).len);
    value_add(object, "changed", changes_json(&correcting->before, &correcting->after));
    return json_print(object, err);
}

// One that cannot answer lets nothing pass, as in a recipe.
static bool
ask_check(struct correcting_one *correcting, struct err *err)
{
    const struct options *options = &correcting->call->options;
    struct correct_limits limits = correcting_limits(correcting->call);
    struct event event = correcting->one.event;
    struct correct_result result;
    limits.is_forced = options->command.force && options->change.reason && options->change.reason[0];
    event.payload = correcting->after.payload;
    if (!correct_ask_check(&limits, &event, &correcting->correction, &correcting->one.arena, &result, err))
        return false;
    if (result.outcome == CORRECT_UNCHANGED)
        return true;
    if (result.outcome == CORRECT_FORCED) {
        remark(correcting->call, "the check refuses it: %s", result.reason);
        return true;
    }
    if (result.outcome == CORRECT_REFUSED)
        return err_set(err, ERR_CONFLICT,
                       "event %" PRId64 " was not corrected: the check refuses it: %s; --force with --reason "
                       "saves it all the same",
                       event.id, result.reason);
    return err_set(err, ERR_CONFLICT, "event %" PRId64 " was not corrected: %s", event.id, result.reason);
}

static bool
correct_one(struct correcting_one *correcting, int64_t id, struct err *err)
{
    struct one_event *one = &correcting->one;
    const struct options *options = &correcting->call->options;
    if (!one_event_read(correcting->store, id, one, err))
        return false;
    if (one->event.known.unreadable)
        return err_set(err, ERR_DATA, "event %" PRId64 " cannot be corrected: %s", id,
                       one->event.known.unreadable);
    correcting->parent = one->revision_count ? one->revisions[0].no : 0;
    if (!make_correction(correcting, err))
        return false;
    if (correction_equals(&correcting->correction, &one->event.known.correction))
        return err_set(err, ERR_NOT_FOUND, "event %" PRId64 " is so already; nothing was changed", id);
    if (!ask_check(correcting, err))
        return false;
    int32_t no = 0;
    if (!options->change.dry_run && !event_correct(correcting->store, id, correcting->parent,
                                                   &correcting->correction, options->change.reason, &no, err))
        return false;
    return print_saved(correcting, no, err);
}

// --- the command ---

static bool
check_usage(const struct call *call, struct err *err)
{
    const struct command_options *options = &call->options.command;
    int ways = (options->file != NULL) + (options->set.count + options->unset.count > 0) +
               options->revert.is_given + (options->recipe != NULL) + options->undo.is_given;
    bool is_of_many = options->recipe != NULL || options->undo.is_given;
    if (ways != 1)
        return err_set(
            err, ERR_USAGE,
            "redrive correct needs one of --file, --set and --unset, --revert, --recipe, or --undo");
    if (options->undo.is_given && (call->arg_count > 0 || options->reprocess))
        return err_set(err, ERR_USAGE,
                       "--undo reverts what an operation corrected; give neither an id nor --reprocess");
    if ((call->arg_count == 1) == is_of_many)
        return err_set(err, ERR_USAGE,
                       options->recipe ? "a recipe is applied to chosen events: give --id %s"
                                       : "redrive correct needs the id of one event; a recipe "
                                         "corrects many%s",
                       options->recipe ? call->args[0] : "");
    bool is_later = call->options.change.at || call->options.change.after;
    if (!is_of_many && is_later && !options->reprocess)
        return err_set(err, ERR_USAGE,
                       "one event is corrected at once: --at and --after are of a recipe, or of --reprocess");
    if (!is_of_many && choosing_is_any(call))
        return err_set(err, ERR_USAGE, "one event is named by its id alone; --recipe corrects chosen events");
    if (call->settings.decision.reason_required && !call->options.change.dry_run &&
        (!call->options.change.reason || !call->options.change.reason[0]))
        return err_set(err, ERR_USAGE, "redrive correct needs --reason TEXT (reason_required is on, %s)",
                       call->settings.origins[SETTING_ID_reason_required].where);
    return true;
}

// As a reprocess of this event alone.
static int
reprocess_one(struct call *call, int64_t id, struct err *err)
{
    call->arg_count = 0;
    call->options.choice.ids = (struct option_ids){.is_given = true};
    call->options.choice.ids.items = alloc_array(1, sizeof(int64_t));
    call->options.choice.ids.items[0] = id;
    call->options.choice.ids.count = 1;
    return command_reprocess(call, err);
}

int
command_correct(struct call *call, struct err *err)
{
    if (!check_usage(call, err))
        return command_status(err);
    if (call->options.command.recipe || call->options.command.undo.is_given)
        return changing_run(call, ACTION_CORRECT, err);
    struct correcting_one correcting = {.call = call};
    int64_t id = 0;
    bool ok = command_event_id(call->args[0], &id, err) &&
              command_store(call, call->options.change.dry_run ? STORE_SCHEMA : STORE_WRITE,
                            &correcting.store, err) &&
              correct_one(&correcting, id, err);
    one_event_release(&correcting.one);
    store_close(correcting.store);
    if (ok && call->options.command.reprocess && !call->options.change.dry_run)
        return reprocess_one(call, id, err);
    return ok ? STATUS_DONE : command_status(err);
}
