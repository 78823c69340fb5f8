#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

// Apart from the test whether it is needed, which is inlined: most pieces are a few bytes.
__attribute__((noinline)) static void
grow(struct strbuf *buf, size_t more)
{
    size_t need = size_add(size_add(buf->len, more), 1);
    size_t capacity = buf->capacity ? buf->capacity : 32;
    while (capacity < need)
        capacity = size_mul(capacity, 2);
    buf->data = alloc_resize(buf->data, capacity, 1);
    buf->capacity = capacity;
}

static inline void
reserve(struct strbuf *buf, size_t more)
{
    if (more >= buf->capacity - buf->len)
        grow(buf, more);
}

void
strbuf_add(struct strbuf *buf, struct bytes b)
{
    reserve(buf, b.len);
    if (b.len)
        memcpy(buf->data + buf->len, b.data, b.len);
    buf->len += b.len;
    buf->data[buf->len] = '\0';
}

void
strbuf_add_text(struct strbuf *buf, const char *text)
{
    strbuf_add(buf, bytes_of(text));
}

void
strbuf_add_char(struct strbuf *buf, char c)
{
    reserve(buf, 1);
    buf->data[buf->len++] = c;
    buf->data[buf->len] = '\0';
}

void
strbuf_vprintf(struct strbuf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len > 0) {
        reserve(buf, (size_t)len);
        vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

void
strbuf_printf(struct strbuf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_vprintf(buf, format, args);
    va_end(args);
}

void
strbuf_splice(struct strbuf *buf, size_t from, size_t len, struct bytes b)
{
    if (from > buf->len)
        from = buf->len;
    if (len > buf->len - from)
        len = buf->len - from;
    reserve(buf, b.len);
    memmove(buf->data + from + b.len, buf->data + from + len, buf->len - from - len);
    if (b.len)
        memcpy(buf->data + from, b.data, b.len);
    buf->len = buf->len - len + b.len;
    buf->data[buf->len] = '\0';
}

void
strbuf_reset(struct strbuf *buf)
{
    buf->len = 0;
    if (buf->data)
        buf->data[0] = '\0';
}

void
strbuf_release(struct strbuf *buf)
{
    free(buf->data);
    *buf = (struct strbuf){0};
}

struct bytes
strbuf_bytes(const struct strbuf *buf)
{
    return (struct bytes){strbuf_text(buf), buf->len};
}

const char *
strbuf_text(const struct strbuf *buf)
{
    return buf->data ? buf->data : "";
}

char *
strbuf_detach(struct strbuf *buf)
{
    reserve(buf, 0);
    buf->data[buf->len] = '\0';
    char *data = buf->data;
    *buf = (struct strbuf){0};
    return data;
}
