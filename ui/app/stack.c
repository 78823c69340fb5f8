// The views on top of each other: five places, each with what was opened from it.
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "ui/app/private.h"
#include "ui/app/texts.h"

struct instance *
app_top(const struct app *app)
{
    const struct stack *stack = &app->stacks.places[app->stacks.place];
    return stack->depth ? stack->views[stack->depth - 1] : NULL;
}

const struct view *
app_find_view(const struct app *app, const char *name)
{
    for (int i = 0; i < app->config->view_count; i++)
        if (strcmp(app->config->views[i].view->name, name) == 0)
            return app->config->views[i].view;
    return NULL;
}

static const struct view *
view_of_place(const struct app *app, int place)
{
    for (int i = 0; i < app->config->view_count; i++)
        if (app->config->views[i].place == place)
            return app->config->views[i].view;
    return NULL;
}

static void
push(struct app *app, int place, const struct view *view, const void *argument)
{
    struct stack *stack = &app->stacks.places[place];
    if (stack->depth == STACK_DEPTH) {
        app_say(app, SAY_WARN, MSG_TOO_DEEP, STACK_DEPTH);
        return;
    }
    struct instance *instance = alloc_bytes(sizeof *instance);
    instance->view = view;
    instance->opened_at = clock_mono();
    stack->views[stack->depth++] = instance;
    app->stacks.place = place;
    app_redraw(app);
    if (view->open)
        AS_CALLER(app, instance, instance->state = view->open(app, argument));
}

// Closes the menu, prompt and dialog of the instance with it.
static void
destroy(struct app *app, struct instance *instance)
{
    if (app->windows.prompt_owner == instance)
        app_prompt_close(app);
    if (app->windows.dialog_owner == instance)
        app_dialog_close(app);
    if (app->windows.menu.owner == instance)
        app_close_menu(app);
    if (app->program_owner == instance)
        app->program_owner = NULL;
    if (instance->view->close)
        AS_CALLER(app, instance, instance->view->close(app, instance->state));
    app_forget_asker(app, instance);
    free(instance);
}

static void
pop(struct app *app, int place)
{
    struct stack *stack = &app->stacks.places[place];
    struct instance *instance = stack->views[--stack->depth];
    destroy(app, instance);
    if (app->stacks.caller == instance)
        app->stacks.caller = NULL;
    app_redraw(app);
}

static void
app_stack_show(struct app *app)
{
    struct instance *top = app_top(app);
    app_redraw(app);
    app->keys.pending.count = 0;
    if (top && top->view->shown)
        AS_CALLER(app, top, top->view->shown(app, top->state));
}

void
app_close_all(struct app *app)
{
    for (int place = 1; place <= PLACES; place++)
        while (app->stacks.places[place].depth > 0)
            pop(app, place);
}

void
app_open_place(struct app *app, int place)
{
    const struct view *view = view_of_place(app, place);
    if (view)
        push(app, place, view, NULL);
}

void
app_open(struct app *app, const struct view *view, const void *argument)
{
    app_close_menu(app);
    push(app, app->stacks.place, view, argument);
}

void
app_back(struct app *app)
{
    if (app->stacks.places[app->stacks.place].depth < 2)
        return;
    pop(app, app->stacks.place);
    app_stack_show(app);
}

// Closes what was opened above the first view of this place, down to one that holds something unsaved.
static void
to_first_view(struct app *app)
{
    struct stack *stack = &app->stacks.places[app->stacks.place];
    const char *why = NULL;
    if (stack->depth < 2)
        return;
    while (stack->depth > 1 && !why) {
        const struct instance *top = stack->views[stack->depth - 1];
        why = top->view->unsaved ? top->view->unsaved(app, top->state) : NULL;
        if (!why)
            pop(app, app->stacks.place);
    }
    app_stack_show(app);
    if (why)
        app_say(app, SAY_WARN, "%s", why);
}

// The filter of a view about events goes along to the first view of another place that is about events too.
void
app_carry_filter(struct app *app, const char *filter)
{
    const struct stack *stack = &app->stacks.places[app->stacks.place];
    struct instance *top = app_top(app);
    if (filter && stack->depth == 1 && top->view->take_filter)
        AS_CALLER(app, top, top->view->take_filter(app, top->state, bytes_of(filter)));
}

static const char *
filter_here(const struct app *app)
{
    const struct instance *top = app_top(app);
    return top && top->view->filter ? arena_text(app_frame(app), bytes_of(top->view->filter(top->state)))
                                    : NULL;
}

void
app_go(struct app *app, int place)
{
    if (place == app->stacks.place) {
        to_first_view(app);
        return;
    }
    if (!view_of_place(app, place)) {
        app_say(app, SAY_INFO, MSG_NO_PLACE, place);
        return;
    }
    const char *filter = filter_here(app);
    app->stacks.last_place = app->stacks.place;
    app_close_menu(app);
    if (app->stacks.places[place].depth == 0) {
        app_open_place(app, place);
        if (filter && *filter) // else the one that the program was started with stays
            app_carry_filter(app, filter);
        return;
    }
    app->stacks.place = place;
    app_carry_filter(app, filter);
    app_stack_show(app);
}

void *
app_below(struct app *app, const struct view *view)
{
    const struct stack *stack = &app->stacks.places[app->stacks.place];
    if (stack->depth < 2 || stack->views[stack->depth - 2]->view != view)
        return NULL;
    return stack->views[stack->depth - 2]->state;
}

// The i-th open view of all places, or NULL.
static struct instance *
app_instance(const struct app *app, int i)
{
    for (int place = 1; place <= PLACES; place++) {
        if (i < app->stacks.places[place].depth)
            return app->stacks.places[place].views[i];
        i -= app->stacks.places[place].depth;
    }
    return NULL;
}

static int64_t
app_due_of(const struct instance *instance)
{
    return instance->view->due ? instance->view->due(instance->state) : -1;
}

void
app_tick(struct app *app)
{
    struct instance *instance;
    for (int i = 0; (instance = app_instance(app, i)); i++) {
        int64_t due = app_due_of(instance);
        if (due >= 0 && due <= clock_mono())
            AS_CALLER(app, instance, instance->view->tick(app, instance->state));
    }
}

int64_t
app_due_after(const struct app *app)
{
    const struct instance *instance;
    int64_t first = -1;
    for (int i = 0; (instance = app_instance(app, i)); i++) {
        int64_t due = app_due_of(instance);
        if (due >= 0 && (first < 0 || due < first))
            first = due;
    }
    int64_t left = first - clock_mono();
    return first < 0 ? -1 : left > 0 ? left : 0;
}

const char *
app_unsaved(const struct app *app)
{
    const struct instance *instance;
    const char *why = NULL;
    for (int i = 0; !why && (instance = app_instance(app, i)); i++)
        if (instance->view->unsaved)
            why = instance->view->unsaved(app, instance->state);
    return why;
}
