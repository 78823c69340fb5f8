#include "ui/keymap/key.h"

#include <string.h>
#include <strings.h>
#include "base/text.h"
#include "base/utf8.h"

static const struct {
    const char *name;
    uint32_t key;
} names[] = {
    // The first name of a key is the one that is printed.
    {"Enter", KEY_CODE_ENTER},
    {"CR", KEY_CODE_ENTER},
    {"Return", KEY_CODE_ENTER},
    {"Tab", KEY_CODE_TAB},
    {"Esc", KEY_CODE_ESC},
    {"BS", KEY_CODE_BACKSPACE},
    {"Up", KEY_CODE_UP},
    {"Down", KEY_CODE_DOWN},
    {"Left", KEY_CODE_LEFT},
    {"Right", KEY_CODE_RIGHT},
    {"Home", KEY_CODE_HOME},
    {"End", KEY_CODE_END},
    {"PgUp", KEY_CODE_PAGE_UP},
    {"PageUp", KEY_CODE_PAGE_UP},
    {"PgDn", KEY_CODE_PAGE_DOWN},
    {"PageDown", KEY_CODE_PAGE_DOWN},
    {"Ins", KEY_CODE_INSERT},
    {"Insert", KEY_CODE_INSERT},
    {"Del", KEY_CODE_DELETE},
    {"Delete", KEY_CODE_DELETE},
    {"Space", ' '},
    {"lt", '<'},
    {"gt", '>'},
    {"Bar", '|'},
    {"Bslash", '\\'},
};
#define NAME_COUNT (sizeof names / sizeof *names)

bool
key_is_text(uint32_t key)
{
    return key < KEY_CODE_FIRST && key >= 0x20 && key != 0x7f;
}

static bool
same_name(struct bytes name, const char *other)
{
    return name.len == strlen(other) && strncasecmp(name.data, other, name.len) == 0;
}

// The part of <…> behind the modifiers.
static bool
parse_base(struct bytes name, uint32_t *key)
{
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (same_name(name, names[i].name)) {
            *key = names[i].key;
            return true;
        }
    }
    int64_t number;
    if (name.len >= 2 && (name.data[0] == 'F' || name.data[0] == 'f') &&
        text_parse_int(bytes_slice(name, 1, SIZE_MAX), &number, NULL) && number >= 1 && number <= 20) {
        *key = KEY_CODE_F1 + (uint32_t)number - 1;
        return true;
    }
    uint32_t point;
    if (name.len == 0 || utf8_decode(name, 0, &point) != name.len || !utf8_printable(point))
        return false;
    *key = point;
    return true;
}

// Refuses keys that a terminal cannot send, with the reason; and gives keys that are the same to it one
// number.
static bool
key_settle(uint32_t *key, struct bytes name, struct err *err)
{
    uint32_t mods = *key & ~KEY_CODE_MASK;
    uint32_t base = *key & KEY_CODE_MASK;
    bool is_character = base < KEY_CODE_FIRST;
    if (is_character && mods & KEY_MOD_SHIFT)
        return err_set(err, ERR_USAGE,
                       "<%.*s> cannot be distinguished from the character itself: write the shifted one",
                       BYTES_ARGS(name));
    if (is_character && mods & KEY_MOD_CTRL) {
        if (base >= 'A' && base <= 'Z')
            base += 'a' - 'A';
        if (base == 'i' || base == 'm' || base == 'j' || base == 'h' || base == '[')
            return err_set(err, ERR_USAGE, "<%.*s> is the same to a terminal as <%s>: write that",
                           BYTES_ARGS(name),
                           base == 'i'   ? "Tab"
                           : base == 'h' ? "BS"
                           : base == '[' ? "Esc"
                                         : "Enter");
        if (base >= 0x80 || (!(base >= 'a' && base <= 'z') && !strchr(" \\]^_", (int)base)))
            return err_set(err, ERR_USAGE, "no terminal sends <%.*s>", BYTES_ARGS(name));
    }
    if (is_character && mods == KEY_MOD_ALT && base < 0x80 && strchr("[O]PX^_", (int)base))
        return err_set(err, ERR_USAGE,
                       "<%.*s> begins a sequence of the terminal and cannot be distinguished from it",
                       BYTES_ARGS(name));
    *key = mods | base;
    return true;
}

