#include "tests/terminal/vt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vterm.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "ui/keymap/key.h"

#define PATIENCE_MS 30000
#define QUIET_MS 3 // what the kernel needs to hand over what was written before the idle byte

struct vt {
    int master; // -1 after a hang-up
    int idle;   // read end
    pid_t pid;
    int status; // of waitpid, once has_ended
    bool has_ended;
    int rows, cols;
    VTerm *term;
    VTermScreen *screen;
    struct strbuf output;
    struct strbuf text;
    bool is_alternate, is_bracketed;
    char news; // last idle byte that was not waited for
};

static int
on_property(VTermProp property, VTermValue *value, void *user)
{
    struct vt *vt = user;
    if (property == VTERM_PROP_ALTSCREEN)
        vt->is_alternate = value->boolean;
    return 1;
}

static const VTermScreenCallbacks callbacks = {.settermprop = on_property};

static void
set_environment(const struct vt_setup *setup, int idle)
{
    char fd[16];
    snprintf(fd, sizeof fd, "%d", idle);
    static const char *const removed[] = {"LC_ALL", "LC_CTYPE", "NO_COLOR", "COLORTERM", "TMUX",
                                          "STY",    "ESCDELAY", "LINES",    "COLUMNS"};
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        unsetenv(removed[i]);
    setenv("TERM", "xterm-256color", 1);
    setenv("LANG", "C.UTF-8", 1);
    setenv("TZ", "UTC", 1);
    setenv("REDRIVE_TEST_FD", fd, 1);
    for (const char *const *entry = setup->env; entry && *entry; entry++) {
        char name[128];
        const char *equals = strchr(*entry, '=');
        snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - *entry) : (int)strlen(*entry), *entry);
        if (equals)
            setenv(name, equals + 1, 1);
        else
            unsetenv(name);
    }
}

static _Noreturn void
run_child(const struct vt_setup *setup, int idle)
{
    set_environment(setup, idle);
    if (setup->run) {
        int status = setup->run(setup->context);
        (void)fflush(NULL);
        _exit(status); // without the leak check: what the parent had on its heap is not the child's
    }
    // execv takes the texts without const and does not change them.
    execv(setup->argv[0], (char *const *)(uintptr_t)setup->argv);
    fprintf(stderr, "%s: %s\n", setup->argv[0], strerror(errno));
    _exit(127);
}

static void
answer(const char *bytes, size_t len, void *context)
{
    const struct vt *vt = context;
    (void)!write(vt->master, bytes, len);
}

struct vt *
vt_start(const struct vt_setup *setup)
{
    struct vt *vt = alloc_bytes(sizeof *vt);
    vt->rows = setup->rows ? setup->rows : 24;
    vt->cols = setup->cols ? setup->cols : 80;
    int ends[2];
    if (pipe(ends) != 0)
        die("no pipe for a test");
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    struct winsize size = {.ws_row = (unsigned short)vt->rows, .ws_col = (unsigned short)vt->cols};
    vt->pid = forkpty(&vt->master, NULL, NULL, &size);
    if (vt->pid < 0)
        die("no pseudo terminal for a test");
    if (vt->pid == 0) {
        close(ends[0]);
        run_child(setup, ends[1]);
    }
    close(ends[1]);
    vt->idle = ends[0];
    (void)fcntl(vt->master, F_SETFD, FD_CLOEXEC);

    vt->term = vterm_new(vt->rows, vt->cols);
    vterm_set_utf8(vt->term, 1);
    vt->screen = vterm_obtain_screen(vt->term);
    vterm_screen_set_callbacks(vt->screen, &callbacks, vt);
    if (setup->answers)
        vterm_output_set_callback(vt->term, answer, vt);
    vterm_screen_enable_altscreen(vt->screen, 1);
    vterm_screen_reset(vt->screen, 1);
    return vt;
}

void
vt_end(struct vt *vt)
{
    if (!vt)
        return;
    if (!vt->has_ended) {
        (void)kill(vt->pid, SIGKILL);
        (void)kill(vt->pid, SIGCONT);
        (void)waitpid(vt->pid, NULL, 0);
    }
    if (vt->master >= 0)
        close(vt->master);
    close(vt->idle);
    vterm_free(vt->term);
    strbuf_release(&vt->output);
    strbuf_release(&vt->text);
    free(vt);
}

// libvterm keeps mode 2004 to itself.
static void
watch_modes(struct vt *vt, struct bytes bytes)
{
    size_t on = bytes_find_last(bytes, BYTES("\033[?2004h"));
    size_t off = bytes_find_last(bytes, BYTES("\033[?2004l"));
    if (on != SIZE_MAX && (off == SIZE_MAX || on > off))
        vt->is_bracketed = true;
    else if (off != SIZE_MAX)
        vt->is_bracketed = false;
}

