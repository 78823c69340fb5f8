// A recipe: its dry run over the frozen events, samples of what would change, and applying it.
#include "ui/views/recipe/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "ui/views/events/events.h"
#include "ui/views/recipe/texts.h"

static const enum action footer[] = {DO_APPLY,       DO_NEXT_SAMPLE, DO_RECIPE_CLASSES,
                                     DO_EDIT_RECIPE, DO_SAVE_RECIPE, DO_SAVED_RECIPES,
                                     DO_REFRESH,     DO_HELP,        DO_NONE};

// --- the run ---

static void
recipe_forget_trial(struct recipe_view *view)
{
    for (int i = 0; i < CORRECT_OUTCOMES; i++)
        free(view->trial.classes[i].ids);
    free(view->trial.departing.ids);
    view->trial = (struct recipe_trial){0};
    arena_release(&view->arena);
}

static void
stop_run(struct app *app, struct recipe_view *view)
{
    if (view->run == RUN_ON)
        app_cancel(app, view->try_number);
    view->try_number = 0;
    view->run = RUN_NONE;
}

static void
run_recipe(struct app *app, struct recipe_view *view)
{
    stop_run(app, view);
    recipe_forget_trial(view);
    err_clear(&view->err);
    view->sample = 0;
    if (view->text.len && !err_is_set(&view->mistake) && view->events.are_known && view->events.count) {
        struct request *request = request_create(REQUEST_RECIPE_TRY);
        request->recipe.text = alloc_text(strbuf_text(&view->text));
        request->id_count = view->events.count;
        request->ids = alloc_array(view->events.count, sizeof *request->ids);
        memcpy(request->ids, view->events.ids, view->events.count * sizeof *request->ids);
        view->trial.of = (int64_t)view->events.count;
        view->run = RUN_ON;
        view->try_number = app_send(app, request);
    }
    recipe_build(view);
    pager_top(view->pager);
}

void
recipe_take_text(struct app *app, struct recipe_view *view, struct bytes text, const char *name)
{
    struct strbuf taken = {0};
    strbuf_add(&taken, text);
    strbuf_release(&view->text);
    view->text = taken;
    if (name) {
        strbuf_reset(&view->name);
        strbuf_add_text(&view->name, name);
    }
    struct recipe *recipe = NULL;
    err_clear(&view->mistake);
    view->operations = 0;
    if (view->text.len && recipe_parse(&recipe, "recipe", strbuf_bytes(&view->text), &view->mistake))
        view->operations = recipe_count(recipe);
    recipe_destroy(recipe);
    run_recipe(app, view);
}

static void
take_trial(struct recipe_view *view, struct reply *reply)
{
    struct recipe_trial before = view->trial;
    int64_t at = view->sample < before.sample_count ? before.samples[view->sample].id : 0;
    bool has_samples = reply->recipe.sample_count > 0 || reply->is_last;
    struct arena kept = view->arena;
    view->arena = (struct arena){0};
    arena_adopt(&view->arena, &reply->arena);
    view->trial = reply->recipe;
    for (int i = 0; i < CORRECT_OUTCOMES; i++)
        reply->recipe.classes[i].ids = NULL;
    reply->recipe.departing.ids = NULL;
    if (has_samples) {
        arena_release(&kept);
    } else { // those that were told before stay
        view->trial.samples = before.samples;
        view->trial.sample_count = before.sample_count;
        arena_adopt(&view->arena, &kept);
    }
    view->run = reply->is_last ? RUN_OVER : RUN_ON;
    view->sample = 0;
    for (size_t i = 0; i < view->trial.sample_count; i++)
        if (view->trial.samples[i].id == at)
            view->sample = i;
    recipe_build(view);
}

// --- what is shown ---

// In place of samples: which operation has the recipe, and how that ended.
static void
build_applied(struct recipe_view *view)
{
    char count[TEXT_SHORT];
    if (view->run != RUN_APPLIED)
        return;
    pager_printf(view->pager, ROLE_STRONG, MSG_APPLIED_TO, view->applied.no,
                 text_count((int64_t)view->events.count, count), view->events.count == 1 ? "" : "s");
    pager_line(view->pager, ROLE_TEXT, bytes_of(MSG_APPLIED_NEXT));
}

