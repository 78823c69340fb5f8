#include "ui/term/term.h"

#include <errno.h>
#include <limits.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "ui/canvas/blanks.h"
#include "ui/term/clipboard.h"
#include "ui/term/environment.h"
#include "ui/term/hyperlink.h"
#include "ui/term/signals.h"
#include "ui/term/terminfo.h"

#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
#define MOUSE_ON "\033[?1000h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1000l"
#define BACKGROUND_QUESTION "\033]11;?\033\\\033[c"
#define BACKGROUND_WAIT_MS 150
#define NORMAL_CHARACTERS "\033(B\017"

// A role as ncurses shows it.
struct term_paint {
    attr_t attributes;
    int pair;
};

struct term {
    SCREEN *screen;
    struct termios before; // of the shell
    bool has_mouse;
    bool is_ascii;
    bool is_gone;
    bool is_signalled;
    bool is_xterm_like; // understands private modes and strings, or ignores them
    bool has_links;     // likewise OSC 8; and its cursor can be put back
    enum color_depth depth;
    bool has_default_colors;
    bool spares_attributes; // ncurses does not choose the character set any more
    char note[200];
    struct term_paint paints[ROLE_COUNT];
    struct term_paint on_cursor[ROLE_COUNT];
    bool is_seen_on_blanks[ROLE_COUNT];
    int pair_count;
    struct canvas shown;         // what ncurses was told last
    struct canvas row;           // one row of what it is told next
    struct link_range *relinked; // of each row: what is to be written again
    struct strbuf shown_links;   // the addresses, one a line
    struct input input;
    int64_t fed_at;   // when bytes came last
    int64_t began_at; // when the first byte of an incomplete key was seen; 0: none is
};

// "xterm-256color" → "xterm-direct", where the host describes it; NULL: it does not.
static SCREEN *
take_direct(const char *name)
{
    char direct[64];
    const char *dash = strstr(name, "-256color");
    snprintf(direct, sizeof direct, "%.*s-direct", dash ? (int)(dash - name) : (int)strlen(name), name);
    return newterm(direct, stdout, stdin);
}

static bool
is_capability(const char *value)
{
    return value && value != (const char *)-1;
}

// Takes the terminal by its name, or by the nearest one that this host describes.
static bool
take_screen(struct term *term, bool wants_true, struct err *err)
{
    const char *name = getenv("TERM");
    if (!name || !*name)
        return err_set(err, ERR_USAGE,
                       "TERM is not set, so the terminal is unknown; set it, for example to xterm-256color");
    if (strcmp(name, "dumb") == 0)
        return err_set(
            err, ERR_USAGE,
            "this terminal (TERM=dumb) cannot place its cursor; the commands work without: `redrive --help`");

    const char *taken = name;
    term->screen = wants_true ? take_direct(name) : NULL;
    if (!term->screen)
        term->screen = newterm(name, stdout, stdin);
    if (!term->screen) {
        taken = terminal_fallback(name);
        term->screen = newterm(taken, stdout, stdin);
        snprintf(term->note, sizeof term->note, "terminal %.40s is unknown here, used as %s", name, taken);
    }
    if (!term->screen)
        return err_set(err, ERR_USAGE,
                       "this host does not describe the terminal %s; install ncurses-term or set TERM", name);
    if (!is_capability(tigetstr("cup"))) {
        (void)endwin();
        delscreen(term->screen);
        return err_set(err, ERR_USAGE, "the terminal %s cannot place its cursor", taken);
    }
    term->is_xterm_like = strncmp(taken, "vt", 2) != 0 && strncmp(taken, "ansi", 4) != 0;
    // Consoles of Linux print what they do not know.
    term->has_links = term->is_xterm_like && strncmp(taken, "linux", 5) != 0 &&
                      is_capability(tigetstr("sc")) && is_capability(tigetstr("rc"));
    return true;
}

