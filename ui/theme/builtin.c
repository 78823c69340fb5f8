#include "base/embed.h"
#include "ui/theme/source.h"

#define FILES(FILE)                                                                                          \
    FILE(redrive_keymap_default, "keymaps/", "default.keymap")                                               \
    FILE(redrive_keymap_emacs, "keymaps/", "emacs.keymap")                                                   \
    FILE(redrive_keymap_mc, "keymaps/", "mc.keymap")                                                         \
    FILE(redrive_theme_default, "themes/", "default.theme")                                                  \
    FILE(redrive_theme_dark, "themes/", "dark.theme")                                                        \
    FILE(redrive_theme_light, "themes/", "light.theme")                                                      \
    FILE(redrive_theme_mono, "themes/", "mono.theme")                                                        \
    FILE(redrive_theme_contrast_dark, "themes/", "high-contrast-dark.theme")                                 \
    FILE(redrive_theme_contrast_light, "themes/", "high-contrast-light.theme")                               \
    FILE(redrive_theme_colorblind_dark, "themes/", "colorblind-dark.theme")                                  \
    FILE(redrive_theme_colorblind_light, "themes/", "colorblind-light.theme")                                \
    FILE(redrive_theme_gruvbox_dark, "themes/", "gruvbox-dark.theme")                                        \
    FILE(redrive_theme_solarized_dark, "themes/", "solarized-dark.theme")                                    \
    FILE(redrive_theme_solarized_light, "themes/", "solarized-light.theme")                                  \
    FILE(redrive_theme_nord, "themes/", "nord.theme")                                                        \
    FILE(redrive_theme_dracula, "themes/", "dracula.theme")                                                  \
    FILE(redrive_theme_roles, "themes/", "roles.theme")

#define DECLARE(symbol, folder, name) EMBED(symbol, folder name);
FILES(DECLARE)

static const struct {
    const char *name;
    const char *begin, *end;
} files[] = {
#define ROW(symbol, folder, name) {name, symbol, symbol##_end},
    FILES(ROW)};
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
