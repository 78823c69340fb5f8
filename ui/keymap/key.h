// key: one key as a number, and its name in vim's notation: `a`, `<C-d>`, `<A-m>`, `<F5>`, `<S-Up>`,
// `<Space>`, `<lt>`, `<Bar>`.
//
// Printable characters are their code points. <Tab> and <C-i>, <Enter> and <C-m>, <Esc> and <C-[>, are the
// same to a terminal; <S-a> is A. Names that a terminal cannot send are refused with the reason.
#ifndef REDRIVE_UI_KEYMAP_KEY_H
#define REDRIVE_UI_KEYMAP_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"

#define KEY_MOD_CTRL 0x01000000u
#define KEY_MOD_ALT 0x02000000u
#define KEY_MOD_SHIFT 0x04000000u
#define KEY_CODE_MASK 0x00ffffffu

// Beyond Unicode.
enum key_code {
    KEY_CODE_FIRST = 0x200000,
    KEY_CODE_ENTER,
    KEY_CODE_TAB,
    KEY_CODE_ESC,
    KEY_CODE_BACKSPACE,
    KEY_CODE_UP,
    KEY_CODE_DOWN,
    KEY_CODE_LEFT,
    KEY_CODE_RIGHT,
    KEY_CODE_HOME,
    KEY_CODE_END,
    KEY_CODE_PAGE_UP,
    KEY_CODE_PAGE_DOWN,
    KEY_CODE_INSERT,
    KEY_CODE_DELETE,
    KEY_CODE_F1,
    KEY_CODE_F20 = KEY_CODE_F1 + 19,
};

#define KEY_SEQUENCE 4 // most keys in a sequence

struct key_sequence {
    uint32_t keys[KEY_SEQUENCE];
    int count;
};

bool key_is_text(uint32_t key); // a character to type
// One or more keys written together: "gg", "<C-x><C-s>". err says what is wrong with which name.
bool key_parse_sequence(struct bytes text, struct key_sequence *sequence, struct err *err) MUST_CHECK;
// Takes one key off the front of text: for scripts. false at its end or with err set.
bool key_parse_next(struct bytes text, size_t *at, uint32_t *key, struct err *err) MUST_CHECK;
void key_print(uint32_t key, struct strbuf *out);
// As the footer shows it: "Enter", "C-x C-s", "gg".
void key_print_label(const struct key_sequence *sequence, struct strbuf *out);
void key_print_sequence(const struct key_sequence *sequence, struct strbuf *out);

#endif