static enum color_depth
choose_depth(const char *word)
{
    enum color_depth depth;
    bool is_auto = true;
    if (word && !color_depth_parse(word, &depth, &is_auto))
        is_auto = true;
    if (!has_colors() || (is_auto && colors_unwanted()))
        return COLOR_MONO;

    enum color_depth most = tigetflag("RGB") > 0 ? COLOR_TRUE : COLORS >= 256 ? COLOR_256 : COLOR_16;
    return is_auto || depth > most ? most : depth;
}

// Padding such as $<5> is for tputs; a terminal that needs it is not reached by a handler's write.
static void
add_capability(struct strbuf *out, const char *name)
{
    const char *value = tigetstr(name);
    for (size_t i = 0; is_capability(value) && value[i]; i++) {
        const char *padding = value[i] == '$' && value[i + 1] == '<' ? strchr(value + i, '>') : NULL;
        if (padding)
            i = (size_t)(padding - value);
        else
            strbuf_add_char(out, value[i]);
    }
}

static bool
has_alternate_screen(void)
{
    return is_capability(tigetstr("smcup"));
}

// The bytes that restore the terminal at a fatal end, made beforehand.
static void
guard(const struct term *term)
{
    struct strbuf sequence = {0};
    add_capability(&sequence, "sgr0");
    add_capability(&sequence, "cnorm");
    strbuf_add_text(&sequence, term->is_xterm_like ? MOUSE_OFF PASTE_OFF : "");
    add_capability(&sequence, "rmkx");
    if (has_alternate_screen())
        add_capability(&sequence, "rmcup");
    else
        strbuf_add_text(&sequence, "\r\n");
    signals_guard(sequence.data, sequence.len, &term->before);
    strbuf_release(&sequence);
}

// Past ncurses, for what it has no words for.
static void
write_all(struct bytes bytes)
{
    (void)fflush(stdout);
    for (size_t at = 0; at < bytes.len;) {
        ssize_t written = write(STDOUT_FILENO, bytes.data + at, bytes.len - at);
        if (written < 0 && errno != EINTR)
            return;
        at += written > 0 ? (size_t)written : 0;
    }
}

static void
write_modes(const struct term *term, const char *modes)
{
    if (term->is_xterm_like)
        write_all(bytes_of(modes));
}

static bool
check_terminal(struct term *term, struct err *err)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return err_set(err, ERR_USAGE,
                       "the screen needs a terminal as input and output; in a pipe use the commands: "
                       "`redrive --help`");
    if (tcgetattr(STDIN_FILENO, &term->before) != 0)
        return err_set(err, ERR_USAGE, "the terminal does not tell its modes (%s)", strerror(errno));
    return true;
}

static void
term_enter(struct term *term)
{
    (void)raw();
    (void)noecho();
    (void)nonl();
    write_modes(term, PASTE_ON);
    if (term->has_mouse)
        write_modes(term, MOUSE_ON);
}

static bool
start_screen(struct term *term, const struct term_options *options, struct err *err)
{
    bool is_auto = !options->color || strcmp(options->color, "auto") == 0;
    bool wants_true = is_auto ? terminal_promises_24_bits() : strcmp(options->color, "true") == 0;
    if (!take_screen(term, wants_true, err))
        return false;
    if (has_colors()) {
        (void)start_color();
        term->has_default_colors = use_default_colors() == OK;
    }
    term->depth = choose_depth(options->color);
    term->spares_attributes = terminfo_spare_attributes();
    (void)typeahead(-1); // a picture is written whole, keys waiting or not
    (void)idlok(stdscr, TRUE);
    (void)intrflush(stdscr, FALSE);
    return true;
}

