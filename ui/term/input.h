// input: bytes from a terminal → keys, pastes, mouse. Pure: no descriptor, no clock.
//
// Strict: whatever begins like a sequence is taken whole. Unknown CSI, OSC, DCS and late replies of the
// terminal are swallowed, because the rest of one would run as commands. A paste (mode 2004) is one event,
// beyond 1 MiB several.
#ifndef REDRIVE_UI_TERM_INPUT_H
#define REDRIVE_UI_TERM_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/strbuf.h"
#include "ui/keymap/key.h"

enum input_kind { INPUT_KEY, INPUT_PASTE, INPUT_MOUSE, INPUT_BACKGROUND };
enum mouse_button { MOUSE_LEFT, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN, MOUSE_OTHER };

struct input_event {
    enum input_kind kind;
    uint32_t key;
    struct bytes paste; // valid until the next call
    enum mouse_button button;
    int row, col;  // from 0
    bool is_light; // INPUT_BACKGROUND: the terminal's answer to the question for it
};

// Zero-initialise.
struct input {
    struct strbuf waiting;
    size_t taken; // of waiting
    struct strbuf paste;
    bool is_in_paste;  // its first part was told
    int64_t esc_delay; // µs
};

// How long a lone ESC waits, in µs; 0: ESCDELAY (ms) of the environment, else 50 ms.
void input_set_delay(struct input *input, int64_t esc_delay);
void input_feed(struct input *input, struct bytes bytes);
// The next event; false: none is complete. `is_late`: no more bytes came within input_delay, so what is
// incomplete is settled: a lone ESC becomes the key, the beginning of a sequence is dropped.
bool input_next(struct input *input, bool is_late, struct input_event *event);
// How long to wait for the rest of what is incomplete, in µs; negative: nothing is. Counted from its first
// byte, so that nobody's keys vanish for as long as they type; in a paste, which may be long, from the last
// one.
int64_t input_delay(const struct input *input);
bool input_is_pasting(const struct input *input);
void input_reset(struct input *input); // type-ahead is thrown away
void input_release(struct input *input);

#endif
