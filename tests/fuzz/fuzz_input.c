// Any bytes from a terminal: the decoder comes to an end, gives only keys that have a name, and the same
// whether the bytes come whole or one by one.
#include <stdint.h>
#include <stdlib.h>
#include "ui/term/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
note(const struct input_event *event, struct strbuf *out)
{
    if (event->kind == INPUT_KEY) {
        uint32_t base = event->key & KEY_CODE_MASK;
        if (base >= 0x110000 && (base <= KEY_CODE_FIRST || base > KEY_CODE_F20))
            abort();
        key_print(event->key, out);
    } else if (event->kind == INPUT_PASTE) {
        strbuf_add(out, event->paste);
    } else {
        strbuf_printf(out, "%d,%d,%d", (int)event->button, event->row, event->col);
    }
    strbuf_add_char(out, '\n');
}

static void
decode(const uint8_t *data, size_t size, size_t step, struct strbuf *out)
{
    struct input input = {0};
    struct input_event event;
    for (size_t at = 0; at < size; at += step) {
        size_t len = size - at < step ? size - at : step;
        input_feed(&input, (struct bytes){(const char *)data + at, len});
        while (input_next(&input, false, &event))
            note(&event, out);
    }
    while (input_next(&input, true, &event))
        note(&event, out);
    if (input_delay(&input) >= 0)
        abort();
    input_release(&input);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 4096)
        return 0;
    struct strbuf whole = {0}, pieces = {0};
    decode(data, size, size ? size : 1, &whole);
    decode(data, size, 1, &pieces);
    if (!bytes_equal(strbuf_bytes(&whole), strbuf_bytes(&pieces)))
        abort();
    strbuf_release(&whole);
    strbuf_release(&pieces);
    return 0;
}
