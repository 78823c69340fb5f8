// The filter line of the list of groups: which events the groups count.
#include "ui/views/groups/state.h"

#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "core/filter/filter.h"
#include "ui/views/filter_line.h"

static void
put_together(struct app *app, struct groups *groups)
{
    const char *both =
        filter_line_both(groups->filter.given, strbuf_text(&groups->filter.text), app_frame(app));
    strbuf_reset(&groups->filter.whole);
    strbuf_add_text(&groups->filter.whole, both ? both : "");
}

void
groups_filter_give(struct app *app, struct groups *groups, const char *term)
{
    groups->filter.given = alloc_text(term);
    groups->filter.is_awaited = true;
    put_together(app, groups);
}

bool
groups_filter(struct app *app, struct groups *groups, struct bytes text, struct err *err)
{
    struct strbuf copy = {0};
    if (!filter_line_read(app, text, &copy, err)) {
        strbuf_release(&copy);
        return false;
    }
    bool is_same = bytes_equal(strbuf_bytes(&copy), strbuf_bytes(&groups->filter.text));
    strbuf_release(&groups->filter.text);
    groups->filter.text = copy;
    put_together(app, groups);
    if (is_same)
        return true;
    groups->filter.is_awaited = true;
    groups->is_selected_only = false;
    if (!group_picks_is_busy(&groups->picks))
        group_picks_release(&groups->picks); // they are of the events before
    groups_ask(app, groups);
    return true;
}

const char *
groups_filter_text(const struct groups *groups)
{
    return groups->filter.whole.len ? strbuf_text(&groups->filter.whole) : NULL;
}

static void
line_changed(struct app *app, void *state, struct bytes text)
{
    struct err err = {0};
    bool ok = groups_filter(app, state, text, &err);
    app_prompt_error(app, ok ? NULL : &err);
}

static bool
line_accepted(struct app *app, void *state, struct bytes text)
{
    struct groups *groups = state;
    struct err err = {0};
    if (groups_filter(app, groups, text, &err)) {
        groups->filter.has_anchor = groups->filter.is_typing = false;
        return true;
    }
    app_prompt_error(app, &err);
    return false;
}

static void
line_cancelled(struct app *app, void *state)
{
    struct groups *groups = state;
    groups->filter.is_typing = false;
    (void)!groups_filter(app, groups, strbuf_bytes(&groups->filter.before), NULL);
}

const char *
groups_filter_candidate(struct app *app, void *state, struct bytes text, size_t i)
{
    const struct groups *groups = state;
    return filter_line_candidate(app, &groups->filter.values, text, i);
}

bool
groups_ask_filter(struct app *app, void *state, enum action action)
{
    (void)action;
    struct groups *groups = state;
    const struct event_group *group = groups_cursor(groups);
    strbuf_reset(&groups->filter.before);
    strbuf_add(&groups->filter.before, strbuf_bytes(&groups->filter.text));
    groups->filter.is_typing = true;
    groups->filter.has_anchor = group != NULL;
    groups->filter.anchor = group ? group->key : 0;
    struct prompt_request request = {
        .label = "/",
        .text = strbuf_text(&groups->filter.text),
        .changed = line_changed,
        .accepted = line_accepted,
        .cancelled = line_cancelled,
        .complete = groups_filter_candidate,
    };
    filter_line_begin(app, &groups->filter.values, &request);
    app_prompt(app, &request);
    return true;
}

const char *
groups_filter_here(const void *state)
{
    const struct groups *groups = state;
    return groups->filter.text.len ? strbuf_text(&groups->filter.text) : "";
}

void
groups_take_filter(struct app *app, void *state, struct bytes text)
{
    (void)!groups_filter(app, state, text, NULL);
}

void
groups_filter_release(struct groups *groups)
{
    free(groups->filter.given);
    strbuf_release(&groups->filter.whole);
    strbuf_release(&groups->filter.text);
    strbuf_release(&groups->filter.before);
    filter_values_release(&groups->filter.values);
}
