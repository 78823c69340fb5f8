#include "ui/views/row_filter.h"

#include <string.h>
#include "core/filter/pattern.h"

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

void
row_filter_remember(struct row_filter *filter)
{
    strbuf_reset(&filter->before);
    strbuf_add(&filter->before, strbuf_bytes(&filter->text));
}

void
row_filter_restore(struct row_filter *filter)
{
    (void)!row_filter_set(filter, strbuf_bytes(&filter->before), NULL);
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
row_filter_exact(struct strbuf *out, const char *part)
{
    strbuf_add_char(out, '^');
    for (; *part; part++) {
        if (strchr("\\^$.[]|()?*+{}#", *part))
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *part);
    }
    strbuf_add_char(out, '$');
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
