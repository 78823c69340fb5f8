#include "ui/terminfo.h"

#include <ncurses.h>
#include <string.h>

// Cuts the part out of a capability as ncurses holds it in memory; it has no call for that.
static bool
cut(const char *capability, const char *part)
{
    char *value = tigetstr(capability);
    if (!value || value == (char *)-1)
        return false;
    char *at = strstr(value, part);
    if (!at)
        return false;
    const char *rest = at + strlen(part);
    memmove(at, rest, strlen(rest) + 1);
    return true;
}

bool
terminfo_spare_attributes(void)
{
    bool is_spared = cut("sgr", "%?%p9%t\033(0%e\033(B%;") || cut("sgr", "%?%p9%t\016%e\017%;");
    // Both or none: sgr may have left the other set.
    return is_spared && (cut("sgr0", "\033(B") || cut("sgr0", "\017"));
}