struct term *
term_open(const struct term_options *options, struct err *err)
{
    struct term *term = alloc_bytes(sizeof *term);
    // The signals first: ncurses takes those that nobody has.
    if (!check_terminal(term, err) || !signals_open(err)) {
        free(term);
        return NULL;
    }
    term->is_ascii = !locale_set(term->note, sizeof term->note) || options->is_ascii;
    term->has_mouse = options->takes_mouse;
    input_set_delay(&term->input, options->esc_delay);
    if (!start_screen(term, options, err)) {
        signals_close();
        free(term);
        return NULL;
    }

    guard(term);
    term_enter(term);
    canvas_init(&term->shown, LINES, COLS, term->is_ascii);
    canvas_init(&term->row, 1, COLS, term->is_ascii);
    term->relinked = alloc_array((size_t)LINES, sizeof *term->relinked);
    (void)curs_set(0);
    (void)tcflush(STDIN_FILENO, TCIFLUSH); // what was typed before the first picture was meant for the shell
    return term;
}

static void
leave(struct term *term)
{
    if (!has_alternate_screen()) { // the prompt comes back to a clean place
        (void)erase();
        (void)move(0, 0);
        (void)refresh();
    }
    if (term->has_mouse)
        write_modes(term, MOUSE_OFF);
    write_modes(term, PASTE_OFF);
    (void)curs_set(1);
    (void)endwin();
}

void
term_close(struct term *term)
{
    if (!term)
        return;
    if (!term->is_gone || term->is_signalled)
        leave(term);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &term->before);
    signals_close();
    delscreen(term->screen);
    canvas_release(&term->shown);
    canvas_release(&term->row);
    free(term->relinked);
    strbuf_release(&term->shown_links);
    input_release(&term->input);
    free(term);
}

bool
term_is_ascii(const struct term *term)
{
    return term->is_ascii;
}

const char *
term_note(const struct term *term)
{
    return term->note[0] ? term->note : NULL;
}

void
term_size(const struct term *term, int *rows, int *cols)
{
    struct winsize size;
    (void)term;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        *rows = size.ws_row;
        *cols = size.ws_col;
        return;
    }
    *rows = LINES;
    *cols = COLS;
}

// A pair for these two; the same one for the same two. 0, the terminal's own, when there is none left.
static int
pair_for(struct term *term, int foreground, int background)
{
    for (int pair = 1; pair <= term->pair_count; pair++) {
        int f, b;
        if (extended_pair_content(pair, &f, &b) == OK && f == foreground && b == background)
            return pair;
    }
    if (term->pair_count + 1 >= COLOR_PAIRS ||
        init_extended_pair(term->pair_count + 1, foreground, background) != OK)
        return 0;
    return ++term->pair_count;
}

static attr_t
curses_attributes(unsigned attributes)
{
    return (attributes & LOOK_BOLD ? A_BOLD : 0) | (attributes & LOOK_DIM ? A_DIM : 0) |
           (attributes & LOOK_UNDERLINE ? A_UNDERLINE : 0) | (attributes & LOOK_ITALIC ? A_ITALIC : 0) |
           (attributes & LOOK_REVERSE ? A_REVERSE : 0) | (attributes & LOOK_BLINK ? A_BLINK : 0);
}

static struct term_paint
paint_of(struct term *term, const struct look *look)
{
    struct term_paint paint = {.attributes = curses_attributes(look->attributes)};
    if (term->depth == COLOR_MONO)
        return paint;

    bool is_bright = false;
    bool is_bright_behind = false;
    int foreground = color_number(&look->foreground, term->depth, COLORS, &is_bright);
    int background = color_number(&look->background, term->depth, COLORS, &is_bright_behind);
    if (is_bright && foreground == COLOR_BLACK) { // bold black is invisible on many: dim default instead
        foreground = -1;
        paint.attributes |= A_DIM;
    } else if (is_bright) {
        paint.attributes |= A_BOLD;
    }
    if (!term->has_default_colors) {
        foreground = foreground < 0 ? COLOR_WHITE : foreground;
        background = background < 0 ? COLOR_BLACK : background;
    }
    if (foreground >= 0 || background >= 0)
        paint.pair = pair_for(term, foreground, background);
    return paint;
}

