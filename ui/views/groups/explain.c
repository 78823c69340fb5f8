#include "ui/views/groups/explain.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "core/event.h"
#include "ui/app/app.h"
#include "ui/views/text_page.h"
#include "ui/views/groups/texts.h"

struct explain {
    struct text_page page; // first: see text_page.h
    char key[GROUP_TEXT];
};

static const enum action footer[] = {DO_COPY, DO_COPY_ID, DO_FOLD, DO_SEARCH, DO_BACK, DO_HELP, DO_NONE};

// "class     org.postgresql.…": names and values in columns.
static void
explain_add_row(struct pager *pager, const char *name, struct bytes value)
{
    struct strbuf line = {0};
    strbuf_printf(&line, "%-9s ", name);
    if (bytes_present(value))
        strbuf_add(&line, value);
    else
        strbuf_add_text(&line, "none");
    pager_line(pager, bytes_present(value) ? ROLE_TEXT : ROLE_DIM, strbuf_bytes(&line));
    strbuf_release(&line);
}

static void
explain_add_key(struct pager *pager, const struct explanation *why)
{
    const struct fingerprint *print = &why->print;
    char key[GROUP_TEXT];
    pager_printf(pager, ROLE_TEXT, MSG_KEY_BY_RULES, "group", group_text(print->key, key),
                 why->rules_version);
    if (print->rule != NULL) {
        pager_printf(pager, ROLE_TEXT, "%-9s \"%s\", from your rules", "rule", print->rule);
        pager_printf(pager, ROLE_TEXT, "%-9s %s", "by text", group_text(print->text_key, key));
    }
    pager_printf(pager, ROLE_DIM, MSG_KEY_PARTS);
    explain_add_row(pager, "class", print->root_class);
    explain_add_row(pager, "pattern", print->pattern);
    explain_add_row(pager, "frame", print->frame);
    if (print->is_cut)
        pager_printf(pager, ROLE_DIM, MSG_KEY_CUT);
}

static void
add_masks(struct pager *pager, const struct fingerprint *print)
{
    size_t widest = 0;
    for (uint32_t i = 0; i < print->mask_count; i++)
        widest = strlen(print->masks[i].rule) > widest ? strlen(print->masks[i].rule) : widest;
    for (uint32_t i = 0; i < print->mask_count; i++) {
        struct strbuf line = {0};
        strbuf_printf(&line, "%-*s  ", (int)widest, print->masks[i].rule);
        text_visible(&line, print->masks[i].text, false);
        pager_line(pager, ROLE_TEXT, strbuf_bytes(&line));
        strbuf_release(&line);
    }
    if (print->mask_count == 0)
        pager_printf(pager, ROLE_DIM, MSG_NOTHING_IGNORED);
}

static void
add_category(struct pager *pager, const struct explanation *why)
{
    const struct override *override = &why->override;
    char at[TIME_TEXT];
    if (why->is_overridden) {
        pager_printf(pager, ROLE_TEXT, MSG_CATEGORY_SET_BY, category_name(why->category), override->who,
                     time_local(override->at, at));
        if (override->reason)
            pager_printf(pager, ROLE_TEXT, "%-9s %s", "reason", override->reason);
        pager_printf(pager, ROLE_DIM, MSG_CATEGORY_BY_RULES, category_name(why->by_rules),
                     why->category_rule);
        return;
    }
    pager_printf(pager, ROLE_TEXT, "%-9s %s", category_name(why->category), why->category_rule);
}

static void
explain_build(struct explain *explain, const struct explanation *why)
{
    struct pager *pager = explain->page.pager;
    const struct fingerprint *print = &why->print;
    pager_begin(pager);
    pager_section(pager, "Key", NULL, false);
    explain_add_key(pager, why);
    pager_section(pager, "Frame", NULL, false);
    pager_line(pager, ROLE_TEXT, print->frame_reason);
    pager_section(pager, "Category", NULL, false);
    add_category(pager, why);
    pager_section(pager, "Ignored", NULL, false);
    add_masks(pager, print);
    pager_section(pager, "Root cause", NULL, false);
    pager_line(pager, ROLE_TEXT, bytes_present(print->root_text) ? print->root_text : BYTES("none"));
    pager_end(pager);
}

static bool
explain_copy_line(struct app *app, void *state, enum action action)
{
    (void)action;
    app_copy(app, pager_line_at(((struct explain *)state)->page.pager), "line");
    return true;
}

static bool
explain_copy_group(struct app *app, void *state, enum action action)
{
    (void)action;
    app_copy(app, bytes_of(((struct explain *)state)->key), "group");
    return true;
}

static const struct view_action actions[] = {
    {.part = pager_handles, .run = text_page_move},
    {.action = DO_SEARCH, .run = text_page_search},
    {.action = DO_COPY, .run = explain_copy_line},
    {.action = DO_COPY_ID, .run = explain_copy_group},
    {0},
};

static void *
explain_open(struct app *app, const void *argument)
{
    const struct explain_argument *asked = argument;
    struct explain *explain = alloc_bytes(sizeof *explain);
    text_page_init(&explain->page, app, "why this group");
    if (asked == NULL)
        return explain;
    group_text(asked->explanation->print.key, explain->key);
    explain_build(explain, asked->explanation);
    return explain;
}

static void
explain_close(struct app *app, void *state)
{
    (void)app;
    struct explain *explain = state;
    text_page_release(&explain->page);
    free(explain);
}

const struct view view_explain = {
    .name = "explain",
    .context = CONTEXT_VIEW_explain,
    .actions = actions,
    .footer = footer,
    .open = explain_open,
    .close = explain_close,
    .crumb = text_page_crumb,
    .draw = text_page_draw,
    .layout = text_page_layout,
};
