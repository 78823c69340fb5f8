#include "ui/app/script.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/utf8.h"
#include "ui/keymap/key.h"
#include "ui/theme/svg.h"

#define PATIENCE (60 * US_PER_SECOND)
#define BUDGET 4000

struct script {
    struct app *app;
    const struct script_follow *follow;
    int rows, cols;
    const char *out;
    struct err *err;
    const struct canvas *canvas; // as drawn last
};

// One turn; draws, since views ask for rows when they are laid out.
static void
script_turn(struct script *script)
{
    (void)app_receive(script->app, BUDGET);
    app_tick(script->app);
    script->canvas = app_draw(script->app);
    if (app_wants(script->app, WISH_RUN))
        app_program_ended(script->app, -1);
    (void)app_wants(script->app, WISH_ANY);
}

static bool
shows(struct script *script, const char *text)
{
    struct strbuf picture = {0};
    canvas_to_text(script->canvas, &picture);
    bool is_there = bytes_find(strbuf_bytes(&picture), bytes_of(text), 0) != SIZE_MAX;
    strbuf_release(&picture);
    return is_there;
}

static void
sleep_for_news(struct script *script)
{
    const struct app_config *config = app_config(script->app);
    struct pollfd fd = {.fd = config->replies ? mailbox_fd(config->replies) : -1, .events = POLLIN};
    int64_t wake = app_wake_after(script->app);
    int ms = wake < 0 || wake > 100000 ? 100 : (int)((wake + 999) / 1000);
    if (poll(&fd, 1, ms) == 0 && wake >= 0)
        app_redraw(script->app);
}

// After a change of the connection another app is there, of the same size.
static bool
script_goes_on(struct script *script)
{
    size_t connection;
    if (!app_is_over(script->app) || !app_is_leaving_for(script->app, &connection) || !script->follow)
        return true;
    script->app = script->follow->follow(script->follow->context, script->err);
    if (!script->app) {
        script->canvas = NULL; // it was the other one's
        return false;
    }
    app_resize(script->app, script->rows, script->cols);
    script_turn(script);
    return true;
}

static bool
script_settle(struct script *script)
{
    int64_t until = clock_mono() + PATIENCE;
    script_turn(script);
    if (!script_goes_on(script))
        return false;
    while ((!app_is_idle(script->app) || app_is_working(script->app)) && !app_is_over(script->app)) {
        if (clock_mono() >= until)
            return err_set(script->err, ERR_INTERNAL, "something is still outstanding after a minute");
        sleep_for_news(script);
        script_turn(script);
        if (!script_goes_on(script))
            return false;
    }
    return true;
}

static bool
run_wait(struct script *script, const char *argument)
{
    (void)argument;
    return script_settle(script);
}

static bool
run_await(struct script *script, const char *text)
{
    int64_t until = clock_mono() + PATIENCE;
    script_turn(script);
    while (!shows(script, text)) {
        if (clock_mono() >= until)
            return err_set(script->err, ERR_DATA, "the screen does not show \"%s\" within a minute", text);
        sleep_for_news(script);
        script_turn(script);
        if (!script_goes_on(script))
            return false;
    }
    return script_settle(script);
}

static bool
run_expect(struct script *script, const char *text)
{
    return shows(script, text) || err_set(script->err, ERR_DATA, "the screen does not show \"%s\"", text);
}

static bool
run_reject(struct script *script, const char *text)
{
    return !shows(script, text) || err_set(script->err, ERR_DATA, "the screen shows \"%s\"", text);
}

static bool
run_size(struct script *script, const char *text)
{
    struct bytes size = bytes_of(text);
    size_t x = bytes_find(size, BYTES("x"), 0);
    int64_t rows = 0, cols = 0;
    if (x == SIZE_MAX || !text_parse_int(bytes_slice(size, 0, x), &cols, NULL) ||
        !text_parse_int(bytes_slice(size, x + 1, SIZE_MAX), &rows, NULL) || rows < 1 || cols < 1 ||
        rows > 999 || cols > 999)
        return err_set(script->err, ERR_USAGE, "a size is like 120x40");
    script->rows = (int)rows;
    script->cols = (int)cols;
    app_resize(script->app, script->rows, script->cols);
    return script_settle(script);
}

