#include "ui/term/terminfo.h"

#include <ncurses.h>
#include <string.h>

// Where the part stands in a capability as ncurses holds it in memory, or NULL.
static char *
find(const char *capability, const char *part)
{
    char *value = tigetstr(capability);
    return value && value != (char *)-1 ? strstr(value, part) : NULL;
}

// Out of the capability; ncurses has no call for that.
static void
drop(char *at, size_t len)
{
    memmove(at, at + len, strlen(at + len) + 1);
}

static bool
cut(const char *capability, const char *part)
{
    char *at = find(capability, part);
    if (at)
        drop(at, strlen(part));
    return at;
}

bool
terminfo_spare_attributes(void)
{
    char *reset = find("sgr", "\033[0%?");
    if (reset)
        drop(reset + 2, 1);
    bool is_spared = cut("sgr", "%?%p9%t\033(0%e\033(B%;") || cut("sgr", "%?%p9%t\016%e\017%;");
    // Both or none: sgr may have left the other set.
    return is_spared && (cut("sgr0", "\033(B") || cut("sgr0", "\017"));
}
