#include "editor_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

size_t
dice_roll(struct dice *dice, size_t sides)
{
    dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
    return sides ? (size_t)(dice->state >> 33) % sides : 0;
}

static void
random_space(struct dice *dice, struct strbuf *out)
{
    static const char *const spaces[] = {"", "", "", " ", "\n", "\r\n", "  ", "\t", "\n    "};
    strbuf_add_text(out, spaces[dice_roll(dice, sizeof spaces / sizeof *spaces)]);
}

static void
random_string(struct dice *dice, struct strbuf *out)
{
    static const char *const parts[] = {"a",    "B",   "zz",   "_",       "7", " ",    ".",       "'",
                                        "\\\"", "\\n", "\\\\", "\\u00e9", "é", "日本", "e\u0301", "[{,:}]"};
    strbuf_add_char(out, '"');
    for (size_t i = dice_roll(dice, 5); i > 0; i--)
        strbuf_add_text(out, parts[dice_roll(dice, sizeof parts / sizeof *parts)]);
    strbuf_add_char(out, '"');
}

static void
random_value(struct dice *dice, size_t size, int depth, struct strbuf *out)
{
    static const char *const scalars[] = {"0", "-1", "12.50", "1e9", "-0.0E-7", "true", "false", "null"};
    size_t kind = dice_roll(dice, 10);
    if (size < 8 || depth > 30 || (kind < 2 && depth > 0)) {
        if (kind % 2)
            random_string(dice, out);
        else
            strbuf_add_text(out, scalars[dice_roll(dice, sizeof scalars / sizeof *scalars)]);
        return;
    }
    bool is_object = kind % 2;
    size_t end = out->len + size;
    strbuf_add_char(out, is_object ? '{' : '[');
    random_space(dice, out);
    for (size_t i = 0; out->len < end && dice_roll(dice, 40) > 0; i++) {
        if (i > 0)
            strbuf_add_char(out, ',');
        random_space(dice, out);
        if (is_object) {
            random_string(dice, out);
            random_space(dice, out);
            strbuf_add_char(out, ':');
            random_space(dice, out);
        }
        random_value(dice, dice_roll(dice, size / 2), depth + 1, out);
        random_space(dice, out);
    }
    strbuf_add_char(out, is_object ? '}' : ']');
}

void
random_json(struct dice *dice, size_t size, struct strbuf *out)
{
    random_space(dice, out);
    random_value(dice, size, 0, out);
    random_space(dice, out);
}

void
random_text(struct dice *dice, size_t pieces, struct strbuf *out)
{
    static const struct bytes parts[] = {
        {"a", 1},        {"word", 4},         {" ", 1},          {"\n", 1},         {"\r\n", 2},
        {"\r", 1},       {"\t", 1},           {"\0", 1},         {"\x1b[31m", 5},   {"\u0301", 2},
        {"é", 2},        {"日", 3},           {"😀", 4},          {"\u200b", 3},     {"\x80", 1},
        {"\xe6\x97", 2}, {"\xf0\x9f\x98", 3}, {"{\"a\":", 5},    {"[1,", 3},        {"]", 1},
        {"}", 1},        {"\"", 1},           {"\\", 1},         {",", 1},          {"-1.5e", 5},
        {"\xff", 1},     {"\u0300\u0301", 4}, {"\U000e0001", 4}, {"\U0001f1e6", 4}, {"true", 4}};
    for (; pieces > 0; pieces--)
        strbuf_add(out, parts[dice_roll(dice, sizeof parts / sizeof *parts)]);
}

void
expect_text(struct editor *editor, struct bytes text)
{
    struct bytes is = editor_text(editor);
    assert_int_equal(is.len, text.len);
    assert_memory_equal(is.data, text.data, text.len);
}
