#include "ui/term/input.h"

#include <stdlib.h>
#include "base/text.h"
#include "base/utf8.h"

#define ESC 0x1b
#define ESC_DELAY 50000
#define SEQUENCE_DELAY 1000000 // the rest of a sequence may be late on a bad link
#define PASTE_LIMIT (1u << 20)
#define PASTE_START "\033[200~"
#define PASTE_END "\033[201~"

// The kind of sequence at the front of the waiting bytes.
enum step {
    STEP_EVENT,   // an event, `used` bytes long
    STEP_DROP,    // nothing anybody wants, `used` bytes long
    STEP_PARTIAL, // the rest has not come
};

void
input_set_delay(struct input *input, int64_t esc_delay)
{
    const char *set = getenv("ESCDELAY");
    int64_t ms;
    input->esc_delay = esc_delay;
    if (!esc_delay && set && text_parse_int(bytes_of(set), &ms, NULL) && ms > 0 && ms <= 5000)
        input->esc_delay = ms * 1000;
}

void
input_feed(struct input *input, struct bytes bytes)
{
    strbuf_add(&input->waiting, bytes);
}

void
input_reset(struct input *input)
{
    strbuf_reset(&input->waiting);
    input->taken = 0;
    input->is_in_paste = false;
}

void
input_release(struct input *input)
{
    strbuf_release(&input->waiting);
    strbuf_release(&input->paste);
}

static uint32_t
control_key(unsigned char byte)
{
    switch (byte) {
    case 0:
        return KEY_MOD_CTRL | ' ';
    case '\t':
        return KEY_CODE_TAB;
    case '\r':
    case '\n':
        return KEY_CODE_ENTER;
    case ESC:
        return KEY_CODE_ESC;
    case '\b':
    case 0x7f:
        return KEY_CODE_BACKSPACE;
    default:
        return KEY_MOD_CTRL | (uint32_t)(byte < 0x1b ? byte + 'a' - 1 : byte + '@');
    }
}

// One key that is not a sequence: a control byte or a character.
static enum step
plain_key(struct bytes bytes, bool is_late, size_t *used, uint32_t *key)
{
    unsigned char first = (unsigned char)bytes.data[0];
    *used = 1;
    if (first < 0x20 || first == 0x7f) {
        *key = control_key(first);
        return STEP_EVENT;
    }
    if (first < 0x80) {
        *key = first;
        return STEP_EVENT;
    }

    uint32_t point;
    size_t len = utf8_decode(bytes, 0, &point);
    size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (point == UTF8_INVALID && first >= 0xc2 && bytes.len < wanted && !is_late)
        return STEP_PARTIAL;
    *used = len;
    *key = point;
    return point != UTF8_INVALID && utf8_printable(point) ? STEP_EVENT : STEP_DROP;
}

static uint32_t
letter_key(char final)
{
    switch (final) {
    case 'A':
        return KEY_CODE_UP;
    case 'B':
        return KEY_CODE_DOWN;
    case 'C':
        return KEY_CODE_RIGHT;
    case 'D':
        return KEY_CODE_LEFT;
    case 'F':
        return KEY_CODE_END;
    case 'H':
        return KEY_CODE_HOME;
    case 'M':
        return KEY_CODE_ENTER; // of the keypad
    case 'P':
        return KEY_CODE_F1;
    case 'Q':
        return KEY_CODE_F1 + 1;
    case 'R':
        return KEY_CODE_F1 + 2;
    case 'S':
        return KEY_CODE_F1 + 3;
    default:
        return 0;
    }
}

