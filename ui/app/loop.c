// The loop: waits for the terminal, replies and signals, handles all of them, draws once.
#include <errno.h>
#include <poll.h>
#include <unistd.h>
#include "base/clock.h"
#include "ui/app/private.h"
#include "ui/term/term.h"

#define RECEIVE_BUDGET 4000 // µs of replies between two looks at the keyboard
#define TOUCHES 512         // most events in one turn

// The byte that tests read: what happened since the loop was idle last.
enum loop_news { NEWS_TICK = 't', NEWS_REPLY = 'r', NEWS_KEY = 'k' };

struct loop {
    struct app *app;
    struct term *term;
    char news;
    bool has_more; // keys that were read and not yet handled
    int status;
};

static void
fit_size(struct loop *loop)
{
    int rows, cols;
    term_size(loop->term, &rows, &cols);
    app_resize(loop->app, rows, cols);
}

static void
handle_input(struct loop *loop, const struct input_event *input)
{
    loop->news = NEWS_KEY;
    switch (input->kind) {
    case INPUT_KEY:
        app_pace(loop->app);
        app_key(loop->app, input->key);
        break;
    case INPUT_PASTE:
        app_paste(loop->app, input->paste);
        break;
    case INPUT_MOUSE:
        app_mouse(loop->app, input->button, input->row, input->col);
        break;
    case INPUT_BACKGROUND:
        app_take_background(loop->app, input->is_light);
        break;
    }
}

static void
suspend(struct loop *loop)
{
    term_suspend(loop->term);
    fit_size(loop);
    app_redraw(loop->app);
    if (app_is_stale(loop->app))
        app_post(loop->app, REQUEST_RECONNECT, true);
}

static void
handle_event(struct loop *loop, const struct term_event *event)
{
    switch (event->kind) {
    case TERM_NOTHING:
        break;
    case TERM_INPUT:
        handle_input(loop, &event->input);
        break;
    case TERM_SUSPEND:
        suspend(loop);
        break;
    case TERM_RESIZED:
    case TERM_RESUMED:
        loop->news = NEWS_KEY;
        fit_size(loop);
        app_redraw(loop->app);
        break;
    case TERM_GONE:
        loop->status = 1;
        app_quit(loop->app);
        break;
    }
}

// Carries out what a key or a reply asked of the terminal.
static void
serve_wishes(struct loop *loop)
{
    struct app *app = loop->app;
    if (app_wants(app, WISH_FLUSH))
        term_flush_input(loop->term);
    if (app_wants(app, WISH_THEME))
        term_set_theme(loop->term, app_theme(app));
    if (app_wants(app, WISH_REPAINT))
        term_repaint(loop->term);
    if (app_wants(app, WISH_COPY))
        term_copy(loop->term, app_copied(app));
    term_set_mouse(loop->term, app_takes_mouse(app));
    if (app_wants(app, WISH_RUN)) {
        int status = term_run(loop->term, app_program(app)->command, app_program(app)->file);
        fit_size(loop);
        app_program_ended(app, status);
    }
    if (app_wants(app, WISH_SUSPEND))
        suspend(loop);
}

static void
take_keys(struct loop *loop)
{
    struct term_event event;
    int i = 0;
    for (; i < TOUCHES && !app_is_over(loop->app) && term_next(loop->term, &event); i++) {
        handle_event(loop, &event);
        serve_wishes(loop);
    }
    loop->has_more = i == TOUCHES;
}

static int
timeout_ms(const struct loop *loop)
{
    int64_t wake = app_wake_after(loop->app);
    int64_t key = loop->has_more ? 0 : term_delay(loop->term);
    if (wake < 0 || (key >= 0 && key < wake))
        wake = key;
    return wake < 0 ? -1 : (int)((wake + 999) / 1000);
}

static void
tell_idle(struct loop *loop)
{
    if (!loop->news || loop->has_more || !app_is_idle(loop->app) || loop->app->config->idle_fd < 0)
        return;
    (void)!write(loop->app->config->idle_fd, &loop->news, 1);
    loop->news = 0;
}

static void
wait_for_news(struct loop *loop)
{
    const struct app_config *config = loop->app->config;
    struct pollfd fds[3] = {
        {.fd = term_input_fd(loop->term), .events = POLLIN},
        {.fd = term_signal_fd(loop->term), .events = POLLIN},
        {.fd = config->replies ? mailbox_fd(config->replies) : -1, .events = POLLIN},
    };
    int ready = poll(fds, 3, timeout_ms(loop));
    if (ready == 0 && app_wake_after(loop->app) == 0) {
        app_redraw(loop->app);
        loop->news = loop->news ? loop->news : NEWS_TICK;
    }
}

int
app_run(struct app *app, struct term *term)
{
    struct loop loop = {.app = app, .term = term, .news = NEWS_REPLY};
    term_set_theme(term, app_theme(app));
    if (app_follows_background(app))
        term_ask_background(term);
    fit_size(&loop);
    while (!app_is_over(app)) {
        take_keys(&loop);
        if (app_receive(app, RECEIVE_BUDGET))
            loop.news = loop.news == NEWS_KEY ? NEWS_KEY : NEWS_REPLY;
        serve_wishes(&loop); // a dialog that a reply opened throws away what was typed before it, never after
        if (app_is_over(app))
            break;
        app_tick(app);
        if (app_needs_draw(app) && !app_holds_back(app))
            term_present(term, app_draw(app));
        tell_idle(&loop);
        wait_for_news(&loop);
    }
    return loop.status;
}
