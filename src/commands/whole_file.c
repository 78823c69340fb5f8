#include "commands/whole_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FILE_BYTES ((size_t)64 << 20)

bool
whole_file_read(const char *name, struct strbuf *out, struct err *err)
{
    bool is_stdin = strcmp(name, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(name, "rb");
    if (!file)
        return err_set(err, ERR_USAGE, "cannot read %s: %s", name, strerror(errno));
    char part[65536];
    size_t got;
    while (out->len <= FILE_BYTES && (got = fread(part, 1, sizeof part, file)) > 0)
        strbuf_add(out, (struct bytes){part, got});
    bool is_bad = ferror(file);
    if (!is_stdin)
        fclose(file);
    if (is_bad)
        return err_set(err, ERR_USAGE, "cannot read %s to its end", name);
    return out->len <= FILE_BYTES || err_set(err, ERR_USAGE, "%s has more than 64 MiB", name);
}
