// Questions as people and the filter write them.
#include "core/apart/apart.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/text.h"
#include "core/json/json.h"

// --- for people ---

void
apart_subject(const struct apart_question *question, struct strbuf *out)
{
    static const char *const words[APART_WHATS] = {
        [APART_KEY] = "key",         [APART_TYPE] = "event type",     [APART_SOURCE] = "source",
        [APART_TOPIC] = "topic",     [APART_PARTITION] = "partition", [APART_RETRIES] = "retries",
        [APART_CREATED] = "created", [APART_FRAME] = "own frame",     [APART_WORD] = "error message"};
    if (question->what == APART_HEADER)
        strbuf_add_text(out, "header ");
    if (question->what == APART_PATH || question->what == APART_HEADER)
        strbuf_add(out, question->name);
    else
        strbuf_add_text(out, words[question->what]);
}

const char *
apart_share(int64_t count, int64_t of, char out[APART_SHARE])
{
    int percent = of > 0 ? (int)((double)count * 100 / (double)of + 0.5) : 0;
    if (of <= 0)
        snprintf(out, APART_SHARE, "-");
    else if (count == of || count == 0)
        snprintf(out, APART_SHARE, count ? "all" : "none");
    else if (percent < 1 || percent > 99)
        snprintf(out, APART_SHARE, percent < 1 ? "<1%%" : ">99%%");
    else
        snprintf(out, APART_SHARE, "%d%%", percent);
    return out;
}

void
apart_value_text(const struct apart_value *value, struct strbuf *out)
{
    if (!bytes_present(value->text))
        strbuf_add_text(out, "others");
    else if (value->kind == APART_TEXT)
        json_quote(value->text, out);
    else
        strbuf_add(out, value->text);
}

// Values of columns and headers are always text: they need no quotes.
static void
question_value(const struct apart_question *question, size_t i, struct strbuf *out)
{
    const struct apart_value *value = &question->values[i];
    bool is_bare = question->what != APART_PATH && value->text.len > 0;
    if (is_bare)
        strbuf_add(out, value->text);
    else
        apart_value_text(value, out);
}

static void
add_values(const struct apart_question *question, struct strbuf *out)
{
    for (size_t i = 0; i < question->value_count; i++) {
        strbuf_add_text(out, i == 0 ? "" : i + 1 < question->value_count ? ", " : " or ");
        question_value(question, i, out);
    }
}

static void
add_times(const struct apart_question *question, int64_t now, struct strbuf *out)
{
    char low[TIME_TEXT], high[TIME_TEXT];
    (void)time_brief(question->low_time, now, low);
    (void)time_brief(question->high_time, now, high);
    if (question->test == APART_FROM)
        strbuf_printf(out, " from %s on", low);
    else if (question->test == APART_UPTO)
        strbuf_printf(out, " up to %s", high);
    else
        strbuf_printf(out, " %s to %s", low, high);
}

void
apart_sentence(const struct apart_question *question, int64_t now, struct strbuf *out)
{
    apart_subject(question, out);
    if (question->what == APART_CREATED) {
        add_times(question, now, out);
        return;
    }
    switch (question->test) {
    case APART_IS:
        strbuf_add_text(out, question->what == APART_WORD ? " has " : " = ");
        add_values(question, out);
        break;
    case APART_IS_KIND:
        strbuf_printf(out, " is %s", apart_kind_name(question->kind));
        break;
    case APART_MISSING:
        strbuf_add_text(out, " is missing");
        break;
    case APART_THERE:
        strbuf_add_text(out, " exists");
        break;
    case APART_FROM:
        strbuf_printf(out, " >= %.*s", BYTES_ARGS(question->low));
        break;
    case APART_UPTO:
        strbuf_printf(out, " <= %.*s", BYTES_ARGS(question->high));
        break;
    case APART_BETWEEN:
        strbuf_printf(out, " %.*s to %.*s", BYTES_ARGS(question->low), BYTES_ARGS(question->high));
        break;
    case APART_LONG:
        strbuf_printf(out, " has %" PRIu32 " characters or more", question->length);
        break;
    case APART_BEGINS:
        strbuf_add_text(out, " begins with ");
        add_values(question, out);
        break;
    }
}

// --- for the filter ---

// In quotes, as exact text is read.
static void
add_exact(struct bytes text, struct strbuf *out)
{
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, text.data[i]);
    }
    strbuf_add_char(out, '"');
}

// As a literal of a regular expression in quotes, where a backslash stays except before a quote.
static void
add_literal(struct bytes text, struct strbuf *out)
{
    static const char special[] = "\\^$.[]|()?*+{}";
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"' || memchr(special, text.data[i], sizeof special - 1))
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, text.data[i]);
    }
}