// What stands in place of samples; NULL: nothing is missing.
static const char *
recipe_notice(const struct recipe_view *view)
{
    if (view->events.list_number)
        return MSG_COLLECTING_EVENTS;
    if (err_is_set(&view->err))
        return view->err.text;
    if (view->events.are_known && view->events.count == 0)
        return MSG_NO_EVENTS;
    if (view->text.len == 0)
        return MSG_NO_RECIPE;
    return view->run == RUN_OVER && view->trial.sample_count == 0 ? MSG_NOTHING_WOULD_CHANGE : NULL;
}

static void
build_sample(struct recipe_view *view)
{
    const struct recipe_trial *trial = &view->trial;
    if (trial->sample_count == 0)
        return;
    const struct recipe_sample *sample = &trial->samples[view->sample];
    pager_printf(view->pager, ROLE_STRONG, MSG_SAMPLE, view->sample + 1, trial->sample_count, sample->id);
    sample_lines(view->pager, sample);
}

// Why events are left alone: an example of each outcome.
static void
build_reasons(struct recipe_view *view)
{
    static const char *const words[CORRECT_OUTCOMES] = {[CORRECT_CHANGED] = MSG_APPLIES,
                                                        [CORRECT_UNCHANGED] = MSG_UNCHANGED,
                                                        [CORRECT_NOT_APPLICABLE] = MSG_NOT_APPLICABLE,
                                                        [CORRECT_INVALID] = MSG_INVALID,
                                                        [CORRECT_FAILED] = MSG_FAILED,
                                                        [CORRECT_REFUSED] = MSG_REFUSED_BY_CHECK,
                                                        [CORRECT_FORCED] = MSG_FORCED};
    bool has_title = false;
    char count[TEXT_SHORT];
    for (int i = 0; i < CORRECT_OUTCOMES; i++) {
        const struct recipe_class *class = &view->trial.classes[i];
        if (!class->example || i == CORRECT_CHANGED)
            continue;
        if (!has_title)
            pager_section(view->pager, MSG_SECTION_WHY, NULL, false);
        has_title = true;
        pager_printf(view->pager, ROLE_STATUS_WARN, MSG_WHY_EXAMPLE, words[i],
                     text_count(view->trial.tally.counts[i], count), class->example);
    }
}

static void
add_risk(struct recipe_view *view, bool *has_title, int64_t events, const char *sentence)
{
    char count[TEXT_SHORT];
    if (events == 0)
        return;
    if (!*has_title)
        pager_section(view->pager, MSG_SECTION_RISKS, NULL, false);
    *has_title = true;
    pager_printf(view->pager, ROLE_STATUS_WARN, MSG_WARNED, text_count(events, count), sentence);
}

static void
build_risks(struct recipe_view *view)
{
    const struct recipe_trial *trial = &view->trial;
    bool has_title = false;
    struct strbuf again = {0};
    struct strbuf departs = {0};
    if (trial->tally.is_levelled)
        add_risk(view, &has_title, trial->tally.replaced, MSG_LEVELLED);
    strbuf_printf(&again, MSG_AGAIN, trial->tally.again_line);
    add_risk(view, &has_title, trial->tally.again, strbuf_text(&again));
    strbuf_printf(&departs, MSG_DEPARTS_WHY, trial->departing.example ? trial->departing.example : "");
    add_risk(view, &has_title, trial->tally.departs, strbuf_text(&departs));
    strbuf_release(&departs);
    for (unsigned i = 0; i < RECIPE_WARN_COUNT; i++)
        add_risk(view, &has_title, trial->warned[i], recipe_warning_sentence((enum recipe_warning)i));
    add_risk(view, &has_title, trial->tally.inexact, MSG_INEXACT_WHY);
    strbuf_release(&again);
}

