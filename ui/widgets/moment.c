#include "ui/widgets/moment.h"

#include <stdio.h>
#include "base/clock.h"

// CLOCK_CELLS: of "11-20 14:02". Where the parts of "2026-11-20 14:02:11" begin, and the cells of its date.
enum { CLOCK_CELLS = 11, MONTH_AT = 5, DATE_CELLS = 10, TIME_AT = 11, YEAR_CELLS = 4 };

static bool
is_of_this_year(int64_t at, int64_t now)
{
    char then[TIME_TEXT];
    char today[TIME_TEXT];
    return bytes_equal(bytes_slice(bytes_of(time_local(at, then)), 0, YEAR_CELLS),
                       bytes_slice(bytes_of(time_local(now, today)), 0, YEAR_CELLS));
}

static bool
is_of_today(int64_t at, int64_t now)
{
    char then[TIME_TEXT];
    char today[TIME_TEXT];
    return bytes_equal(bytes_slice(bytes_of(time_local(at, then)), 0, DATE_CELLS),
                       bytes_slice(bytes_of(time_local(now, today)), 0, DATE_CELLS));
}

const char *
moment_text(struct moments moments, int64_t at, char out[TEXT_SHORT])
{
    char local[TIME_TEXT];
    if (!moments.by_clock)
        return text_ago(at, moments.now, out);
    (void)time_local(at, local);
    if (is_of_today(at, moments.now))
        snprintf(out, TEXT_SHORT, "%.20s", local + TIME_AT);
    else if (is_of_this_year(at, moments.now))
        snprintf(out, TEXT_SHORT, "%.*s", CLOCK_CELLS, local + MONTH_AT);
    else
        snprintf(out, TEXT_SHORT, "%.*s", DATE_CELLS, local);
    return out;
}

const char *
moment_phrase(struct moments moments, int64_t at, char out[TEXT_SHORT])
{
    char text[TEXT_SHORT];
    (void)moment_text(moments, at, text);
    if (!moments.by_clock)
        snprintf(out, TEXT_SHORT, "%.20s ago", text);
    else
        snprintf(out, TEXT_SHORT, "%s %.20s", is_of_this_year(at, moments.now) ? "at" : "on", text);
    return out;
}

int
moment_cells(bool by_clock, int age_cells)
{
    return by_clock && age_cells < CLOCK_CELLS ? CLOCK_CELLS : age_cells;
}