// "field:" of a column, or "$.path".
static void
add_field(const struct apart_question *question, struct strbuf *out)
{
    static const char *const fields[APART_WHATS] = {
        [APART_KEY] = "key:",         [APART_TYPE] = "type:",           [APART_SOURCE] = "source:",
        [APART_TOPIC] = "topic:",     [APART_PARTITION] = "partition:", [APART_RETRIES] = "retries:",
        [APART_CREATED] = "created:", [APART_FRAME] = "stack:",         [APART_WORD] = "error:"};
    if (question->what == APART_PATH)
        strbuf_add(out, question->name);
    else if (question->what == APART_HEADER)
        strbuf_printf(out, "header:%.*s=", BYTES_ARGS(question->name));
    else
        strbuf_add_text(out, fields[question->what]);
}

static void
add_test_of_value(const struct apart_question *question, const struct apart_value *value, struct strbuf *out)
{
    add_field(question, out);
    if (question->what == APART_WORD || question->what == APART_FRAME) {
        strbuf_add_char(out, '"');
        add_literal(value->text, out);
        strbuf_add_char(out, '"');
    } else if (value->kind == APART_TEXT) {
        strbuf_add_char(out, '=');
        add_exact(value->text, out);
    } else {
        strbuf_printf(out, "%s%.*s", question->what == APART_PATH ? "=" : "", BYTES_ARGS(value->text));
    }
}

static void
add_one_of(const struct apart_question *question, struct strbuf *out)
{
    bool is_choice = question->value_count > 1;
    strbuf_add_text(out, is_choice ? "(" : "");
    for (size_t i = 0; i < question->value_count; i++) {
        strbuf_add_text(out, i ? " or " : "");
        add_test_of_value(question, &question->values[i], out);
    }
    strbuf_add_text(out, is_choice ? ")" : "");
}

// Wall time as created: reads it.
static void
add_wall(int64_t instant, int64_t zone_us, struct strbuf *out)
{
    char text[TIME_TEXT];
    (void)time_rfc3339(instant + zone_us, 0, text);
    strbuf_printf(out, "%.19s", text);
}

static void
add_stretch(const struct apart_question *question, int64_t zone_us, struct strbuf *out)
{
    strbuf_add_text(out, "created:");
    if (question->test != APART_UPTO)
        add_wall(question->low_time, zone_us, out);
    strbuf_add_text(out, "..");
    if (question->test != APART_FROM)
        add_wall(question->high_time, zone_us, out);
}

static void
add_limits(const struct apart_question *question, struct strbuf *out)
{
    if (question->test != APART_UPTO) {
        add_field(question, out);
        strbuf_printf(out, ">=%.*s", BYTES_ARGS(question->low));
    }
    if (question->test == APART_BETWEEN)
        strbuf_add_char(out, ' ');
    if (question->test != APART_FROM) {
        add_field(question, out);
        strbuf_printf(out, "<=%.*s", BYTES_ARGS(question->high));
    }
}

static bool
add_presence(const struct apart_question *question, struct strbuf *out)
{
    bool is_missing = question->test == APART_MISSING;
    if (question->what == APART_PATH) {
        strbuf_printf(out, "%s%.*s?", is_missing ? "!" : "", BYTES_ARGS(question->name));
        return true;
    }
    if (question->what == APART_PARTITION || question->what == APART_RETRIES)
        return false;
    strbuf_add_text(out, is_missing ? "!" : "");
    add_field(question, out);
    strbuf_add_text(out, "/^/");
    return true;
}

// The language reads the name of a header up to a blank or a =.
static bool
is_nameable(const struct apart_question *question)
{
    if (question->what == APART_PATH)
        return bytes_find(question->name, BYTES("[*]"), 0) == SIZE_MAX;
    for (size_t i = 0; i < question->name.len; i++)
        if ((unsigned char)question->name.data[i] <= ' ' || strchr("=()\"", question->name.data[i]))
            return false;
    return question->what != APART_HEADER || question->name.len > 0;
}

bool
apart_filter(const struct apart_question *question, int64_t zone_us, struct strbuf *out)
{
    if (!is_nameable(question))
        return false;
    switch (question->test) {
    case APART_IS:
        add_one_of(question, out);
        return true;
    case APART_IS_KIND:
        strbuf_printf(out, "%.*s?%s", BYTES_ARGS(question->name), apart_kind_name(question->kind));
        return question->kind != APART_NOT_JSON;
    case APART_MISSING:
    case APART_THERE:
        return add_presence(question, out);
    case APART_FROM:
    case APART_UPTO:
    case APART_BETWEEN:
        if (question->what == APART_CREATED)
            add_stretch(question, zone_us, out);
        else
            add_limits(question, out);
        return true;
    case APART_LONG:
        strbuf_printf(out, "%.*s~\"(?s)^.{%" PRIu32 "}\"", BYTES_ARGS(question->name), question->length);
        return true;
    case APART_BEGINS:
        add_field(question, out);
        strbuf_printf(out, "%s\"^", question->what == APART_PATH ? "~" : "");
        add_literal(question->values[0].text, out);
        strbuf_add_char(out, '"');
        return true;
    }
    return false;
}
