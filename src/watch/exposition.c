#include "watch/exposition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/text.h"
#include "base/utf8.h"

enum { MOST_VALUE = 200 }; // bytes of a label's value

static const char *const types[FORM_COUNT] = {
    [FORM_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
    [FORM_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

const char *
exposition_type(enum exposition_form form)
{
    return types[form];
}

// --- Accept (RFC 9110, 12.5.1) ---

static const char *
skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

// The quality among the parameters of one range, which ends at `end`.
static double
quality_of(const char *at, const char *end)
{
    while ((at = memchr(at, ';', (size_t)(end - at)))) {
        at = skip_blanks(at + 1);
        if (strncasecmp(at, "q=", 2) == 0)
            return strtod(at + 2, NULL);
    }
    return 1;
}

static bool
is_range(const char *at, const char *end, const char *type)
{
    size_t len = strlen(type);
    return (size_t)(end - at) >= len && strncasecmp(at, type, len) == 0 && strchr(";, \t", at[len]) != NULL;
}

enum exposition_form
exposition_wanted(const char *accept)
{
    double open = 0;
    double plain = 0;
    for (const char *at = accept ? accept : ""; *at; at += *at == ',') {
        at = skip_blanks(at);
        const char *end = at + strcspn(at, ",");
        double quality = quality_of(at, end);
        if (is_range(at, end, "application/openmetrics-text"))
            open = fmax(open, quality);
        else if (is_range(at, end, "text/plain"))
            plain = fmax(plain, quality);
        at = end;
    }
    return open > 0 && open >= plain ? FORM_OPENMETRICS : FORM_TEXT;
}

// --- families and samples ---

// Of a help text or of a label's value, which has quotes around it.
static void
add_escaped(struct strbuf *out, struct bytes text, bool is_quoted)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\\')
            strbuf_add_text(out, "\\\\");
        else if (text.data[i] == '\n')
            strbuf_add_text(out, "\\n");
        else if (text.data[i] == '"' && is_quoted)
            strbuf_add_text(out, "\\\"");
        else
            strbuf_add_char(out, text.data[i]);
    }
}

static void
add_value(struct strbuf *out, const char *value)
{
    struct strbuf visible = {0};
    struct bytes text = bytes_of(value);
    text.len = utf8_cut(text, text.len < MOST_VALUE ? text.len : MOST_VALUE);
    text_visible(&visible, text, false);
    add_escaped(out, strbuf_bytes(&visible), true);
    strbuf_release(&visible);
}

static const char *
kind_word(enum metric_kind kind, enum exposition_form form)
{
    switch (kind) {
    case METRIC_GAUGE:
        return "gauge";
    case METRIC_COUNTER:
        return "counter";
    case METRIC_HISTOGRAM:
        return "histogram";
    case METRIC_UNKNOWN:
        break;
    }
    return form == FORM_OPENMETRICS ? "unknown" : "untyped";
}

void
exposition_family(struct exposition *exposition, const struct metric *metric)
{
    struct strbuf *out = exposition->out;
    bool is_open = exposition->form == FORM_OPENMETRICS;
    size_t len = strlen(metric->name);
    // OpenMetrics calls the family of NAME_total NAME.
    if (is_open && metric->kind == METRIC_COUNTER)
        len -= strlen("_total");
    exposition->metric = metric;
    strbuf_printf(out, "# HELP %.*s ", (int)len, metric->name);
    add_escaped(out, bytes_of(metric->help), is_open);
    strbuf_printf(out, "\n# TYPE %.*s %s\n", (int)len, metric->name,
                  kind_word(metric->kind, exposition->form));
    if (is_open && metric->unit)
        strbuf_printf(out, "# UNIT %.*s %s\n", (int)len, metric->name, metric->unit);
}

static void
add_number(struct strbuf *out, double value)
{
    if (isinf(value))
        strbuf_add_text(out, value > 0 ? "+Inf" : "-Inf");
    else if (value == rint(value) && fabs(value) < 1e15)
        strbuf_printf(out, "%.0f", value);
    else
        strbuf_printf(out, "%.15g", value);
}

void
exposition_sample(struct exposition *exposition, const char *suffix, const struct metric_label *labels,
                  size_t label_count, double value)
{
    struct strbuf *out = exposition->out;
    const char *between = "{";
    strbuf_printf(out, "%s%s", exposition->metric->name, suffix);
    for (size_t i = 0; i < label_count; i++) {
        if (!labels[i].value || !*labels[i].value)
            continue;
        strbuf_printf(out, "%s%s=\"", between, labels[i].name);
        add_value(out, labels[i].value);
        strbuf_add_char(out, '"');
        between = ",";
    }
    strbuf_add_text(out, *between == ',' ? "} " : " ");
    add_number(out, value);
    strbuf_add_char(out, '\n');
}

void
exposition_end(struct exposition *exposition)
{
    if (exposition->form == FORM_OPENMETRICS)
        strbuf_add_text(exposition->out, "# EOF\n");
}
