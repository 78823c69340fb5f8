#include "ui/views/filter_line.h"

#include "core/filter/saved.h"
#include "ui/app/app.h"

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
