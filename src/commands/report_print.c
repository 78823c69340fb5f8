#include "commands/report_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "commands/cli/json.h"
#include "commands/cli/output.h"

// --- cells ---

// As people read it; "-" where it is unknown.
static void
add_cell(const struct report_cell *cell, enum report_kind kind, struct strbuf *out)
{
    char text[TIME_TEXT];
    if (!cell->is_known) {
        strbuf_add_char(out, '-');
        return;
    }
    switch (kind) {
    case REPORT_TEXT:
        text_visible(out, bytes_of(cell->text), false);
        break;
    case REPORT_NUMBER:
        strbuf_printf(out, "%" PRId64, cell->number);
        break;
    case REPORT_COUNT:
        strbuf_add_text(out, text_count(cell->number, text));
        break;
    case REPORT_PERCENT:
        strbuf_printf(out, cell->real > 0 && cell->real < 10 ? "%.1f%%" : "%.0f%%", cell->real);
        break;
    case REPORT_TIME:
        strbuf_add_text(out, time_local(cell->number, text));
        break;
    }
}

static bool
is_of_numbers(enum report_kind kind)
{
    return kind == REPORT_NUMBER || kind == REPORT_COUNT || kind == REPORT_PERCENT;
}

// Backslashes before what has a meaning in Markdown. The colon of :// and the @ would make links.
static void
add_markdown(struct bytes text, struct strbuf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool is_link = c == '@' || (c == ':' && i + 1 < text.len && text.data[i + 1] == '/') ||
                       (c == '.' && i >= 3 && memcmp(text.data + i - 3, "www", 3) == 0);
        if (is_link || strchr("\\`*_{}[]<>()#|~&!$", c))
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, c);
    }
}

static void
add_html(struct bytes text, struct strbuf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        static const char marks[] = "&<>\"'";
        static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
        const char *mark = strchr(marks, text.data[i]);
        if (mark)
            strbuf_add_text(out, names[mark - marks]);
        else
            strbuf_add_char(out, text.data[i]);
    }
}

typedef void add_escaped(struct bytes text, struct strbuf *out);

static void
add_escaped_cell(const struct report_table *table, size_t row, size_t column, add_escaped *escape,
                 struct strbuf *out)
{
    struct strbuf plain = {0};
    add_cell(report_cell(table, row, column), table->part->columns[column].kind, &plain);
    escape(strbuf_bytes(&plain), out);
    strbuf_release(&plain);
}

static const char *
zone_now(char zone[TIME_TEXT])
{
    return time_zone(clock_now(), zone);
}

// --- text ---

static bool
print_facts(const struct report_table *table, struct err *err)
{
    struct strbuf out = {0};
    const struct report_part *part = table->part;
    for (size_t i = 0; table->rows && i < part->column_count; i++) {
        if (!report_cell(table, 0, i)->is_known)
            continue;
        strbuf_printf(&out, "%-18s", part->columns[i].title);
        add_cell(report_cell(table, 0, i), part->columns[i].kind, &out);
        strbuf_add_char(&out, '\n');
    }
    bool ok = output_bytes(strbuf_bytes(&out), err);
    strbuf_release(&out);
    return ok;
}

static struct output_column
column_of(const struct report_column *column, bool is_last)
{
    bool is_number = is_of_numbers(column->kind);
    return (struct output_column){.title = column->title,
                                  .align = is_number ? ALIGN_RIGHT
                                           : is_last ? ALIGN_LAST
                                                     : ALIGN_LEFT,
                                  .least = (int)strlen(column->title),
                                  .most = is_last ? 0 : 60};
}

// Whole, with its header also into a pipe: a report is mailed.
static bool
print_rows(const struct call *call, const struct report_table *table, struct err *err)
{
    const struct report_part *part = table->part;
    struct output_column columns[REPORT_COLUMNS];
    struct output_table out;
    for (size_t i = 0; i < part->column_count; i++)
        columns[i] = column_of(&part->columns[i], i + 1 == part->column_count);
    table_begin(&out, call, columns, part->column_count);
    out.has_header = true;
    out.width = 0;
    for (size_t row = 0; row < table->rows; row++)
        for (size_t i = 0; i < part->column_count; i++) {
            struct strbuf cell = {0};
            add_cell(report_cell(table, row, i), part->columns[i].kind, &cell);
            table_add(&out, strbuf_bytes(&cell));
            strbuf_release(&cell);
        }
    return table_end(&out, err);
}

