// strbuf: bytes that grow. Always NUL-terminated behind len, so that text is a C string; may hold NULs.
#ifndef REDRIVE_BASE_STRBUF_H
#define REDRIVE_BASE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>
#include "base/bytes.h"

struct strbuf {
    char *data; // NULL until something was added; use strbuf_text for a text that is never NULL
    size_t len;
    size_t capacity;
};

void strbuf_add(struct strbuf *buf, struct bytes b);
void strbuf_add_text(struct strbuf *buf, const char *text);
void strbuf_add_char(struct strbuf *buf, char c);
void strbuf_printf(struct strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
// Replaces the bytes [from, from + len) by b: the splice that prompts, editors and payload edits use.
void strbuf_splice(struct strbuf *buf, size_t from, size_t len, struct bytes b);
void strbuf_reset(struct strbuf *buf); // len 0, memory kept
void strbuf_release(struct strbuf *buf);
struct bytes strbuf_bytes(const struct strbuf *buf); // never absent
const char *strbuf_text(const struct strbuf *buf);
char *strbuf_detach(struct strbuf *buf); // the caller frees it; buf is empty afterwards

#endif
