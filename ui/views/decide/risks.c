#include "ui/views/decide/risks.h"

#include <stdio.h>
#include "base/text.h"
#include "ui/views/decide/texts.h"

static void
describe_overtaken(const struct decide_risks *risks, struct dialog *dialog)
{
    const struct preview *found = &risks->found;
    char count[TEXT_SHORT];
    char other[TEXT_SHORT];
    dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_OVERTAKEN, text_count(found->overtaken.events, count),
                found->overtaken.events == 1 ? "has" : "have", found->overtaken.resolved ? ", " : "",
                found->overtaken.resolved ? text_count(found->overtaken.resolved, other) : "",
                found->overtaken.resolved ? " already resolved" : "");
}

static void
describe_doubled(const struct decide_risks *risks, struct dialog *dialog)
{
    const struct preview *found = &risks->found;
    char count[TEXT_SHORT];
    dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_DUPLICATES, text_count(found->doubled, count));
    if (found->repeated)
        dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_REPEATED, text_count(found->repeated, count));
}

static void
describe_refused(const struct decide_risks *risks, struct dialog *dialog)
{
    char count[TEXT_SHORT];
    const struct preview *found = &risks->found;
    if (found->refused.events)
        dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_REFUSED_SINGLY, text_count(found->refused.events, count),
                    risks->why_refused, found->refused.by_count > 1 ? MSG_REFUSED_MORE : "");
    if (found->refused.unmeasured)
        dialog_line(dialog, ROLE_DIALOG, MSG_UNMEASURED, text_count(found->refused.unmeasured, count));
}

static int64_t
refused_singly(const struct preview *found)
{
    return found->refused.events + found->refused.unmeasured;
}

static int64_t
overtaken(const struct preview *found)
{
    return found->overtaken.events;
}

static int64_t
doubled(const struct preview *found)
{
    return found->doubled;
}

// In the order of the checks.
static const struct risk {
    enum preview_part part;
    const char *what; // is checked for
    const char *none;
    int64_t (*count)(const struct preview *found);
    void (*describe)(const struct decide_risks *risks, struct dialog *dialog);
} rows[] = {
    {PREVIEW_OVERTAKEN, MSG_OVERTAKEN_WHAT, MSG_OVERTAKEN_NONE, overtaken, describe_overtaken},
    {PREVIEW_DOUBLED, MSG_DUPLICATES_WHAT, MSG_DUPLICATES_NONE, doubled, describe_doubled},
    {PREVIEW_REFUSED, MSG_REFUSED_WHAT, MSG_REFUSED_NONE, refused_singly, describe_refused},
};
enum { ROWS = sizeof rows / sizeof *rows };

// Those that are refused for their topic are told with it.
static void
add_refused(struct decide_risks *risks, const struct preview *preview)
{
    struct preview *found = &risks->found;
    found->refused.events = 0;
    found->refused.unmeasured = preview->refused.unmeasured;
    found->refused.by_count = preview->refused.by_count;
    for (size_t i = 0; i < preview->refused.by_count; i++)
        found->refused.events += preview->refused.by[i].count;
    if (preview->refused.by_count)
        snprintf(risks->why_refused, sizeof risks->why_refused, "%s", preview->refused.by[0].reason);
}

void
decide_risks_add(struct decide_risks *risks, const struct preview *preview)
{
    struct preview *found = &risks->found;
    found->known |= preview->known;
    if (preview->known & 1u << PREVIEW_OVERTAKEN) {
        found->overtaken.events = preview->overtaken.events;
        found->overtaken.resolved = preview->overtaken.resolved;
    }
    if (preview->known & 1u << PREVIEW_DOUBLED) {
        found->doubled = preview->doubled;
        found->repeated = preview->repeated;
    }
    if (preview->known & 1u << PREVIEW_REFUSED)
        add_refused(risks, preview);
}

static void
describe_known(const struct decide_risks *risks, const struct risk *row, struct dialog *dialog)
{
    if (row->count(&risks->found))
        row->describe(risks, dialog);
    else if (risks->was_looking)
        dialog_line(dialog, ROLE_DIM, "%s", row->none);
}

void
decide_risks_describe(struct decide_risks *risks, struct dialog *dialog, const char *why)
{
    dialog_cut(dialog, risks->lines);
    for (size_t i = 0; i < ROWS; i++)
        risks->was_looking |= !(risks->found.known & 1u << rows[i].part);
    const char *because = why;
    for (size_t i = 0; i < ROWS; i++) {
        if (risks->found.known & 1u << rows[i].part) {
            describe_known(risks, &rows[i], dialog);
        } else if (!why) {
            dialog_line(dialog, ROLE_DIALOG, MSG_RISK_CHECKING, rows[i].what);
        } else {
            dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_RISK_UNKNOWN, rows[i].what, *because ? ": " : "",
                        because);
            because = ""; // once is enough
        }
    }
}