// With a mistake: its line is followed by a mark under its column, and the sentence.
static void
build_text(struct recipe_view *view)
{
    struct bytes text = strbuf_bytes(&view->text);
    if (text.len == 0)
        return;
    pager_section(view->pager, MSG_SECTION_RECIPE, NULL, false);
    int line = 1;
    for (size_t at = 0; at < text.len; line++) {
        size_t end = bytes_find(text, BYTES("\n"), at);
        end = end < text.len ? end : text.len;
        bool is_wrong = err_is_set(&view->mistake) && view->mistake.line == line;
        pager_printf(view->pager, is_wrong ? ROLE_STATUS_ERROR : ROLE_TEXT, "%3d  %.*s", line,
                     (int)(end - at), text.data + at);
        if (is_wrong) {
            pager_printf(view->pager, ROLE_STATUS_ERROR, "     %*s^",
                         view->mistake.column > 1 ? view->mistake.column - 1 : 0, "");
            pager_line(view->pager, ROLE_STATUS_ERROR, bytes_of(view->mistake.text));
        }
        at = end + 1;
    }
}

void
recipe_build(struct recipe_view *view)
{
    const char *notice = recipe_notice(view);
    pager_begin(view->pager);
    if (notice)
        pager_line(view->pager, err_is_set(&view->err) ? ROLE_STATUS_ERROR : ROLE_TEXT, bytes_of(notice));
    build_applied(view);
    build_sample(view);
    build_reasons(view);
    build_risks(view);
    build_text(view);
    pager_end(view->pager);
}

// --- actions ---

static bool
recipe_move(struct app *app, void *state, enum action action)
{
    (void)app;
    return pager_handle(((struct recipe_view *)state)->pager, action);
}

static bool
recipe_search_accepted(struct app *app, void *state, struct bytes text)
{
    const struct recipe_view *view = state;
    struct err err = {0};
    if (pager_search(view->pager, text, &err))
        return true;
    app_prompt_error(app, &err);
    return false;
}

static bool
recipe_search(struct app *app, void *state, enum action action)
{
    (void)state;
    (void)action;
    app_prompt(
        app, &(struct prompt_request){.label = "/", .history = "search", .accepted = recipe_search_accepted});
    return true;
}

static bool
step_sample(struct app *app, void *state, enum action action)
{
    struct recipe_view *view = state;
    size_t count = view->trial.sample_count;
    if (count == 0) {
        app_say(app, SAY_INFO, MSG_NO_SAMPLE);
        return true;
    }
    view->sample = (view->sample + (action == DO_NEXT_SAMPLE ? 1 : count - 1)) % count;
    recipe_build(view);
    pager_top(view->pager);
    return true;
}

static bool
can_step(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    return ((const struct recipe_view *)state)->trial.sample_count > 1;
}

static bool
run_again(struct app *app, void *state, enum action action)
{
    (void)action;
    run_recipe(app, state);
    return true;
}

static bool
recipe_copy(struct app *app, void *state, enum action action)
{
    (void)action;
    const struct recipe_view *view = state;
    if (view->text.len)
        app_copy(app, strbuf_bytes(&view->text), "recipe");
    else
        app_say(app, SAY_INFO, MSG_NO_TEXT);
    return true;
}

// Why the recipe cannot be applied now; NULL: it can.
static const char *
why_not_apply(const struct app *app, const struct recipe_view *view)
{
    if (err_is_set(&view->mistake))
        return MSG_MEND_FIRST;
    switch (view->run) {
    case RUN_NONE:
        return view->events.are_known && view->events.count == 0 ? MSG_NO_EVENTS : MSG_NO_RECIPE;
    case RUN_ON:
        return MSG_WAIT_FOR_DRY_RUN;
    case RUN_STOPPED:
        return MSG_RUN_IT_AGAIN;
    case RUN_APPLIED:
        return arena_printf(app_frame(app), MSG_APPLIED_ALREADY, view->applied.no);
    case RUN_OVER:
        break;
    }
    return view->trial.tally.counts[CORRECT_CHANGED] == 0 ? MSG_NOTHING_TO_APPLY : NULL;
}

