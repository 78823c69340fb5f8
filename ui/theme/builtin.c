// The themes and keymaps built into the program, one row each in builtin.def.
#include "base/embed.h"
#include "ui/theme/source.h"

#define BUILTIN(symbol, folder, name) EMBED(redrive_##symbol, folder name);
#include "ui/theme/builtin.def"
#undef BUILTIN

static const struct {
    const char *name;
    const char *begin, *end;
} files[] = {
#define BUILTIN(symbol, folder, name) {name, redrive_##symbol, redrive_##symbol##_end},
#include "ui/theme/builtin.def"
#undef BUILTIN
};
#define FILE_COUNT (sizeof files / sizeof *files)

struct bytes
builtin_file(const char *name)
{
    for (size_t i = 0; i < FILE_COUNT; i++)
        if (bytes_equal_text(bytes_of(name), files[i].name))
            return (struct bytes){files[i].begin, (size_t)(files[i].end - files[i].begin)};
    return BYTES_ABSENT;
}

const char *
builtin_name(size_t i)
{
    return i < FILE_COUNT ? files[i].name : NULL;
}
