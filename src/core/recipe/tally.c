#include "core/recipe/tally.h"

#include <stddef.h>
#include "base/text.h"

const char *
correct_outcome_name(enum correct_outcome outcome)
{
    static const char *const names[CORRECT_OUTCOMES] = {
        [CORRECT_CHANGED] = "changed",
        [CORRECT_UNCHANGED] = "unchanged",
        [CORRECT_NOT_APPLICABLE] = "not_applicable",
        [CORRECT_INVALID] = "invalid",
        [CORRECT_FAILED] = "failed",
        [CORRECT_REFUSED] = "refused_by_check",
        [CORRECT_FORCED] = "forced",
    };
    return names[outcome];
}

bool
correct_outcome_writes(enum correct_outcome outcome)
{
    return outcome == CORRECT_CHANGED || outcome == CORRECT_FORCED;
}

void
correct_tally_replaced(struct correct_tally *tally, uint64_t replaced)
{
    if (replaced == 0)
        return;
    tally->is_levelled = tally->is_levelled || (tally->replaced && replaced != tally->replaced_first);
    tally->replaced_first = tally->replaced ? tally->replaced_first : replaced;
    tally->replaced++;
}

int64_t
correct_tally_total(const struct correct_tally *tally)
{
    int64_t total = tally->gone;
    for (int i = 0; i < CORRECT_OUTCOMES; i++)
        total += tally->counts[i];
    return total;
}

void
correct_tally_describe(const struct correct_tally *tally, struct strbuf *out)
{
    const struct {
        int64_t count;
        const char *one, *words;
    } rows[] = {
        {tally->counts[CORRECT_CHANGED], "would change", "would change"},
        {tally->counts[CORRECT_UNCHANGED], "would stay as it is", "would stay as they are"},
        {tally->counts[CORRECT_NOT_APPLICABLE], "does not fit the recipe", "do not fit the recipe"},
        {tally->counts[CORRECT_INVALID], "would be invalid", "would be invalid"},
        {tally->counts[CORRECT_FAILED], "failed", "failed"},
        {tally->counts[CORRECT_REFUSED], "refused by the check", "refused by the check"},
        {tally->counts[CORRECT_FORCED], "would change although the check refuses it",
         "would change although the check refuses them"},
        {tally->gone, "no longer in the table", "no longer in the table"},
    };
    char text[TEXT_SHORT];
    size_t begin = out->len;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].count)
            strbuf_printf(out, "%s%s %s", out->len > begin ? ", " : "", text_count(rows[i].count, text),
                          rows[i].count == 1 ? rows[i].one : rows[i].words);
    if (tally->inexact)
        strbuf_printf(out,
                      "; of %s the bytes that were received are not kept here: PostgreSQL's "
                      "text is corrected unless Kafka still has them",
                      text_count(tally->inexact, text));
    if (tally->is_levelled)
        strbuf_printf(out, "; set gives %s events one value where they have different ones",
                      text_count(tally->replaced, text));
    if (tally->departs)
        strbuf_printf(out, "; %s would depart from the shape of %s type", text_count(tally->departs, text),
                      tally->departs == 1 ? "its" : "their");
    if (tally->again)
        strbuf_printf(out, "; a second application would change %s again (line %d)",
                      text_count(tally->again, text), tally->again_line);
}