static bool
apply(struct app *app, void *state, enum action action)
{
    (void)action;
    struct recipe_view *view = state;
    const char *why_not = why_not_apply(app, view);
    if (why_not) {
        app_say(app, SAY_INFO, "%s", why_not);
        return true;
    }
    struct strbuf would = {0};
    correct_tally_describe(&view->trial.tally, &would);
    const struct decide_words words = {
        .what = view->events.what.len ? strbuf_text(&view->events.what) : NULL,
        .filter = view->events.filter.len ? strbuf_text(&view->events.filter) : NULL,
        .group = *view->events.group ? view->events.group : NULL,
        .hidden = view->events.hidden,
        .recipe = strbuf_text(&view->text),
        .would = strbuf_text(&would),
        .refused_by_check = view->trial.tally.counts[CORRECT_REFUSED],
    };
    decide_ids(app, &view->decide, ACTION_CORRECT, view->events.ids, view->events.count, &words);
    strbuf_release(&would);
    return true;
}

static bool
can_apply(const struct app *app, const void *state, enum action action)
{
    (void)action;
    return !why_not_apply(app, state);
}

// The outcomes that have events, as items of a menu.
static const struct {
    enum correct_outcome outcome;
    uint32_t key;
    const char *text;
} class_rows[] = {
    {CORRECT_NOT_APPLICABLE, 'a', MSG_NOT_APPLICABLE},
    {CORRECT_INVALID, 'i', MSG_INVALID},
    {CORRECT_FAILED, 'f', MSG_FAILED},
    {CORRECT_REFUSED, 'r', MSG_REFUSED_BY_CHECK},
    {CORRECT_UNCHANGED, 'u', MSG_UNCHANGED},
    {CORRECT_CHANGED, 'c', MSG_APPLIES},
    {CORRECT_OUTCOMES, 'd', MSG_DEPARTS}, // no outcome: a warning about some of those that change
};
enum { CLASS_ROWS = sizeof class_rows / sizeof *class_rows };

static const struct recipe_class *
class_of(const struct recipe_view *view, size_t row)
{
    enum correct_outcome outcome = class_rows[row].outcome;
    return outcome == CORRECT_OUTCOMES ? &view->trial.departing : &view->trial.classes[outcome];
}

static size_t
class_items(const struct recipe_view *view, struct arena *arena, struct menu_item *items,
            size_t rows[CLASS_ROWS])
{
    size_t count = 0;
    char number[TEXT_SHORT];
    for (size_t i = 0; i < CLASS_ROWS; i++) {
        const struct recipe_class *class = class_of(view, i);
        if (!class->ids || class->count == 0)
            continue;
        items[count] = (struct menu_item){
            .key = class_rows[i].key,
            .text = arena_printf(arena, "%-18s %9s", class_rows[i].text,
                                 text_count((int64_t) class->count, number)),
        };
        rows[count++] = i;
    }
    return count;
}

static void
class_chosen(struct app *app, void *state, size_t index)
{
    const struct recipe_view *view = state;
    struct menu_item items[CLASS_ROWS];
    size_t rows[CLASS_ROWS];
    if (index >= class_items(view, app_frame(app), items, rows))
        return;
    const struct recipe_class *class = class_of(view, rows[index]);
    app_open(
        app, &view_events,
        &(struct events_argument){.query = {.source = LIST_IDS, .ids = class->ids, .id_count = class->count},
                                  .title = class_rows[rows[index]].text});
}

static bool
ask_class(struct app *app, void *state, enum action action)
{
    (void)action;
    struct menu_item items[CLASS_ROWS];
    size_t rows[CLASS_ROWS];
    size_t count = class_items(state, app_frame(app), items, rows);
    if (count == 0)
        app_say(app, SAY_INFO, MSG_NO_CLASS);
    else
        app_menu(app, &(struct menu_request){
                          .title = "List", .items = items, .count = count, .chosen = class_chosen});
    return true;
}

static bool
can_list(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    return ((const struct recipe_view *)state)->run == RUN_OVER;
}

static bool
can_save(const struct app *app, const void *state, enum action action)
{
    (void)app;
    (void)action;
    const struct recipe_view *view = state;
    return view->text.len > 0 && !err_is_set(&view->mistake);
}