// A terminal that does not know the first question answers the second, which all do (DA1, ECMA-48 8.3.24).
void
term_ask_background(struct term *term)
{
    bool is_light;
    if (term->depth < COLOR_256)
        return;
    if (terminal_names_background(&is_light)) {
        input_feed(&term->input, is_light ? BYTES("\033]11;rgb:f/f/f\a") : BYTES("\033]11;rgb:0/0/0\a"));
        return;
    }
    write_modes(term, BACKGROUND_QUESTION);
    struct pollfd answer = {.fd = STDIN_FILENO, .events = POLLIN};
    if (term->is_xterm_like)
        (void)poll(&answer, 1, BACKGROUND_WAIT_MS);
}

void
term_set_theme(struct term *term, const struct theme *theme)
{
    term->pair_count = 0;
    for (int role = 0; role < ROLE_COUNT; role++) {
        const struct look *look = theme_look(theme, (enum role)role, term->depth);
        struct look on_cursor = theme_look_on_cursor(theme, (enum role)role, term->depth);
        term->paints[role] = paint_of(term, look);
        term->on_cursor[role] = paint_of(term, &on_cursor);
        term->is_seen_on_blanks[role] = look_is_seen_on_blanks(look);
    }
    term_repaint(term);
}

void
term_set_mouse(struct term *term, bool takes_mouse)
{
    if (takes_mouse == term->has_mouse)
        return;
    term->has_mouse = takes_mouse;
    write_modes(term, takes_mouse ? MOUSE_ON : MOUSE_OFF);
}

// A character that the C library measures otherwise would shift the rest of the row.
static wchar_t
safe_character(const struct cell *cell)
{
    if (cell->base < 0x7f)
        return (wchar_t)cell->base;
    return wcwidth((wchar_t)cell->base) == cell->width ? (wchar_t)cell->base : L'?';
}

// A cell as ncurses takes it.
struct told_cell {
    wchar_t text[CELL_MARKS + 2];
    struct term_paint paint;
};

static struct told_cell
told_cell(const struct term *term, const struct cell *cell)
{
    struct told_cell told = {.text = {safe_character(cell)}};
    size_t len = 1;
    for (int i = 0; i < CELL_MARKS && cell->marks[i]; i++)
        if (wcwidth((wchar_t)cell->marks[i]) == 0)
            told.text[len++] = (wchar_t)cell->marks[i];
    told.paint = cell->attributes & CELL_CURSOR ? term->on_cursor[cell->role] : term->paints[cell->role];
    told.paint.attributes |= (cell->attributes & CELL_DIM ? A_DIM : 0) |
                             (cell->attributes & CELL_STRONG ? A_BOLD : 0) |
                             (cell->attributes & CELL_UNDERLINE ? A_UNDERLINE : 0);
    return told;
}

static void
put_cell(const struct term *term, int row, int col, const struct cell *cell)
{
    struct told_cell told = told_cell(term, cell);
    cchar_t out;
    if (setcchar(&out, told.text, told.paint.attributes, (short)told.paint.pair, &told.paint.pair) == OK)
        (void)mvadd_wch(row, col, &out);
    if (cell->width == 2 && told.text[0] == L'?')
        (void)mvaddch(row, col + 1, ' ');
}

// Everything is told to ncurses anew.
static void
forget_shown(struct term *term)
{
    size_t count = (size_t)term->shown.rows * (size_t)term->shown.cols;
    memset(term->shown.cells, 0xff, count * sizeof *term->shown.cells);
}

static void
fit_screen(struct term *term, const struct canvas *canvas)
{
    if (canvas->rows == term->shown.rows && canvas->cols == term->shown.cols && LINES == canvas->rows &&
        COLS == canvas->cols)
        return;
    (void)resizeterm(canvas->rows, canvas->cols);
    (void)erase();
    (void)clearok(curscr, TRUE); // terminals move what they show when their size changes
    canvas_resize(&term->shown, canvas->rows, canvas->cols);
    canvas_resize(&term->row, 1, canvas->cols);
    term->relinked = alloc_resize(term->relinked, (size_t)canvas->rows + 1, sizeof *term->relinked);
    forget_shown(term);
}

