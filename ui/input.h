// input: bytes from a terminal → keys, pastes, mouse. Pure: no descriptor, no clock.
//
// Strict: whatever begins like a sequence is taken whole. Unknown CSI, OSC, DCS and late replies of the
// terminal are swallowed, because the rest of one would run as commands. A paste (mode 2004) is one event.
#ifndef REDRIVE_UI_INPUT_H
#define REDRIVE_UI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"
#include "ui/key.h"

enum input_kind { INPUT_KEY, INPUT_PASTE, INPUT_MOUSE };
enum mouse_button { MOUSE_LEFT, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN, MOUSE_OTHER };

struct input_event {
    enum input_kind kind;
    uint32_t key;
    struct bytes paste; // valid until the next call
    enum mouse_button button;
    int row, col; // from 0
};

// A sequence that this terminal's description has for a key.
struct input_name {
    char bytes[16];
    uint32_t key;
};

// Zero-initialise; names may be set.
struct input {
    struct strbuf waiting;
    size_t taken; // of waiting
    struct strbuf paste;
    const struct input_name *names;
    size_t name_count;
    int64_t esc_delay; // µs; 0: 50 ms
};

void input_feed(struct input *input, struct bytes bytes);
// The next event; false: none is complete. `is_late`: no more bytes came within input_delay, so what is
// incomplete is settled: a lone ESC becomes the key, the beginning of a sequence is dropped.
bool input_next(struct input *input, bool is_late, struct input_event *event);
// How long to wait for the rest of what is incomplete, in µs; negative: nothing is.
int64_t input_delay(const struct input *input);
void input_reset(struct input *input); // type-ahead is thrown away
void input_release(struct input *input);

#endif
