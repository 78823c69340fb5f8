#include "ui/views/filter_line.h"

#include <string.h>
#include "core/filter/saved.h"
#include "ui/app/app.h"

// The beginning is what a narrow screen shows.
#define HINT                                                                                                 \
    "field:value  age:<2h  $.path>10  !not  or ( )  @saved  Tab completes  ? fields  "                       \
    "↑ history  topic: type: category: retries:>2"

struct filter_context
filter_line_context(const struct app *app)
{
    return (struct filter_context){.now = app_now(app), .new_after = TIME_ABSENT};
}

bool
filter_line_read(const struct app *app, struct bytes text, struct strbuf *out, struct err *err)
{
    const struct filter_context context = filter_line_context(app);
    struct notes saved = {0};
    struct filter *parsed = NULL;
    bool ok = notes_load(&saved, app_config(app)->state_home, FILTER_SAVED_FILE, err) &&
              filter_expand(bytes_trim(text), &saved, out, err) &&
              filter_parse(&parsed, strbuf_bytes(out), &context, err);
    notes_release(&saved);
    filter_destroy(parsed);
    return ok;
}

static const char *
held(const char *text, struct arena *arena)
{
    const struct filter_context context = {0};
    struct filter *parsed = NULL;
    bool is_choice = filter_parse(&parsed, bytes_of(text), &context, NULL) && filter_is_choice(parsed);
    filter_destroy(parsed);
    return is_choice ? arena_printf(arena, "(%s)", text) : text;
}

const char *
filter_line_both(const char *one, const char *other, struct arena *arena)
{
    if (!one || !*one)
        return other;
    if (!other || !*other)
        return one;
    return arena_printf(arena, "%s %s", held(one, arena), held(other, arena));
}

// --- completion ---

static bool
explain_row(size_t i, const char **name, const char **sentence)
{
    size_t joins = 0;
    while (filter_join_help(joins, name, sentence))
        joins++;
    return i < joins ? filter_join_help(i, name, sentence) : filter_field_help(i - joins, name, sentence);
}

void
filter_line_begin(struct app *app, struct filter_values *values, struct prompt_request *request)
{
    request->history = "filter";
    request->hint = HINT;
    request->has_terms = true;
    request->explain = explain_row;
    values->number = app_send(app, request_create(REQUEST_VALUES));
}

bool
filter_values_receive(struct filter_values *values, struct reply *reply)
{
    if (!values->number || reply->number != values->number)
        return false;
    values->number = 0;
    if (reply->kind != REPLY_FACETS) // Tab then completes fields only
        return true;
    arena_release(&values->arena);
    arena_adopt(&values->arena, &reply->arena);
    values->list = reply->facets.list;
    values->count = reply->facets.count;
    return true;
}

void
filter_values_release(struct filter_values *values)
{
    arena_release(&values->arena);
    *values = (struct filter_values){0};
}

static bool
is_plain_value(const char *value)
{
    return *value && !strpbrk(value, " \t\"\\()");
}

static const char *
value_candidate(struct arena *arena, const struct facet *facet, struct bytes word)
{
    bool is_path = strcmp(facet->field, "$") == 0;
    const char *value = facet->value;
    if (is_path)
        return bytes_starts(bytes_of(value), arena_text(arena, word)) && strlen(value) > word.len ? value
                                                                                                  : NULL;
    bool is_synonym = strcmp(facet->field, "queue") == 0 && bytes_starts(word, "dlq-topic:");
    const char *begins = is_synonym ? "dlq-topic:" : arena_printf(arena, "%s:", facet->field);
    if (!bytes_starts(word, begins))
        return NULL;
    struct bytes typed = bytes_slice(word, strlen(begins), SIZE_MAX);
    if (typed.len && strchr("=\"", typed.data[0]))
        typed = bytes_slice(typed, bytes_starts(typed, "=\"") ? 2 : 1, SIZE_MAX);
    if (!bytes_starts(bytes_of(value), arena_text(arena, typed)))
        return NULL;
    return is_plain_value(value) ? arena_printf(arena, "%s=%s", begins, value) : NULL;
}

static const char *
saved_candidate(const struct app *app, struct arena *arena, struct bytes word, size_t i)
{
    struct notes saved = {0};
    const char *found = NULL;
    bool ok =
        bytes_starts(word, "@") && notes_load(&saved, app_config(app)->state_home, FILTER_SAVED_FILE, NULL);
    const char *typed = arena_text(arena, bytes_slice(word, 1, SIZE_MAX));
    for (size_t n = 0; ok && !found && n < saved.count; n++)
        if (bytes_starts(bytes_of(saved.notes[n].name), typed) && i-- == 0)
            found = arena_printf(arena, "@%s", saved.notes[n].name);
    notes_release(&saved);
    return found;
}

static const char *
word_candidate(const struct app *app, const struct filter_values *values, struct bytes word, size_t i)
{
    struct arena *arena = app_frame(app);
    const char *candidate;
    size_t fixed = 0;
    for (; (candidate = filter_complete(word, fixed)); fixed++)
        if (fixed == i)
            return candidate;
    i -= fixed;
    for (size_t n = 0; word.len && n < values->count; n++)
        if ((candidate = value_candidate(arena, &values->list[n], word)) && i-- == 0)
            return candidate;
    return saved_candidate(app, arena, word, i);
}

const char *
filter_line_candidate(struct app *app, const struct filter_values *values, struct bytes text, size_t i)
{
    size_t blank = bytes_find_last(text, BYTES(" "));
    struct bytes word = bytes_slice(text, blank == SIZE_MAX ? 0 : blank + 1, SIZE_MAX);
    size_t before = 0;
    while (before < word.len && (word.data[before] == '(' || word.data[before] == '!'))
        before++;
    const char *candidate = word_candidate(app, values, bytes_slice(word, before, SIZE_MAX), i);
    return candidate && before ? arena_printf(app_frame(app), "%.*s%s", (int)before, word.data, candidate)
                               : candidate;
}