static uint32_t
tilde_key(int number)
{
    static const uint32_t keys[] = {
        [1] = KEY_CODE_HOME,     [2] = KEY_CODE_INSERT,    [3] = KEY_CODE_DELETE,   [4] = KEY_CODE_END,
        [5] = KEY_CODE_PAGE_UP,  [6] = KEY_CODE_PAGE_DOWN, [7] = KEY_CODE_HOME,     [8] = KEY_CODE_END,
        [11] = KEY_CODE_F1,      [12] = KEY_CODE_F1 + 1,   [13] = KEY_CODE_F1 + 2,  [14] = KEY_CODE_F1 + 3,
        [15] = KEY_CODE_F1 + 4,  [17] = KEY_CODE_F1 + 5,   [18] = KEY_CODE_F1 + 6,  [19] = KEY_CODE_F1 + 7,
        [20] = KEY_CODE_F1 + 8,  [21] = KEY_CODE_F1 + 9,   [23] = KEY_CODE_F1 + 10, [24] = KEY_CODE_F1 + 11,
        [25] = KEY_CODE_F1 + 12, [26] = KEY_CODE_F1 + 13,  [28] = KEY_CODE_F1 + 14, [29] = KEY_CODE_F1 + 15,
        [31] = KEY_CODE_F1 + 16, [32] = KEY_CODE_F1 + 17,  [33] = KEY_CODE_F1 + 18, [34] = KEY_CODE_F1 + 19,
    };
    return number >= 0 && (size_t)number < sizeof keys / sizeof *keys ? keys[number] : 0;
}

// xterm's modifier parameter: 1 + shift 1, alt 2, control 4.
static uint32_t
modifiers(int parameter)
{
    int bits = parameter > 0 ? parameter - 1 : 0;
    return (bits & 1 ? KEY_MOD_SHIFT : 0) | (bits & 2 ? KEY_MOD_ALT : 0) | (bits & 4 ? KEY_MOD_CTRL : 0);
}

// Up to three decimal parameters between semicolons; returns how many, or -1 for anything else in them.
static int
parse_parameters(struct bytes text, int parameters[3])
{
    int count = 0;
    parameters[0] = parameters[1] = parameters[2] = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == ';' && count < 2)
            count++;
        else if (text.data[i] >= '0' && text.data[i] <= '9' && parameters[count] < 100000)
            parameters[count] = parameters[count] * 10 + (text.data[i] - '0');
        else
            return -1;
    }
    return text.len ? count + 1 : 0;
}

static bool
mouse_event(struct bytes parameters, char final, struct input_event *event)
{
    int p[3];
    if (parse_parameters(bytes_slice(parameters, 1, SIZE_MAX), p) != 3 || final != 'M')
        return false; // a release, or not a report
    event->kind = INPUT_MOUSE;
    event->button = p[0] == 0    ? MOUSE_LEFT
                    : p[0] == 64 ? MOUSE_WHEEL_UP
                    : p[0] == 65 ? MOUSE_WHEEL_DOWN
                                 : MOUSE_OTHER;
    event->col = p[1] - 1;
    event->row = p[2] - 1;
    return true;
}

// A whole CSI sequence: what it means, if anything.
static bool
csi_event(struct bytes parameters, char final, struct input_event *event)
{
    if (parameters.len && parameters.data[0] == '<')
        return mouse_event(parameters, final, event);
    int p[3];
    int count = parse_parameters(parameters, p);
    if (count < 0 || count == 3)
        return false;

    event->kind = INPUT_KEY;
    if (final == '~') {
        event->key = tilde_key(p[0]);
    } else if (final == 'Z' && count == 0) {
        event->key = KEY_CODE_TAB;
        p[1] = 2; // back-tab is Tab with Shift
    } else if (count == 0 || (count == 2 && p[0] == 1 && final != 'R')) {
        event->key = letter_key(final); // with R and two parameters it is a report of the cursor's place
    } else {
        event->key = 0;
    }
    if (!event->key)
        return false;
    event->key |= modifiers(p[1]);
    return true;
}

