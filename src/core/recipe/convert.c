// The operations that keep a value and change its type: to-number, to-text, to-boolean.
#include <string.h>
#include "core/recipe/private.h"

static size_t
digits(struct bytes text)
{
    size_t count = 0;
    while (count < text.len && text.data[count] >= '0' && text.data[count] <= '9')
        count++;
    return count;
}

// Digits, a comma and digits that can only be a decimal number: "1,234" may be a thousand.
static bool
add_comma_number(struct bytes text, struct strbuf *out)
{
    struct bytes bare = bytes_slice(text, text.len && text.data[0] == '-', SIZE_MAX);
    size_t whole = digits(bare);
    struct bytes fraction = bytes_slice(bare, whole + 1, SIZE_MAX);
    if (whole == 0 || whole == bare.len || bare.data[whole] != ',' || fraction.len == 0 ||
        digits(fraction) != fraction.len)
        return false;
    bool is_zero = bare.data[0] == '0';
    if ((is_zero && whole > 1) || (fraction.len == 3 && !is_zero && whole <= 3))
        return false;
    strbuf_add(out, bytes_slice(text, 0, text.len - fraction.len - 1));
    strbuf_add_char(out, '.');
    strbuf_add(out, fraction);
    return true;
}

bool
number_of_text(struct bytes content, struct strbuf *out)
{
    struct bytes text = bytes_trim(content);
    if (add_comma_number(text, out)) // never a number of JSON, and told with less effort
        return true;
    struct json_scan scan;
    json_begin(&scan, text);
    struct json_token token = json_next(&scan);
    if (token.kind != JSON_NUMBER || token.len != text.len)
        return false;
    strbuf_add(out, text);
    return true;
}

static struct bytes
converted(struct choice *choice)
{
    return strbuf_bytes(&choice->apply->recipe->value);
}

static struct strbuf *
value_buffer(struct choice *choice)
{
    struct strbuf *value = &choice->apply->recipe->value;
    strbuf_reset(value);
    return value;
}

static bool
choose_number(void *context, size_t item, struct bytes *value)
{
    struct choice *choice = context;
    const struct json_match *match = &choice->matches->items[item];
    if (match->is_missing || choice->stopped != RECIPE_CHANGED)
        return false;
    choice->places++;
    if (match->value.kind == JSON_NUMBER)
        return false;
    if (match->value.kind != JSON_STRING ||
        !number_of_text(choice_content(choice, item), value_buffer(choice)))
        return choice_unfit(choice, item, "not a number");
    *value = converted(choice);
    // Fewer digits are always held exactly.
    if (value->len > 15 && json_warnings(*value, NULL, 0))
        choice->apply->note.warnings |= 1u << RECIPE_WARN_NUMBER;
    return true;
}

enum recipe_outcome
recipe_do_to_number(struct apply *apply, const struct operation *operation)
{
    struct choice choice = {.operation = operation, .place = &operation->place};
    return apply_each(apply, &choice, choose_number);
}

static bool
choose_text(void *context, size_t item, struct bytes *value)
{
    struct choice *choice = context;
    const struct json_match *match = &choice->matches->items[item];
    if (match->is_missing || choice->stopped != RECIPE_CHANGED)
        return false;
    choice->places++;
    enum json_kind kind = match->value.kind;
    if (kind == JSON_STRING)
        return false;
    if (kind != JSON_NUMBER && kind != JSON_TRUE && kind != JSON_FALSE)
        return choice_unfit(choice, item, "not a number or a boolean");
    struct strbuf *text = value_buffer(choice);
    strbuf_add_char(text, '"');
    strbuf_add(text, choice_bytes(choice, item));
    strbuf_add_char(text, '"');
    *value = strbuf_bytes(text);
    return true;
}

enum recipe_outcome
recipe_do_to_text(struct apply *apply, const struct operation *operation)
{
    struct choice choice = {.operation = operation, .place = &operation->place};
    return apply_each(apply, &choice, choose_text);
}

static bool
equal_ignoring_case(struct bytes a, const char *word)
{
    if (a.len != strlen(word))
        return false;
    for (size_t i = 0; i < a.len; i++) {
        char c = a.data[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c + 32) : c) != word[i])
            return false;
    }
    return true;
}

// "true", "false", or NULL.
static const char *
boolean_of(const struct choice *choice, size_t item)
{
    static const char *const words[][2] = {{"true", "true"},   {"yes", "true"}, {"1", "true"},
                                           {"false", "false"}, {"no", "false"}, {"0", "false"}};
    enum json_kind kind = choice->matches->items[item].value.kind;
    if (kind == JSON_NUMBER) {
        struct bytes number = choice_bytes(choice, item);
        if (json_number_compare(number, BYTES("1")) == 0)
            return "true";
        return json_number_compare(number, BYTES("0")) == 0 ? "false" : NULL;
    }
    if (kind != JSON_STRING)
        return NULL;
    struct bytes content = bytes_trim(choice_content(choice, item));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (equal_ignoring_case(content, words[i][0]))
            return words[i][1];
    return NULL;
}

static bool
choose_boolean(void *context, size_t item, struct bytes *value)
{
    struct choice *choice = context;
    const struct json_match *match = &choice->matches->items[item];
    if (match->is_missing || choice->stopped != RECIPE_CHANGED)
        return false;
    choice->places++;
    if (match->value.kind == JSON_TRUE || match->value.kind == JSON_FALSE)
        return false;
    const char *boolean = boolean_of(choice, item);
    if (!boolean)
        return choice_unfit(choice, item, "not a boolean");
    *value = bytes_of(boolean);
    return true;
}

enum recipe_outcome
recipe_do_to_boolean(struct apply *apply, const struct operation *operation)
{
    struct choice choice = {.operation = operation, .place = &operation->place};
    return apply_each(apply, &choice, choose_boolean);
}
