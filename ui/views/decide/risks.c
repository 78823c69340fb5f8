#include "ui/views/decide/risks.h"

#include "base/text.h"

static void
describe_overtaken(const struct preview *found, struct dialog *dialog)
{
    char count[TEXT_SHORT];
    char other[TEXT_SHORT];
    dialog_line(dialog, ROLE_DIALOG_DANGER, "%s %s newer events of the same key%s%s%s",
                text_count(found->overtaken, count), found->overtaken == 1 ? "has" : "have",
                found->overtaken_resolved ? ", " : "",
                found->overtaken_resolved ? text_count(found->overtaken_resolved, other) : "",
                found->overtaken_resolved ? " already resolved" : "");
}

static void
describe_doubled(const struct preview *found, struct dialog *dialog)
{
    char count[TEXT_SHORT];
    dialog_line(dialog, ROLE_DIALOG_DANGER, "%s share their event id with another of them",
                text_count(found->doubled, count));
}

static int64_t
overtaken(const struct preview *found)
{
    return found->overtaken;
}

static int64_t
doubled(const struct preview *found)
{
    return found->doubled;
}

// In the order in which they are looked for.
static const struct risk {
    enum preview_part part;
    const char *what; // is looked for
    const char *none;
    int64_t (*count)(const struct preview *found);
    void (*describe)(const struct preview *found, struct dialog *dialog);
} rows[] = {
    {PREVIEW_OVERTAKEN, "newer events of the same key", "no newer events of the same key", overtaken,
     describe_overtaken},
    {PREVIEW_DOUBLED, "event ids that are there twice", "no event id twice", doubled, describe_doubled},
};
enum { ROWS = sizeof rows / sizeof *rows };

void
decide_risks_add(struct decide_risks *risks, const struct preview *preview)
{
    struct preview *found = &risks->found;
    found->known |= preview->known;
    if (preview->known & 1u << PREVIEW_OVERTAKEN) {
        found->overtaken = preview->overtaken;
        found->overtaken_resolved = preview->overtaken_resolved;
    }
    if (preview->known & 1u << PREVIEW_DOUBLED)
        found->doubled = preview->doubled;
}

static void
describe_known(const struct decide_risks *risks, const struct risk *row, struct dialog *dialog)
{
    if (row->count(&risks->found))
        row->describe(&risks->found, dialog);
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
            dialog_line(dialog, ROLE_DIALOG, "still looking for %s…", rows[i].what);
        } else {
            dialog_line(dialog, ROLE_DIALOG_DANGER, "not known whether there are %s%s%s", rows[i].what,
                        *because ? ": " : "", because);
            because = ""; // said once
        }
    }
}