static bool
print_text(const struct call *call, const struct report *report, struct err *err)
{
    char zone[TIME_TEXT];
    struct strbuf line = {0};
    strbuf_printf(&line, "%s, times in %s\n", report->title, zone_now(zone));
    bool ok = output_bytes(strbuf_bytes(&line), err);
    for (size_t i = 0; ok && i < report->count; i++) {
        const struct report_table *table = &report->tables[i];
        strbuf_reset(&line);
        strbuf_printf(&line, "\n%s\n", table->part->title);
        if (!table->rows)
            strbuf_printf(&line, "%s\n", table->part->none);
        ok = output_bytes(strbuf_bytes(&line), err) &&
             (table->part->shape == REPORT_FACTS ? print_facts(table, err)
              : table->rows                      ? print_rows(call, table, err)
                                                 : true);
    }
    strbuf_release(&line);
    return ok;
}

// --- Markdown ---

static void
markdown_rows(const struct report_table *table, struct strbuf *out)
{
    const struct report_part *part = table->part;
    for (size_t i = 0; i < part->column_count; i++)
        strbuf_printf(out, "| %s ", part->columns[i].title);
    strbuf_add_text(out, "|\n");
    for (size_t i = 0; i < part->column_count; i++)
        strbuf_add_text(out, is_of_numbers(part->columns[i].kind) ? "| ---: " : "| --- ");
    strbuf_add_text(out, "|\n");
    for (size_t row = 0; row < table->rows; row++) {
        for (size_t i = 0; i < part->column_count; i++) {
            strbuf_add_text(out, "| ");
            add_escaped_cell(table, row, i, add_markdown, out);
            strbuf_add_char(out, ' ');
        }
        strbuf_add_text(out, "|\n");
    }
}

static void
markdown_facts(const struct report_table *table, struct strbuf *out)
{
    for (size_t i = 0; table->rows && i < table->part->column_count; i++) {
        if (!report_cell(table, 0, i)->is_known)
            continue;
        strbuf_printf(out, "- %s: ", table->part->columns[i].title);
        add_escaped_cell(table, 0, i, add_markdown, out);
        strbuf_add_char(out, '\n');
    }
}

static void
make_markdown(const struct report *report, struct strbuf *out)
{
    char zone[TIME_TEXT];
    strbuf_printf(out, "# %s\n\nTimes in %s.\n", report->title, zone_now(zone));
    for (size_t i = 0; i < report->count; i++) {
        const struct report_table *table = &report->tables[i];
        strbuf_printf(out, "\n## %s\n\n", table->part->title);
        if (table->part->shape == REPORT_FACTS)
            markdown_facts(table, out);
        else if (table->rows)
            markdown_rows(table, out);
        else
            strbuf_printf(out, "%s\n", table->part->none);
    }
}

// --- HTML ---

static void
html_rows(const struct report_table *table, struct strbuf *out)
{
    const struct report_part *part = table->part;
    strbuf_add_text(out, "<table>\n<tr>");
    for (size_t i = 0; i < part->column_count; i++)
        strbuf_printf(out, "<th>%s</th>", part->columns[i].title);
    strbuf_add_text(out, "</tr>\n");
    for (size_t row = 0; row < table->rows; row++) {
        strbuf_add_text(out, "<tr>");
        for (size_t i = 0; i < part->column_count; i++) {
            strbuf_add_text(out, is_of_numbers(part->columns[i].kind) ? "<td class=\"n\">" : "<td>");
            add_escaped_cell(table, row, i, add_html, out);
            strbuf_add_text(out, "</td>");
        }
        strbuf_add_text(out, "</tr>\n");
    }
    strbuf_add_text(out, "</table>\n");
}

