#include "ui/term/hyperlink.h"

struct link_range
link_range_of(const struct cell *cells, const struct cell *before, int cols)
{
    struct link_range range = {.from = cols, .to = 0};
    for (int col = 0; col < cols; col++) {
        bool was_link = before[col].link > 0 && before[col].link <= CANVAS_LINKS; // else nothing was told yet
        if (!cells[col].link && !was_link)
            continue;
        range.from = col < range.from ? col : range.from;
        range.to = col + 1;
    }
    return range.from < range.to ? range : (struct link_range){0};
}

void
hyperlink_sequence(const char *address, struct strbuf *out)
{
    strbuf_printf(out, "\033]8;;%s\033\\", address ? address : "");
}
