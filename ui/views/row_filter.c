#include "ui/views/row_filter.h"

#include <string.h>
#include "core/filter/pattern.h"
#include "ui/app/app.h"

static bool
row_filter_compile(struct pattern **pattern, struct bytes expression, struct err *err)
{
    static const char by_parts[] = "(?m)";
    struct strbuf whole = {0};
    strbuf_add_text(&whole, by_parts);
    strbuf_add(&whole, expression);
    bool ok = pattern_compile(pattern, strbuf_bytes(&whole), err);
    if (!ok && err && err->column >= (int)sizeof by_parts)
        err->column -= (int)sizeof by_parts - 1;
    strbuf_release(&whole);
    return ok;
}

bool
row_filter_set(struct row_filter *filter, struct bytes text, struct err *err)
{
    struct pattern *pattern = NULL;
    text = bytes_trim(text);
    bool is_inverted = bytes_starts(text, "!");
    struct bytes expression = is_inverted ? bytes_slice(text, 1, text.len - 1) : text;
    if (expression.len && !row_filter_compile(&pattern, expression, err)) {
        if (err && err->column && is_inverted)
            err->column++;
        return false;
    }
    struct strbuf copy = {0};
    strbuf_add(&copy, text);
    strbuf_release(&filter->text);
    pattern_destroy(filter->pattern);
    filter->text = copy;
    filter->pattern = pattern;
    filter->is_inverted = is_inverted;
    return true;
}

bool
row_filter_is_on(const struct row_filter *filter)
{
    return filter->pattern != NULL;
}

bool
row_filter_match(const struct row_filter *filter, struct bytes row)
{
    if (!filter->pattern)
        return true;
    switch (pattern_find(filter->pattern, row, 0, NULL, NULL)) {
    case PATTERN_YES:
        return !filter->is_inverted;
    case PATTERN_NO:
        return filter->is_inverted;
    case PATTERN_LIMIT:
        break;
    }
    return true;
}

bool
row_filter_clear(struct row_filter *filter)
{
    return row_filter_is_on(filter) && row_filter_set(filter, BYTES(""), NULL);
}

static bool
filter_accepted(struct app *app, void *state, struct bytes text)
{
    struct row_filter *filter = state;
    struct err err = {0};
    bool ok = row_filter_set(filter, text, &err);
    app_prompt_error(app, ok ? NULL : &err);
    filter->show(filter->view);
    return ok;
}

static void
filter_changed(struct app *app, void *state, struct bytes text)
{
    (void)filter_accepted(app, state, text);
}

static void
filter_cancelled(struct app *app, void *state)
{
    (void)app;
    struct row_filter *filter = state;
    (void)!row_filter_set(filter, strbuf_bytes(&filter->before), NULL);
    filter->show(filter->view);
}

void
row_filter_ask(struct app *app, struct row_filter *filter, const char *label, void (*show)(void *view),
               void *view)
{
    strbuf_reset(&filter->before);
    strbuf_add(&filter->before, strbuf_bytes(&filter->text));
    filter->show = show;
    filter->view = view;
    app_prompt(app, &(struct prompt_request){
                        .label = label,
                        .text = strbuf_text(&filter->text),
                        .history = "rows",
                        .state = filter,
                        .changed = filter_changed,
                        .accepted = filter_accepted,
                        .cancelled = filter_cancelled,
                    });
}

void
row_filter_release(struct row_filter *filter)
{
    strbuf_release(&filter->text);
    strbuf_release(&filter->before);
    pattern_destroy(filter->pattern);
    filter->pattern = NULL;
}

void
row_text_add(struct strbuf *row, const char *part)
{
    if (!part || !*part)
        return;
    if (row->len)
        strbuf_add_char(row, '\n');
    strbuf_add_text(row, part);
}