static void
html_facts(const struct report_table *table, struct strbuf *out)
{
    strbuf_add_text(out, "<table>\n");
    for (size_t i = 0; table->rows && i < table->part->column_count; i++) {
        if (!report_cell(table, 0, i)->is_known)
            continue;
        strbuf_printf(out, "<tr><th>%s</th><td>", table->part->columns[i].title);
        add_escaped_cell(table, 0, i, add_html, out);
        strbuf_add_text(out, "</td></tr>\n");
    }
    strbuf_add_text(out, "</table>\n");
}

static void
make_html(const struct report *report, struct strbuf *out)
{
    char zone[TIME_TEXT];
    strbuf_printf(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n"
        "<style>\nbody { font-family: sans-serif; margin: 2em; }\ntable { border-collapse: collapse; }\n"
        "th, td { border: 1px solid #bbb; padding: 0.2em 0.5em; text-align: left; vertical-align: top; }\n"
        "td.n { text-align: right; }\n</style>\n</head>\n<body>\n<h1>%s</h1>\n<p>Times in %s.</p>\n",
        report->title, report->title, zone_now(zone));
    for (size_t i = 0; i < report->count; i++) {
        const struct report_table *table = &report->tables[i];
        strbuf_printf(out, "<h2>%s</h2>\n", table->part->title);
        if (table->part->shape == REPORT_FACTS)
            html_facts(table, out);
        else if (table->rows)
            html_rows(table, out);
        else
            strbuf_printf(out, "<p>%s</p>\n", table->part->none);
    }
    strbuf_add_text(out, "</body>\n</html>\n");
}

// --- JSON ---

static void
cell_json(const struct report_cell *cell, const struct report_column *column, int64_t zone_us,
          struct value *object)
{
    if (!cell->is_known)
        value_add_null(object, column->name);
    else if (column->kind == REPORT_TEXT)
        value_add_text(object, column->name, cell->text);
    else if (column->kind == REPORT_TIME)
        value_add_time(object, column->name, cell->number, zone_us);
    else if (column->kind == REPORT_PERCENT)
        value_add_real(object, column->name, cell->real);
    else
        value_add_int(object, column->name, cell->number);
}

static void
row_json(const struct report_table *table, size_t row, int64_t zone_us, struct value *object)
{
    for (size_t i = 0; i < table->part->column_count; i++)
        cell_json(report_cell(table, row, i), &table->part->columns[i], zone_us, object);
}

static void
table_json(const struct report_table *table, int64_t zone_us, struct value *whole)
{
    const struct report_part *part = table->part;
    if (part->shape == REPORT_FACTS && table->rows && !part->name) {
        row_json(table, 0, zone_us, whole);
        return;
    }
    struct value *made = part->shape == REPORT_ROWS ? value_array() : value_object();
    for (size_t row = 0; row < table->rows; row++) {
        struct value *object = part->shape == REPORT_ROWS ? value_object() : made;
        if (part->shape == REPORT_COUNTS)
            value_add_int(made, report_cell(table, row, 0)->text, report_cell(table, row, 1)->number);
        else
            row_json(table, row, zone_us, object);
        if (part->shape == REPORT_ROWS)
            value_add(made, NULL, object);
    }
    value_add(whole, part->name, made);
}

static bool
print_json(const struct report *report, int64_t zone_us, struct err *err)
{
    struct value *whole = value_object();
    for (size_t i = 0; i < report->count; i++)
        table_json(&report->tables[i], zone_us, whole);
    return json_print(whole, err);
}

bool
report_print(struct call *call, const struct report *report, enum report_form form, int64_t zone_us,
             struct err *err)
{
    if (form == REPORT_AS_JSON)
        return print_json(report, zone_us, err);
    if (form == REPORT_AS_TEXT)
        return print_text(call, report, err);
    struct strbuf out = {0};
    if (form == REPORT_AS_MARKDOWN)
        make_markdown(report, &out);
    else
        make_html(report, &out);
    bool ok = output_bytes(strbuf_bytes(&out), err);
    strbuf_release(&out);
    return ok;
}