static bool
read_master(struct vt *vt)
{
    char part[8192];
    ssize_t len = read(vt->master, part, sizeof part);
    if (len <= 0)
        return false;
    struct bytes bytes = {part, (size_t)len};
    watch_modes(vt, bytes);
    strbuf_add(&vt->output, bytes);
    (void)vterm_input_write(vt->term, part, (size_t)len);
    return true;
}

// Reads whatever comes within ms; true when an idle byte was among it (then *news is the last of them).
static bool
pump(struct vt *vt, int ms, char *news)
{
    struct pollfd fds[2] = {{.fd = vt->master, .events = POLLIN}, {.fd = vt->idle, .events = POLLIN}};
    if (poll(fds, 2, ms) <= 0)
        return false;
    if (fds[0].revents & (POLLIN | POLLHUP) && vt->master >= 0 && !read_master(vt)) {
        close(vt->master);
        vt->master = -1;
    }
    bool has_news = false;
    char bytes[64];
    ssize_t len = fds[1].revents & POLLIN ? read(vt->idle, bytes, sizeof bytes) : 0;
    for (ssize_t i = 0; i < len; i++) {
        has_news = true;
        if (*news != 'k')
            *news = bytes[i];
    }
    return has_news;
}

static void
drain(struct vt *vt)
{
    char news = 0;
    struct pollfd ready = {.fd = vt->master, .events = POLLIN};
    while (vt->master >= 0 && poll(&ready, 1, QUIET_MS) > 0)
        (void)pump(vt, 0, &news);
}

static bool
wait_news(struct vt *vt, bool for_key)
{
    int64_t until = clock_mono() + PATIENCE_MS * 1000LL;
    while (clock_mono() < until && vt->master >= 0) {
        char news = 0;
        if (pump(vt, 50, &news) && (!for_key || news == 'k')) {
            drain(vt);
            return true;
        }
    }
    return false;
}

bool
vt_wait_idle(struct vt *vt)
{
    return wait_news(vt, false);
}

bool
vt_wait_text(struct vt *vt, const char *text)
{
    int64_t until = clock_mono() + PATIENCE_MS * 1000LL;
    for (;;) {
        if (vt_shows(vt, text))
            return true;
        char news = 0;
        if (clock_mono() >= until || vt->master < 0)
            return false;
        (void)pump(vt, 20, &news);
    }
}

bool
vt_run(struct vt *vt, int ms)
{
    int64_t until = clock_mono() + ms * 1000LL;
    char news = 0;
    while (clock_mono() < until && vt->master >= 0)
        (void)pump(vt, (int)((until - clock_mono()) / 1000) + 1, &news);
    return vt->master >= 0;
}

bool
vt_read(struct vt *vt, int ms)
{
    char news = 0;
    (void)pump(vt, ms, &news);
    return vt->master >= 0;
}

void
vt_bytes(struct vt *vt, struct bytes bytes)
{
    for (size_t at = 0; at < bytes.len && vt->master >= 0;) {
        ssize_t written = write(vt->master, bytes.data + at, bytes.len - at);
        if (written <= 0)
            return;
        at += (size_t)written;
    }
}

static const char *
named_bytes(uint32_t key)
{
    switch (key) {
    case KEY_CODE_ENTER:
        return "\r";
    case KEY_CODE_TAB:
        return "\t";
    case KEY_CODE_TAB | KEY_MOD_SHIFT:
        return "\033[Z";
    case KEY_CODE_ESC:
        return "\033";
    case KEY_CODE_BACKSPACE:
        return "\177";
    case KEY_CODE_UP:
        return "\033[A";
    case KEY_CODE_DOWN:
        return "\033[B";
    case KEY_CODE_RIGHT:
        return "\033[C";
    case KEY_CODE_LEFT:
        return "\033[D";
    case KEY_CODE_HOME:
        return "\033[H";
    case KEY_CODE_END:
        return "\033[F";
    case KEY_CODE_PAGE_UP:
        return "\033[5~";
    case KEY_CODE_PAGE_DOWN:
        return "\033[6~";
    case KEY_CODE_DELETE:
        return "\033[3~";
    case KEY_CODE_F1:
        return "\033OP";
    case KEY_CODE_F1 + 4:
        return "\033[15~";
    default:
        return NULL;
    }
}

