#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool
err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
    if (!err || err->kind != ERR_NONE)
        return false;

    err->kind = kind;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return false;
}

bool
err_context(struct err *err, const char *format, ...)
{
    if (!err || err->kind == ERR_NONE)
        return false;

    char inner[sizeof err->text];
    memcpy(inner, err->text, sizeof inner);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof err->text)
        snprintf(err->text + used, sizeof err->text - (size_t)used, ": %.*s",
                 (int)(sizeof inner - 1 - (size_t)used), inner);
    return false;
}

void
err_clear(struct err *err)
{
    *err = (struct err){0};
}

bool
err_is_set(const struct err *err)
{
    return err->kind != ERR_NONE;
}