// A paste ends at its end mark, or when nothing more comes. A longer one than the limit comes in parts: what
// is left of it must not run as keys.
static enum step
take_paste(struct input *input, struct bytes bytes, bool is_late, size_t *used, struct input_event *event)
{
    const size_t mark = sizeof PASTE_END - 1;
    size_t start = input->is_in_paste ? 0 : sizeof PASTE_START - 1;
    size_t end = bytes_find(bytes, BYTES(PASTE_END), start);
    if (end == SIZE_MAX && !is_late && bytes.len < PASTE_LIMIT)
        return STEP_PARTIAL;
    input->is_in_paste = end == SIZE_MAX && !is_late;
    size_t to = end != SIZE_MAX      ? end
                : input->is_in_paste ? utf8_cut(bytes, bytes.len - mark) // the mark may have begun
                                     : bytes.len;
    *used = end == SIZE_MAX ? to : end + mark;
    strbuf_reset(&input->paste);
    strbuf_add(&input->paste, bytes_slice(bytes, start, to - start));
    event->kind = INPUT_PASTE;
    event->paste = strbuf_bytes(&input->paste);
    return STEP_EVENT;
}

// ESC [ …: parameters 0x30-0x3f, intermediates 0x20-0x2f, one final byte 0x40-0x7e (ECMA-48, 5.4).
static enum step
take_csi(struct input *input, struct bytes bytes, bool is_late, size_t *used, struct input_event *event)
{
    size_t at = 2;
    if (bytes.len > 2 && bytes.data[2] == '[')
        at = 3; // the linux console's F1 to F5: ESC [ [ A
    while (at < bytes.len && bytes.data[at] >= 0x20 && bytes.data[at] < 0x40)
        at++;
    if (at == bytes.len) {
        *used = at;
        return is_late ? STEP_DROP : STEP_PARTIAL;
    }
    char final = bytes.data[at];
    *used = at + 1;
    if ((unsigned char) final < 0x40 || (unsigned char) final > 0x7e) {
        *used = at; // a broken one ends where something else begins
        return STEP_DROP;
    }
    if (bytes_starts(bytes, PASTE_START))
        return take_paste(input, bytes, is_late, used, event);
    if (at == 2 && final == 'M') { // a mouse report of the old kind: three bytes follow
        *used = 6;
        if (bytes.len >= 6 || is_late)
            return STEP_DROP;
        return STEP_PARTIAL;
    }

    if (bytes.data[2] == '[') {
        event->kind = INPUT_KEY;
        event->key = KEY_CODE_F1 + (uint32_t)(final - 'A');
        return final >= 'A' && final <= 'E' ? STEP_EVENT : STEP_DROP;
    }
    return csi_event(bytes_slice(bytes, 2, at - 2), final, event) ? STEP_EVENT : STEP_DROP;
}

// ESC O x
static enum step
take_ss3(struct bytes bytes, bool is_late, size_t *used, struct input_event *event)
{
    *used = bytes.len < 3 ? bytes.len : 3;
    if (bytes.len < 3)
        return is_late ? STEP_DROP : STEP_PARTIAL;
    event->kind = INPUT_KEY;
    event->key = letter_key(bytes.data[2]);
    return event->key ? STEP_EVENT : STEP_DROP;
}

static int
hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// A colour as X11 writes it, rgb:RRRR/GGGG/BBBB with one to four digits each, as light as white would be
// 1000.
static bool
parse_lightness(struct bytes text, int *lightness)
{
    static const int weights[] = {299, 587, 114}; // of red, green and blue (ITU-R BT.601)
    *lightness = 0;
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        int value = 0;
        int most = 0;
        for (; at < text.len && text.data[at] != '/'; at++) {
            int digit = hex_digit(text.data[at]);
            if (digit < 0 || most > 0xfff)
                return false;
            value = value * 16 + digit;
            most = most * 16 + 15;
        }
        if (most == 0 || (i < 2) != (at < text.len))
            return false;
        *lightness += weights[i] * value / most;
        at++;
    }
    return true;
}

// The answer to OSC 11 (xterm's ctlseqs, "Operating System Commands"): the colour of the background.
static bool
background_event(struct bytes string, struct input_event *event)
{
    static const char before[] = "11;rgb:";
    int lightness;
    if (!bytes_starts(string, before) ||
        !parse_lightness(bytes_slice(string, sizeof before - 1, SIZE_MAX), &lightness))
        return false;
    event->kind = INPUT_BACKGROUND;
    event->is_light = lightness > 500;
    return true;
}