static bool
run_keys(struct script *script, const char *text)
{
    size_t at = 0;
    uint32_t key;
    while (!app_is_over(script->app) && key_parse_next(bytes_of(text), &at, &key, script->err)) {
        app_key(script->app, key);
        script_turn(script);
    }
    return !err_is_set(script->err) && script_settle(script);
}

static bool
run_type(struct script *script, const char *text)
{
    struct bytes bytes = bytes_of(text);
    for (size_t at = 0; at < bytes.len;) {
        uint32_t point;
        at += utf8_decode(bytes, at, &point);
        app_key(script->app, point);
        script_turn(script);
    }
    return script_settle(script);
}

static bool
run_paste(struct script *script, const char *text)
{
    app_paste(script->app, bytes_of(text));
    return script_settle(script);
}

static bool
write_file(struct script *script, const char *name, const char *suffix, const struct strbuf *text)
{
    char path[512];
    if (!script->out)
        return fwrite(text->data, 1, text->len, stdout) == text->len;
    snprintf(path, sizeof path, "%s/%s%s", script->out, name, suffix);
    FILE *file = fopen(path, "we");
    if (!file)
        return err_set(script->err, ERR_USAGE, "%s cannot be written: %s", path, strerror(errno));
    bool ok = fwrite(strbuf_text(text), 1, text->len, file) == text->len;
    ok = fclose(file) == 0 && ok;
    return ok || err_set(script->err, ERR_USAGE, "%s cannot be written", path);
}

static bool
run_save(struct script *script, const char *name)
{
    struct strbuf text = {0};
    canvas_to_text(script->canvas, &text);
    bool ok = write_file(script, name, ".txt", &text);
    strbuf_release(&text);
    return ok;
}

static bool
run_roles(struct script *script, const char *name)
{
    struct strbuf text = {0};
    canvas_to_roles(script->canvas, &text);
    bool ok = write_file(script, name, ".roles", &text);
    strbuf_release(&text);
    return ok;
}

static bool
run_svg(struct script *script, const char *name)
{
    struct strbuf text = {0};
    svg_add(script->canvas, app_theme(script->app), name, &text);
    bool ok = write_file(script, name, ".svg", &text);
    strbuf_release(&text);
    return ok;
}

static const struct {
    const char *word;
    bool (*run)(struct script *script, const char *argument);
} commands[] = {
    {"size", run_size},     {"keys", run_keys},     {"type", run_type}, {"paste", run_paste},
    {"wait", run_wait},     {"await", run_await},   {"save", run_save}, {"roles", run_roles},
    {"expect", run_expect}, {"reject", run_reject}, {"svg", run_svg},
};

static bool
run_line(struct script *script, char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
    if (!*line || *line == '#')
        return true;
    size_t len = strcspn(line, " ");
    const char *argument = line[len] ? line + len + 1 : "";
    line[len] = '\0';
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(line, commands[i].word) == 0)
            return commands[i].run(script, argument);
    return err_set(script->err, ERR_USAGE, "there is no command \"%s\"", line);
}

bool
script_run(struct app *app, const struct script_follow *follow, const char *path, const char *out,
           struct err *err)
{
    struct err trouble = {0};
    struct script script = {
        .app = app, .follow = follow, .rows = 24, .cols = 80, .out = out, .err = err ? err : &trouble};
    FILE *file = fopen(path, "re");
    if (!file)
        return err_set(err, ERR_USAGE, "the script %s cannot be read: %s", path, strerror(errno));
    app_resize(app, script.rows, script.cols);
    bool ok = script_settle(&script);
    char *line = NULL;
    size_t capacity = 0;
    int number = 0;
    while (ok && getline(&line, &capacity, file) > 0) {
        number++;
        ok = run_line(&script, line);
    }
    if (!ok) {
        (void)err_context(script.err, "%s:%d", path, number);
        struct err unheard = {0};
        script.err = &unheard;
        if (script.canvas)
            (void)run_save(&script, "FAILED");
    }
    free(line);
    (void)fclose(file);
    return ok;
}