static void
write_link(const char *address)
{
    struct strbuf sequence = {0};
    hyperlink_sequence(address, &sequence);
    (void)fwrite(sequence.data, 1, sequence.len, stdout);
    strbuf_release(&sequence);
}

// One part of a row as ncurses has drawn it, and as links. ncurses leaves the look of plain text behind.
static void
write_linked(const struct term *term, const struct canvas *canvas, int row, struct link_range range)
{
    const struct cell *cells = term->shown.cells + (size_t)row * (size_t)canvas->cols;
    uint8_t link = 0;
    (void)putp(tigetstr("sc"));
    (void)putp(tparm(tigetstr("cup"), (long)row, (long)range.from, 0L, 0L, 0L, 0L, 0L, 0L, 0L));
    for (int col = range.from; col < range.to; col++) {
        struct told_cell told = told_cell(term, &cells[col]);
        char text[sizeof told.text * MB_LEN_MAX];
        if (cells[col].width == 0 || wcstombs(text, told.text, sizeof text) == (size_t)-1)
            continue;
        if (cells[col].link != link)
            write_link(cells[col].link ? canvas->links[cells[col].link - 1] : NULL);
        link = cells[col].link;
        (void)vid_puts(told.paint.attributes, (short)told.paint.pair, &told.paint.pair, putchar);
        (void)fputs(text, stdout);
        if (cells[col].width == 2 && told.text[0] == L'?')
            (void)putchar(' ');
    }
    if (link)
        write_link(NULL);
    (void)vid_puts(A_NORMAL, 0, NULL, putchar);
    (void)putp(tigetstr("rc"));
}

static void
write_links(struct term *term, const struct canvas *canvas)
{
    for (int row = 0; term->has_links && row < canvas->rows; row++)
        if (term->relinked[row].to)
            write_linked(term, canvas, row, term->relinked[row]);
    (void)fflush(stdout);
}

// The numbers of links mean other addresses than before.
static bool
take_addresses(struct term *term, const struct canvas *canvas)
{
    struct strbuf addresses = {0};
    for (int i = 0; i < canvas->link_count; i++)
        strbuf_printf(&addresses, "%s\n", canvas->links[i]);
    bool has_changed = !bytes_equal(strbuf_bytes(&addresses), strbuf_bytes(&term->shown_links));
    strbuf_release(&term->shown_links);
    term->shown_links = addresses;
    return has_changed;
}

void
term_present(struct term *term, const struct canvas *canvas)
{
    if (term->is_gone)
        return;
    fit_screen(term, canvas);
    bool has_other_links = take_addresses(term, canvas);
    for (int row = 0; row < canvas->rows; row++) {
        size_t from = (size_t)row * (size_t)canvas->cols;
        struct cell *cells = term->row.cells;
        struct cell *shown = term->shown.cells + from;
        memcpy(cells, canvas->cells + from, (size_t)canvas->cols * sizeof *cells);
        blanks_finish(cells, shown, canvas->cols, term->is_seen_on_blanks);
        bool is_same = memcmp(cells, shown, (size_t)canvas->cols * sizeof *cells) == 0;
        term->relinked[row] = (struct link_range){0};
        if (!is_same || has_other_links)
            term->relinked[row] = link_range_of(cells, shown, canvas->cols);
        if (is_same)
            continue;
        for (int col = 0; col < canvas->cols; col++)
            if (cells[col].width > 0 && (memcmp(&cells[col], &shown[col], sizeof *cells) != 0 ||
                                         (cells[col].width == 2 && shown[col + 1].width != 0)))
                put_cell(term, row, col, &cells[col]);
        memcpy(shown, cells, (size_t)canvas->cols * sizeof *cells);
    }
    bool has_caret = canvas->caret_row >= 0;
    (void)leaveok(stdscr, !has_caret);
    if (has_caret)
        (void)move(canvas->caret_row, canvas->caret_col);
    if (has_caret != (term->shown.caret_row >= 0))
        (void)curs_set(has_caret ? 1 : 0);
    term->shown.caret_row = canvas->caret_row;
    (void)refresh();
    write_links(term, canvas);
}

