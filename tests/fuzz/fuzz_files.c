// Any bytes as a keymap, a theme and a script's keys: refused with a sentence or read, never worse.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ui/keymap/key.h"
#include "ui/keymap/keymap.h"
#include "ui/theme/theme.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// libconfuse 3.3 forgets the arguments of a function call that it did not finish reading.
const char *__lsan_default_suppressions(void);
const char *
__lsan_default_suppressions(void)
{
    return "leak:libconfuse\n";
}

static void
read_keymap(const char *path)
{
    struct strbuf warnings = {0}, text = {0};
    struct err err = {0};
    struct keymap *keymap = keymap_load(path, NULL, &warnings, &err);
    if (!keymap && !err_is_set(&err))
        abort();
    if (keymap) {
        keymap_dump(keymap, &text);
        keymap_describe(keymap, &text);
    }
    keymap_destroy(keymap);
    strbuf_release(&warnings);
    strbuf_release(&text);
}

static void
read_theme(const char *path)
{
    struct strbuf warnings = {0};
    struct err err = {0};
    struct theme *theme = theme_load(path, NULL, &warnings, &err);
    if (!theme && !err_is_set(&err))
        abort();
    theme_destroy(theme);
    strbuf_release(&warnings);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 4096)
        return 0;
    struct key_sequence sequence;
    struct err err = {0};
    (void)!key_parse_sequence((struct bytes){(const char *)data, size}, &sequence, &err);

    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_keymap(path);
    read_theme(path);
    close(fd);
    return 0;
}