static bool
recipe_undo(struct app *app, void *state, enum action action)
{
    (void)action;
    decide_undo(app, &((struct recipe_view *)state)->decide);
    return true;
}

static bool
recipe_close_key(struct app *app, void *state, enum action action)
{
    if (!recipe_leave(app, state, action))
        app_back(app);
    return true;
}

static const struct view_action actions[] = {
    {.action = DO_APPLY, .run = apply, .is_possible = can_apply},
    {.action = DO_NEXT_SAMPLE, .run = step_sample, .is_possible = can_step},
    {.action = DO_PREVIOUS_SAMPLE, .run = step_sample, .is_possible = can_step},
    {.action = DO_RECIPE_CLASSES, .run = ask_class, .is_possible = can_list},
    {.action = DO_EDIT_RECIPE, .run = recipe_ask_line},
    {.action = DO_SAVE_RECIPE, .run = recipe_ask_name, .is_possible = can_save},
    {.action = DO_SAVED_RECIPES, .run = recipe_ask_saved},
    {.action = DO_UNDO, .run = recipe_undo},
    {.action = DO_REFRESH, .run = run_again},
    {.action = DO_COPY, .run = recipe_copy},
    {.action = DO_SEARCH, .run = recipe_search},
    {.part = pager_handles, .run = recipe_move},
    {.action = DO_BACK, .run = recipe_leave},
    {.action = DO_CLOSE, .run = recipe_close_key},
    {0},
};

// --- events ---

static void
freeze_events(struct app *app, struct recipe_view *view)
{
    view->events.count = ids_normalise(view->events.ids, view->events.count);
    view->events.are_known = true;
    run_recipe(app, view);
}

static void
take_events(struct app *app, struct recipe_view *view, const struct reply *reply)
{
    struct recipe_events *events = &view->events;
    if (reply->kind != REPLY_LIST) {
        events->list_number = 0;
        view->err = reply->err;
        if (reply->err.kind == ERR_CANCELLED)
            app_say(app, SAY_INFO, MSG_COLLECT_STOPPED);
        recipe_build(view);
        return;
    }
    if (reply->list.is_new_available)
        return; // later than the list
    if (reply->list.is_first)
        events->count = 0;
    for (size_t i = 0; i < reply->list.count; i++) {
        events->ids = alloc_grow(events->ids, events->count, &events->capacity, sizeof *events->ids);
        events->ids[events->count++] = reply->list.ids[i];
    }
    if (!reply->is_last)
        return;
    char undecided[TEXT_SHORT];
    if (reply->list.undecided)
        strbuf_printf(&events->what, MSG_UNDECIDED_LEFT_OUT, text_count(reply->list.undecided, undecided));
    events->list_number = 0;
    freeze_events(app, view);
}

static void
take_failure(struct recipe_view *view, const struct err *err)
{
    view->run = RUN_STOPPED;
    if (err->kind != ERR_CANCELLED)
        view->err = *err;
    recipe_build(view);
}

// From now on the counts of the dry run are those of before.
static void
take_confirmed(struct app *app, struct recipe_view *view, const struct reply *reply)
{
    stop_run(app, view);
    recipe_forget_trial(view);
    view->run = RUN_APPLIED;
    view->is_typed = false;
    view->applied.no = reply->operations.count ? reply->operations.list[0].no : reply->news.operation;
    strbuf_reset(&view->applied.end);
    recipe_build(view);
    pager_top(view->pager);
}

static bool
take_end(struct recipe_view *view, const struct reply *reply)
{
    if (reply->kind != REPLY_NEWS || view->run != RUN_APPLIED || reply->news.operation != view->applied.no ||
        !reply->news.sentence)
        return false;
    strbuf_reset(&view->applied.end);
    strbuf_add_text(&view->applied.end, reply->news.sentence);
    return true;
}