void
term_repaint(struct term *term)
{
    forget_shown(term);
    (void)clearok(curscr, TRUE);
    if (term->spares_attributes) // what garbage on the line may have changed
        write_modes(term, NORMAL_CHARACTERS);
}

// Bytes that wait on the terminal, into the decoder. A terminal that is readable but empty is gone.
static void
read_input(struct term *term)
{
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    ssize_t len = 0;
    do {
        char bytes[4096];
        if (poll(&ready, 1, 0) <= 0)
            return;
        len = (ready.revents & POLLIN) ? read(STDIN_FILENO, bytes, sizeof bytes) : 0;
        if (len == 0 || (len < 0 && errno != EINTR && errno != EAGAIN))
            term->is_gone = true;
        if (len <= 0)
            return;
        input_feed(&term->input, (struct bytes){bytes, (size_t)len});
        term->fed_at = clock_mono();
    } while (len == 4096);
}

static bool
next_signal(struct term *term, struct term_event *event)
{
    for (int number = signals_next(); number; number = signals_next()) {
        switch (number) {
        case SIGWINCH:
            event->kind = TERM_RESIZED;
            return true;
        case SIGTSTP:
            event->kind = TERM_SUSPEND;
            return true;
        case SIGCONT:
            term_enter(term);
            term_repaint(term);
            event->kind = TERM_RESUMED;
            return true;
        case SIGHUP:
            term->is_gone = true;
            break;
        default:
            term->is_gone = term->is_signalled = true;
            break;
        }
    }
    return false;
}

bool
term_next(struct term *term, struct term_event *event)
{
    *event = (struct term_event){0};
    if (next_signal(term, event))
        return true;

    read_input(term);
    if (!term->is_gone && input_next(&term->input, term_delay(term) == 0, &event->input)) {
        term->began_at = 0;
        event->kind = TERM_INPUT;
        return true;
    }
    bool is_incomplete = input_delay(&term->input) >= 0;
    if (!is_incomplete || !term->began_at)
        term->began_at = is_incomplete ? clock_mono() : 0;
    if (term->is_gone) {
        event->kind = TERM_GONE;
        event->is_signal = term->is_signalled;
        return true;
    }
    return false;
}

int
term_input_fd(const struct term *term)
{
    (void)term;
    return STDIN_FILENO;
}

int
term_signal_fd(const struct term *term)
{
    (void)term;
    return signals_fd();
}

int64_t
term_delay(const struct term *term)
{
    int64_t delay = input_delay(&term->input);
    if (delay < 0 || !term->began_at)
        return -1;
    int64_t left = (input_is_pasting(&term->input) ? term->fed_at : term->began_at) + delay - clock_mono();
    return left > 0 ? left : 0;
}

void
term_flush_input(struct term *term)
{
    (void)tcflush(STDIN_FILENO, TCIFLUSH);
    input_reset(&term->input);
    term->began_at = 0;
}

static void
give(struct term *term)
{
    leave(term);
    (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &term->before);
    signals_guard(NULL, 0, NULL);
}

static void
take_back(struct term *term)
{
    (void)reset_prog_mode();
    guard(term);
    term_enter(term);
    (void)curs_set(term->shown.caret_row >= 0 ? 1 : 0);
    term_repaint(term);
}

void
term_suspend(struct term *term)
{
    give(term);
    signals_stop_group();
    take_back(term);
}

int
term_run(struct term *term, const char *command, const char *file)
{
    give(term);
    int status = signals_run(command, file);
    take_back(term);
    return status;
}

void
term_copy(struct term *term, struct bytes text)
{
    if (term->is_gone || !term->is_xterm_like)
        return;
    if (clipboard_road() == CLIPBOARD_TMUX && clipboard_to_tmux(text))
        return;
    struct strbuf sequence = {0};
    clipboard_sequence(text, clipboard_road(), &sequence);
    write_all(strbuf_bytes(&sequence));
    strbuf_release(&sequence);
}
