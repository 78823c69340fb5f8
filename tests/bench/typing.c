// typing REST_MS GAP_MS FIRST NEXT PAUSE_MS PROGRAM ARGUMENT…: how long somebody who types a pattern waits
// for the list of events, seen from the other end of its pseudo terminal, 150x40.
//
// The screen counts, rests for REST_MS, and its list of events opens. FIRST is typed in the filter line, a
// key every GAP_MS (0: all at once; -1: pasted), and PAUSE_MS after it is complete NEXT takes its place.
// From the last key: until rows of that pattern are there, and until line 2 says how many there are in all.
//
// One line name=value… on standard output. wrong_numbers: did line 2 show other numbers than the last ones as
// if they were all?
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "tests/terminal/vt.h"

enum { ROWS = 40, COLS = 150, PATIENCE_S = 60, LINE = 1, REACH_MS = 150, LAST_MS = 300 };

struct typist {
    struct vt *vt;
    char chip[256]; // the pattern as line 2 shows it
    char line[1024];
    int gap_ms;
};

static void
give_up(struct vt *vt, const char *what)
{
    fprintf(stderr, "typing: %s\n%s\n", what, vt_screen(vt));
    vt_end(vt);
    exit(1);
}

// Line 2, where it holds the pattern; "" elsewhere.
static const char *
line_of(struct typist *typist)
{
    snprintf(typist->line, sizeof typist->line, "%s", vt_row(typist->vt, LINE));
    return strstr(typist->line, typist->chip) ? typist->line : "";
}

static bool
is_counted(struct typist *typist)
{
    const char *line = line_of(typist);
    return strstr(line, " pending in ") && !strstr(line, "scanned");
}

static bool
is_listed(struct typist *typist)
{
    return strstr(line_of(typist), "newest first") && vt_shows(typist->vt, "▌");
}

static bool
has_rows(struct typist *typist)
{
    const char *line = line_of(typist);
    return *line && !strstr(line, "searching") && vt_shows(typist->vt, "▌");
}

static bool
is_complete(struct typist *typist)
{
    return has_rows(typist) && !strstr(typist->line, "so far") && strstr(typist->line, " of ");
}

// Milliseconds from begin until the condition holds.
static double
until(struct typist *typist, int64_t begin, bool (*holds)(struct typist *), const char *what)
{
    int64_t at = clock_mono();
    while (!holds(typist)) {
        if (clock_mono() - begin > PATIENCE_S * US_PER_SECOND || !vt_read(typist->vt, 1000))
            give_up(typist->vt, what);
        at = clock_mono();
        vt_run(typist->vt, 1); // the rest of the picture
    }
    return (double)(at - begin) / 1000;
}

static void
give_keys(const struct typist *typist, const char *text)
{
    if (typist->gap_ms < 0) {
        vt_paste(typist->vt, text);
        return;
    }
    if (typist->gap_ms == 0) {
        vt_bytes(typist->vt, bytes_of(text));
        return;
    }
    for (const char *at = text; *at; at++) {
        vt_bytes(typist->vt, (struct bytes){at, 1});
        if (at[1])
            vt_run(typist->vt, typist->gap_ms);
    }
}

static void
search(struct typist *typist, const char *name, const char *pattern)
{
    vt_bytes(typist->vt, BYTES("/\x15")); // C-u: nothing of the pattern before
    vt_run(typist->vt, REACH_MS);
    snprintf(typist->chip, sizeof typist->chip, " /%s ", pattern);
    give_keys(typist, pattern);
    int64_t begin = clock_mono();
    double first = until(typist, begin, has_rows, "no rows");
    double complete = until(typist, begin, is_complete, "never complete");
    char numbers[1024];
    snprintf(numbers, sizeof numbers, "%s", line_of(typist));
    vt_run(typist->vt, LAST_MS);
    bool is_same = line_of(typist) && strcmp(numbers, line_of(typist)) == 0;
    vt_bytes(typist->vt, BYTES("\r"));
    printf("%s_first_ms=%.1f %s_ms=%.1f %s_wrong_numbers=%d ", name, first, name, complete, name, !is_same);
}

int
main(int argc, char **argv)
{
    static const char *const env[] = {"TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", NULL};
    if (argc < 7) {
        fprintf(stderr, "usage: typing REST_MS GAP_MS FIRST NEXT PAUSE_MS PROGRAM ARGUMENT…\n");
        return 2;
    }
    const struct vt_setup setup = {
        .rows = ROWS, .cols = COLS, .argv = (const char *const *)(argv + 6), .env = env};
    struct typist typist = {.vt = vt_start(&setup), .gap_ms = (int)strtol(argv[2], NULL, 10)};
    until(&typist, clock_mono(), is_counted, "never counted");
    vt_keys(typist.vt, "2");
    until(&typist, clock_mono(), is_listed, "no list of events");
    vt_run(typist.vt, (int)strtol(argv[1], NULL, 10));
    search(&typist, "pattern", argv[3]);
    vt_run(typist.vt, (int)strtol(argv[5], NULL, 10));
    search(&typist, "next", argv[4]);
    putchar('\n');
    vt_end(typist.vt);
    return 0;
}
