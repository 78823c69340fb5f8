// editor EVENT PLACE BYTES PROGRAM ARGUMENT…: what a key costs in the payload editor, seen from the other end
// of its pseudo terminal, 120x40.
//
// Opens the event of that event_id, goes to PLACE ($.path or LINE:COLUMN), and presses keys one after the
// other: typed ones, and movements. A key is painted when the position in line 2 has changed. BYTES is the
// size of the payload: memory is told as a multiple of it, above what the list of events took: what is held,
// and the most there was.
//
// One line name=value… on standard output.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "tests/terminal/vt.h"

enum { ROWS = 40, COLS = 120, KEYS = 400, GAP_MS = 15, PATIENCE_S = 60 };

static void
give_up(struct vt *vt, const char *what)
{
    fprintf(stderr, "editor: %s\n%s\n", what, vt_screen(vt));
    vt_end(vt);
    exit(1);
}

static void
await(struct vt *vt, const char *text)
{
    int64_t begin = clock_mono();
    while (!vt_shows(vt, text))
        if (clock_mono() - begin > PATIENCE_S * US_PER_SECOND || !vt_run(vt, 1))
            give_up(vt, text);
}

// A line of /proc/PID/status in KiB.
static double
memory_kb(pid_t pid, const char *name)
{
    char path[64], line[256];
    long kb = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            kb = strtol(line + strlen(name), NULL, 10);
    if (file)
        fclose(file);
    return (double)kb;
}

// Until the list and what is read behind it take no more: that is not the editor's.
static double
settled_kb(struct vt *vt)
{
    int64_t begin = clock_mono();
    double before, now = memory_kb(vt_pid(vt), "VmRSS:");
    do {
        before = now;
        vt_run(vt, 500);
        now = memory_kb(vt_pid(vt), "VmRSS:");
    } while (now != before && clock_mono() - begin < PATIENCE_S * US_PER_SECOND);
    return now;
}

// From here on VmHWM is the most that is held from here on (proc(5), clear_refs).
static void
forget_most(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/clear_refs", (long)pid);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}

static int
by_size(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

static void
print_spread(const char *name, int64_t *values, size_t count, double unit)
{
    if (count == 0)
        return;
    qsort(values, count, sizeof *values, by_size);
    int64_t median = values[count / 2], high = values[count * 99 / 100];
    printf("%s_median=%.2f %s_p99=%.2f ", name, (double)median / unit, name, (double)high / unit);
}

// Presses the keys of the list in turn. Prints the spread of times and bytes; keys that changed nothing are
// left out.
static void
press(struct vt *vt, const char *name, const char *const *keys, size_t key_count)
{
    static int64_t times[KEYS], sizes[KEYS];
    char before[1024], label[64];
    size_t count = 0;
    for (int i = 0; i < KEYS; i++) {
        snprintf(before, sizeof before, "%s", vt_row(vt, 1));
        vt_forget(vt);
        int64_t begin = clock_mono();
        vt_keys(vt, keys[(size_t)i % key_count]);
        while (strcmp(vt_row(vt, 1), before) == 0 && clock_mono() - begin < US_PER_SECOND)
            (void)vt_read(vt, 1);
        int64_t painted = clock_mono();
        vt_run(vt, 2);
        if (painted - begin < US_PER_SECOND) {
            sizes[count] = (int64_t)vt_output(vt).len;
            times[count++] = painted - begin;
        }
        vt_run(vt, GAP_MS + i % 17);
    }
    snprintf(label, sizeof label, "%s_ms", name);
    print_spread(label, times, count, 1000);
    snprintf(label, sizeof label, "%s_bytes", name);
    print_spread(label, sizes, count, 1);
}

int
main(int argc, char **argv)
{
    static const char *const env[] = {"TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
                                      "REDRIVE_START_WORKER=off", NULL};
    static const char *const typed[] = {"7"};
    static const char *const moved[] = {"<Right>", "<Right>", "<Left>", "<Right>", "<C-Right>"};
    static const char *const paged[] = {"<PgDn>", "<PgDn>", "<PgUp>"};
    char keys[200];
    if (argc < 5) {
        fprintf(stderr, "usage: editor EVENT PLACE BYTES PROGRAM ARGUMENT…\n");
        return 2;
    }
    struct vt *vt = vt_start(
        &(struct vt_setup){.rows = ROWS, .cols = COLS, .argv = (const char *const *)(argv + 4), .env = env});
    await(vt, "live");
    vt_keys(vt, "2");
    await(vt, "newest first");
    snprintf(keys, sizeof keys, "/event-id:=%s<Enter>", argv[1]);
    vt_keys(vt, keys);
    await(vt, "1/1 of ");
    double before_kb = settled_kb(vt);
    forget_most(vt_pid(vt));
    int64_t begin = clock_mono();
    vt_keys(vt, "e");
    await(vt, " bytes ");
    printf("open_ms=%.1f ", (double)(clock_mono() - begin) / 1000);
    vt_run(vt, 1500);
    snprintf(keys, sizeof keys, "<C-t>%s<Enter>", argv[2]);
    vt_keys(vt, keys);
    vt_run(vt, 1500);
    press(vt, "move", moved, sizeof moved / sizeof *moved);
    if (!strstr(vt_row(vt, 1), "read-only"))
        press(vt, "type", typed, 1);
    if (strchr(argv[2], ':'))
        press(vt, "page", paged, sizeof paged / sizeof *paged);
    vt_run(vt, 3000);
    double size_kb = strtod(argv[3], NULL) / 1024;
    printf("memory_x=%.2f memory_most_x=%.2f\n", (memory_kb(vt_pid(vt), "VmRSS:") - before_kb) / size_kb,
           (memory_kb(vt_pid(vt), "VmHWM:") - before_kb) / size_kb);
    vt_end(vt);
    return 0;
}