static bool
recipe_receive(struct app *app, void *state, struct reply *reply)
{
    struct recipe_view *view = state;
    if (reply->kind == REPLY_CONFIRMED && reply->number == view->decide.confirm_number &&
        !view->decide.undoes)
        take_confirmed(app, view, reply);
    if (decide_receive(app, &view->decide, reply) || recipe_saved_receive(app, view, reply))
        return true;
    if (!reply->number)
        return take_end(view, reply);
    if (reply->number == view->events.list_number)
        take_events(app, view, reply);
    else if (reply->number == view->try_number && reply->kind == REPLY_RECIPE)
        take_trial(view, reply);
    else if (reply->number == view->try_number)
        take_failure(view, &reply->err);
    else
        return false;
    return true;
}

// --- the view ---

static void
take_argument(struct app *app, struct recipe_view *view, const struct recipe_argument *given)
{
    struct recipe_events *events = &view->events;
    const struct decide_words none = {0};
    const struct decide_words *words = given->words ? given->words : &none;
    if (words->what)
        strbuf_add_text(&events->what, words->what);
    if (words->filter)
        strbuf_add_text(&events->filter, words->filter);
    if (words->group)
        snprintf(events->group, sizeof events->group, "%s", words->group);
    events->hidden = words->hidden;
    if (given->list) {
        struct request *request = request_create(REQUEST_COLLECT);
        request->list = list_query_copy(given->list);
        events->list_number = app_send(app, request);
        return;
    }
    events->capacity = given->count + 1;
    events->ids = alloc_array(events->capacity, sizeof *events->ids);
    if (given->count)
        memcpy(events->ids, given->ids, given->count * sizeof *events->ids);
    events->count = ids_normalise(events->ids, given->count);
    events->are_known = true;
}

static void *
recipe_open(struct app *app, const void *argument)
{
    const struct recipe_argument *given = argument;
    struct recipe_view *view = alloc_bytes(sizeof *view);
    view->pager = pager_create();
    pager_set_ascii(view->pager, app_config(app)->is_ascii);
    take_argument(app, view, given);
    recipe_take_text(app, view, bytes_of(given->text ? given->text : ""), given->name);
    view->saved.asks = !given->text;
    recipe_saved_ask_list(app, view);
    return view;
}

static void
recipe_close(struct app *app, void *state)
{
    struct recipe_view *view = state;
    stop_run(app, view);
    if (view->events.list_number)
        app_cancel(app, view->events.list_number);
    recipe_forget_trial(view);
    decide_release(&view->decide);
    free(view->events.ids);
    strbuf_release(&view->events.what);
    strbuf_release(&view->events.filter);
    strbuf_release(&view->text);
    strbuf_release(&view->name);
    strbuf_release(&view->wanted_name);
    strbuf_release(&view->applied.end);
    arena_release(&view->saved.arena);
    pager_destroy(view->pager);
    free(view);
}

static bool
recipe_crumb(const struct app *app, const void *state, int i, struct strbuf *out)
{
    (void)app;
    const struct recipe_view *view = state;
    if (i > 0)
        return false;
    strbuf_add_text(out, "recipe");
    if (view->name.len)
        strbuf_printf(out, " %s", strbuf_text(&view->name));
    return true;
}

static void
recipe_layout(struct app *app, void *state, const struct view_areas *areas)
{
    const struct recipe_view *view = state;
    pager_layout(view->pager, recipe_pager_area(app, view, areas->body));
}

bool
recipe_open_selection(struct app *app, const char *text, const int64_t *shown, size_t shown_count)
{
    const struct selection *selection = app_selection(app);
    if (selection->count == 0)
        return false;
    const struct decide_words words = {.hidden = shown ? selection_hidden(selection, shown, shown_count) : 0};
    app_open(app, &view_recipe,
             &(struct recipe_argument){
                 .text = text, .ids = selection->ids, .count = selection->count, .words = &words});
    return true;
}

const struct view view_recipe = {
    .name = "recipe",
    .context = CONTEXT_VIEW_recipe,
    .actions = actions,
    .footer = footer,
    .open = recipe_open,
    .close = recipe_close,
    .receive = recipe_receive,
    .crumb = recipe_crumb,
    .draw = recipe_draw,
    .layout = recipe_layout,
    .unsaved = recipe_unsaved,
};