static void
add_key(struct strbuf *out, uint32_t key)
{
    const char *named = named_bytes(key);
    if (named) {
        strbuf_add_text(out, named);
        return;
    }
    if (key & KEY_MOD_ALT)
        strbuf_add_char(out, '\033');
    uint32_t base = key & KEY_CODE_MASK;
    if (key & KEY_MOD_CTRL)
        strbuf_add_char(out, (char)(base & 0x1f));
    else if (base < 0x80)
        strbuf_add_char(out, (char)base);
}

void
vt_keys(struct vt *vt, const char *keys)
{
    struct strbuf out = {0};
    struct err err = {0};
    size_t at = 0;
    uint32_t key;
    while (key_parse_next(bytes_of(keys), &at, &key, &err))
        add_key(&out, key);
    if (err_is_set(&err))
        die("%s", err.text);
    vt_bytes(vt, strbuf_bytes(&out));
    strbuf_release(&out);
}

bool
vt_press(struct vt *vt, const char *keys)
{
    char news = 0;
    while (pump(vt, 0, &news)) // idle moments of before
        news = 0;
    vt_keys(vt, keys);
    return wait_news(vt, true);
}

void
vt_paste(struct vt *vt, const char *text)
{
    vt_bytes(vt, bytes_of(vt->is_bracketed ? "\033[200~" : ""));
    vt_bytes(vt, bytes_of(text));
    vt_bytes(vt, bytes_of(vt->is_bracketed ? "\033[201~" : ""));
}

void
vt_resize(struct vt *vt, int rows, int cols)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    vt->rows = rows;
    vt->cols = cols;
    vterm_set_size(vt->term, rows, cols);
    (void)ioctl(vt->master, TIOCSWINSZ, &size);
}

const char *
vt_row(struct vt *vt, int row)
{
    strbuf_reset(&vt->text);
    size_t room = (size_t)vt->cols * 24 + 1;
    char *buffer = alloc_bytes(room);
    size_t len = vterm_screen_get_text(
        vt->screen, buffer, room - 1,
        (VTermRect){.start_row = row, .end_row = row + 1, .start_col = 0, .end_col = vt->cols});
    while (len > 0 && (buffer[len - 1] == ' ' || buffer[len - 1] == '\n'))
        len--;
    strbuf_add(&vt->text, (struct bytes){buffer, len});
    free(buffer);
    return strbuf_text(&vt->text);
}

const char *
vt_screen(struct vt *vt)
{
    struct strbuf all = {0};
    for (int row = 0; row < vt->rows; row++) {
        strbuf_add_text(&all, vt_row(vt, row));
        strbuf_add_char(&all, '\n');
    }
    strbuf_release(&vt->text);
    vt->text = all;
    return strbuf_text(&vt->text);
}

bool
vt_shows(const struct vt *vt, const char *text)
{
    struct vt *mutable = (struct vt *)(uintptr_t)vt; // the text buffer only
    return strstr(vt_screen(mutable), text) != NULL;
}

struct vt_cell
vt_cell(const struct vt *vt, int row, int col)
{
    VTermScreenCell cell = {0};
    (void)vterm_screen_get_cell(vt->screen, (VTermPos){.row = row, .col = col}, &cell);
    return (struct vt_cell){.is_reverse = cell.attrs.reverse,
                            .is_bold = cell.attrs.bold,
                            .is_underlined = cell.attrs.underline != 0,
                            .has_color = !VTERM_COLOR_IS_DEFAULT_FG(&cell.fg)};
}

bool
vt_alternate(const struct vt *vt)
{
    return vt->is_alternate;
}

bool
vt_bracketed(const struct vt *vt)
{
    return vt->is_bracketed;
}

struct bytes
vt_output(const struct vt *vt)
{
    return strbuf_bytes(&vt->output);
}

void
vt_forget(struct vt *vt)
{
    strbuf_reset(&vt->output);
}

pid_t
vt_pid(const struct vt *vt)
{
    return vt->pid;
}

bool
vt_modes(const struct vt *vt, struct termios *modes)
{
    return vt->master >= 0 && tcgetattr(vt->master, modes) == 0;
}

void
vt_hang_up(struct vt *vt)
{
    close(vt->master);
    vt->master = -1;
}

int
vt_result(struct vt *vt, int ms)
{
    int64_t until = clock_mono() + ms * 1000LL;
    do {
        int status;
        char news = 0;
        pid_t ended = waitpid(vt->pid, &status, WNOHANG | WUNTRACED);
        if (ended == vt->pid && WIFSTOPPED(status))
            return -2;
        if (ended == vt->pid) {
            drain(vt);
            vt->has_ended = true;
            vt->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            return vt->status;
        }
        (void)pump(vt, 5, &news);
        if (vt->master < 0)
            clock_sleep(2000);
    } while (clock_mono() < until);
    return -1;
}