static bool
parse_angle(struct bytes name, uint32_t *key, struct err *err)
{
    uint32_t mods = 0;
    struct bytes rest = name;
    while (rest.len > 2 && rest.data[1] == '-') {
        char letter = rest.data[0];
        if (letter == 'C' || letter == 'c')
            mods |= KEY_MOD_CTRL;
        else if (letter == 'A' || letter == 'a' || letter == 'M' || letter == 'm')
            mods |= KEY_MOD_ALT;
        else if (letter == 'S' || letter == 's')
            mods |= KEY_MOD_SHIFT;
        else
            break;
        rest = bytes_slice(rest, 2, SIZE_MAX);
    }
    if (!parse_base(rest, key))
        return err_set(err, ERR_USAGE,
                       "<%.*s> names no key; names are like <C-d> <A-m> <F5> <S-Up> <Space> <lt>",
                       BYTES_ARGS(name));
    *key |= mods;
    return key_settle(key, name, err);
}

bool
key_parse_next(struct bytes text, size_t *at, uint32_t *key, struct err *err)
{
    if (*at >= text.len)
        return false;
    if (text.data[*at] == '<' && *at + 1 < text.len) {
        size_t end = bytes_find(text, BYTES(">"), *at);
        if (end == SIZE_MAX)
            return err_set(err, ERR_USAGE, "\"%.*s\" has a < without its >; the key itself is <lt>",
                           BYTES_ARGS(text));
        struct bytes name = bytes_slice(text, *at + 1, end - *at - 1);
        *at = end + 1;
        return parse_angle(name, key, err);
    }
    size_t len = utf8_decode(text, *at, key);
    if (*key == UTF8_INVALID || !utf8_printable(*key))
        return err_set(err, ERR_USAGE, "a key is a printable character or a name in <>");
    *at += len;
    return true;
}

bool
key_parse_sequence(struct bytes text, struct key_sequence *sequence, struct err *err)
{
    *sequence = (struct key_sequence){0};
    size_t at = 0;
    while (at < text.len) {
        uint32_t key = 0;
        if (!key_parse_next(text, &at, &key, err))
            return false;
        if (sequence->count == KEY_SEQUENCE)
            return err_set(err, ERR_USAGE, "\"%.*s\" is longer than %d keys", BYTES_ARGS(text), KEY_SEQUENCE);
        sequence->keys[sequence->count++] = key;
    }
    if (sequence->count == 0)
        return err_set(err, ERR_USAGE, "an empty text names no key");
    return true;
}

static const char *
base_name(uint32_t base)
{
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (names[i].key == base && base != '|' && base != '\\')
            return names[i].name;
    return NULL;
}

void
key_print(uint32_t key, struct strbuf *out)
{
    uint32_t mods = key & ~KEY_CODE_MASK;
    uint32_t base = key & KEY_CODE_MASK;
    const char *name = base_name(base);
    bool is_function = base >= KEY_CODE_F1 && base <= KEY_CODE_F20;
    bool is_angle = mods || name || is_function;
    if (is_angle)
        strbuf_add_char(out, '<');
    strbuf_add_text(out, mods & KEY_MOD_CTRL ? "C-" : "");
    strbuf_add_text(out, mods & KEY_MOD_ALT ? "A-" : "");
    strbuf_add_text(out, mods & KEY_MOD_SHIFT ? "S-" : "");
    if (name) {
        strbuf_add_text(out, name);
    } else if (is_function) {
        strbuf_printf(out, "F%u", base - KEY_CODE_F1 + 1);
    } else {
        char encoded[4];
        strbuf_add(out, (struct bytes){encoded, utf8_encode(base, encoded)});
    }
    if (is_angle)
        strbuf_add_char(out, '>');
}

void
key_print_sequence(const struct key_sequence *sequence, struct strbuf *out)
{
    for (int i = 0; i < sequence->count; i++)
        key_print(sequence->keys[i], out);
}

void
key_print_label(const struct key_sequence *sequence, struct strbuf *out)
{
    for (int i = 0; i < sequence->count; i++) {
        struct strbuf name = {0};
        key_print(sequence->keys[i], &name);
        struct bytes label = strbuf_bytes(&name);
        bool is_named = label.len > 2 && label.data[0] == '<';
        if (is_named)
            label = bytes_slice(label, 1, label.len - 2);
        if (bytes_equal_text(label, "lt") || bytes_equal_text(label, "gt"))
            label = label.data[0] == 'l' ? BYTES("<") : BYTES(">");
        if (i > 0 && is_named)
            strbuf_add_char(out, ' ');
        strbuf_add(out, label);
        strbuf_release(&name);
    }
}