// OSC, DCS, SOS, PM, APC: up to ST, or BEL for OSC. Replies of terminals hold no other control characters, so
// one ends what was no reply but Esc and a letter that came together: the keys behind it count.
static enum step
take_string(struct bytes bytes, bool is_late, size_t *used, struct input_event *event)
{
    for (size_t at = 2; at < bytes.len; at++) {
        unsigned char byte = (unsigned char)bytes.data[at];
        if (byte == ESC && at + 1 == bytes.len)
            break;
        bool is_st = byte == ESC && bytes.data[at + 1] == '\\';
        bool is_bell = byte == '\a' && bytes.data[1] == ']';
        *used = is_st ? at + 2 : is_bell ? at + 1 : at;
        if ((is_st || is_bell) && bytes.data[1] == ']' &&
            background_event(bytes_slice(bytes, 2, at - 2), event))
            return STEP_EVENT;
        if (byte < 0x20)
            return STEP_DROP;
    }
    *used = bytes.len;
    return is_late || bytes.len > PASTE_LIMIT ? STEP_DROP : STEP_PARTIAL;
}

static enum step
take_escape(struct input *input, struct bytes bytes, bool is_late, size_t *used, struct input_event *event)
{
    event->kind = INPUT_KEY;
    event->key = KEY_CODE_ESC;
    *used = 1;
    if (bytes.len == 1)
        return is_late ? STEP_EVENT : STEP_PARTIAL;

    enum step step;
    switch (bytes.data[1]) {
    case '[':
        return take_csi(input, bytes, is_late, used, event);
    case 'O':
        return take_ss3(bytes, is_late, used, event);
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        return take_string(bytes, is_late, used, event);
    case ESC: // twice the key, or Alt with a sequence (rxvt)
        if (bytes.len == 2)
            return is_late ? STEP_EVENT : STEP_PARTIAL;
        if (bytes.data[2] != '[' && bytes.data[2] != 'O')
            return STEP_EVENT;
        step = take_escape(input, bytes_slice(bytes, 1, SIZE_MAX), is_late, used, event);
        break;
    default:
        step = plain_key(bytes_slice(bytes, 1, SIZE_MAX), is_late, used, &event->key);
        break;
    }
    *used += 1;
    event->key |= KEY_MOD_ALT;
    return step;
}

static enum step
input_take(struct input *input, struct bytes bytes, bool is_late, size_t *used, struct input_event *event)
{
    if (input->is_in_paste)
        return take_paste(input, bytes, is_late, used, event);
    if (bytes.data[0] == ESC)
        return take_escape(input, bytes, is_late, used, event);
    event->kind = INPUT_KEY;
    return plain_key(bytes, is_late, used, &event->key);
}

bool
input_next(struct input *input, bool is_late, struct input_event *event)
{
    while (input->taken < input->waiting.len) {
        struct bytes bytes = bytes_slice(strbuf_bytes(&input->waiting), input->taken, SIZE_MAX);
        size_t used = 0;
        *event = (struct input_event){0};
        enum step step = input_take(input, bytes, is_late, &used, event);
        if (step == STEP_PARTIAL)
            return false;
        input->taken += used < bytes.len ? used : bytes.len;
        if (step == STEP_EVENT)
            return true;
    }
    strbuf_reset(&input->waiting);
    input->taken = 0;
    return false;
}

bool
input_is_pasting(const struct input *input)
{
    return input->is_in_paste ||
           bytes_starts(bytes_slice(strbuf_bytes(&input->waiting), input->taken, SIZE_MAX), PASTE_START);
}

int64_t
input_delay(const struct input *input)
{
    struct bytes bytes = bytes_slice(strbuf_bytes(&input->waiting), input->taken, SIZE_MAX);
    if (bytes.len == 0)
        return -1;
    bool is_short = bytes.len == 1 || (bytes.len == 2 && bytes.data[1] == ESC);
    return is_short ? (input->esc_delay ? input->esc_delay : ESC_DELAY) : SEQUENCE_DELAY;
}
