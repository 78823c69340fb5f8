// screen start|filter|keys|still PROGRAM ARGUMENT…: what the screen costs, seen from the other end of its
// pseudo terminal, 120x40.
//
//   start   from exec to the first row painted, to exact counts, the resident memory, the most it ever was,
//   and
//           the bytes until then
//   filter  the resident memory and the most it ever was, once a pattern that one group in sixteen fits is
//   typed
//           to its end and its groups are counted
//   keys    500 keys in the list of groups, as fast as a key held down: from the write of a key to the cursor
//           seen on its new row, and the bytes that came for it; then 60 pressed one by one, with the preview
//           that follows when they rest
//   still   the bytes that come in 10 s in which nothing changes, within a minute of the clock, and those of
//           the next minute's start, when ages, rates and curves fade
//
// One line name=value… on standard output.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "tests/terminal/vt.h"

enum { ROWS = 40, COLS = 120, KEYS = 500, STEPS = 60, SPAN = 15, REST_MS = 150, PATIENCE_S = 120 };

#define CURSOR "▌"

static struct vt *
open_screen(const char *const *argv)
{
    static const char *const env[] = {"TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", NULL};
    struct vt_setup setup = {.rows = ROWS, .cols = COLS, .argv = argv, .env = env, .answers = true};
    return vt_start(&setup);
}

static int
cursor_row(struct vt *vt)
{
    for (int row = 0; row < ROWS; row++)
        if (strstr(vt_row(vt, row), CURSOR))
            return row;
    return -1;
}

// The backlog is counted: "20,000 pending in 37 groups" and no word of scanning.
static bool
is_counted(struct vt *vt)
{
    const char *line = vt_row(vt, 1);
    return strstr(line, " pending in ") && !strstr(line, "scanned");
}

static void
give_up(struct vt *vt, const char *what)
{
    fprintf(stderr, "screen: %s\n%s\n", what, vt_screen(vt));
    vt_end(vt);
    exit(1);
}

// Microseconds from begin until the condition holds.
static int64_t
until(struct vt *vt, int64_t begin, bool (*holds)(struct vt *), const char *what)
{
    while (!holds(vt)) {
        if (clock_mono() - begin > PATIENCE_S * US_PER_SECOND || !vt_run(vt, 1))
            give_up(vt, what);
    }
    return clock_mono() - begin;
}

static bool
has_rows(struct vt *vt)
{
    return cursor_row(vt) >= 0;
}

// name: VmRSS, or VmHWM for the most there ever was.
static double
memory_mb(pid_t pid, const char *name)
{
    char path[64], line[256];
    long kb = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            kb = strtol(line + strlen(name) + 1, NULL, 10);
    if (file)
        fclose(file);
    return (double)kb / 1024;
}

static void
measure_start(const char *const *argv)
{
    int64_t begin = clock_mono();
    struct vt *vt = open_screen(argv);
    int64_t first = until(vt, begin, has_rows, "no rows");
    int64_t exact = until(vt, begin, is_counted, "never counted");
    vt_run(vt, 500);
    printf("first_rows_ms=%.1f exact_counts_ms=%.1f resident_mb=%.1f peak_mb=%.1f first_bytes=%zu\n",
           (double)first / 1000, (double)exact / 1000, memory_mb(vt_pid(vt), "VmRSS"),
           memory_mb(vt_pid(vt), "VmHWM"), vt_output(vt).len);
    vt_end(vt);
}

// "12,345 / 250,000 in 10,000 of 200,000 groups"
static bool
is_filtered(struct vt *vt)
{
    const char *line = vt_row(vt, 1);
    return strstr(line, " / ") && strstr(line, " of ") && strstr(line, " groups") && !strstr(line, "scanned");
}

static void
measure_filter(const char *const *argv)
{
    struct vt *vt = open_screen(argv);
    until(vt, clock_mono(), is_counted, "never counted");
    vt_keys(vt, "/");
    vt_run(vt, 500);
    vt_keys(vt, "unexpected h");
    int64_t typed = until(vt, clock_mono(), is_filtered, "never filtered");
    vt_run(vt, 1000);
    printf("filtered_ms=%.1f resident_mb=%.1f peak_mb=%.1f\n", (double)typed / 1000,
           memory_mb(vt_pid(vt), "VmRSS"), memory_mb(vt_pid(vt), "VmHWM"));
    vt_end(vt);
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
    qsort(values, count, sizeof *values, by_size);
    int64_t median = values[count / 2], high = values[count * 99 / 100], most = values[count - 1];
    printf("%s_median=%.2f %s_p99=%.2f %s_most=%.2f ", name, (double)median / unit, name, (double)high / unit,
           name, (double)most / unit);
}

// The first count goes on behind the screen: the preview has no events yet until that is over.
static void
wait_for_quiet(struct vt *vt)
{
    for (int64_t begin = clock_mono(); clock_mono() - begin < PATIENCE_S * US_PER_SECOND;) {
        vt_forget(vt);
        vt_run(vt, 10000);
        if (vt_output(vt).len == 0)
            return;
    }
    give_up(vt, "never quiet for ten seconds");
}

// Presses keys, each `gap` ms (a little more each time) after the one before was painted, the bytes of the
// first `counted` ms among them; returns those that were painted.
static size_t
press_keys(struct vt *vt, int keys, int counted, int gap, int64_t *times, int64_t *sizes)
{
    size_t count = 0;
    for (int i = 0; i < keys; i++) {
        int before = cursor_row(vt);
        vt_forget(vt);
        int64_t begin = clock_mono();
        vt_keys(vt, i / SPAN % 2 ? "k" : "j");
        while (cursor_row(vt) == before && clock_mono() - begin < US_PER_SECOND)
            vt_run(vt, 1);
        int64_t painted = clock_mono();
        if (painted - begin >= US_PER_SECOND)
            continue;
        vt_run(vt, counted);
        sizes[count] = (int64_t)vt_output(vt).len;
        times[count++] = painted - begin;
        vt_run(vt, gap - counted + i % 17);
    }
    return count;
}

static void
measure_keys(const char *const *argv)
{
    struct vt *vt = open_screen(argv);
    until(vt, clock_mono(), is_counted, "never counted");
    vt_run(vt, 2000);
    static int64_t times[KEYS], sizes[KEYS];
    size_t count = press_keys(vt, KEYS, 2, 15, times, sizes);
    if (count == 0)
        give_up(vt, "no key was ever painted");
    printf("keys=%zu lost=%zu ", count, KEYS - count);
    print_spread("key_ms", times, count, 1000);
    print_spread("key_bytes", sizes, count, 1);
    count = press_keys(vt, STEPS, REST_MS - 20, REST_MS, times, sizes);
    if (count > 0)
        print_spread("step_bytes", sizes, count, 1);
    putchar('\n');
    vt_end(vt);
}

static int
ms_of_minute(void)
{
    return (int)(clock_now() / 1000 % 60000);
}

static void
measure_still(const char *const *argv)
{
    struct vt *vt = open_screen(argv);
    until(vt, clock_mono(), is_counted, "never counted");
    wait_for_quiet(vt);
    if (ms_of_minute() > 48000)
        vt_run(vt, 62000 - ms_of_minute());
    vt_forget(vt);
    vt_run(vt, 10000);
    printf("bytes_in_10s=%zu ", vt_output(vt).len);
    vt_forget(vt);
    vt_run(vt, 64000 - ms_of_minute());
    printf("bytes_at_a_minute=%zu\n", vt_output(vt).len);
    vt_end(vt);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*measure)(const char *const *argv);
    } measures[] = {{"start", measure_start},
                    {"filter", measure_filter},
                    {"keys", measure_keys},
                    {"still", measure_still}};
    for (size_t i = 0; argc > 2 && i < sizeof measures / sizeof measures[0]; i++) {
        if (strcmp(argv[1], measures[i].name) == 0) {
            measures[i].measure((const char *const *)(argv + 2));
            return 0;
        }
    }
    fprintf(stderr, "usage: screen start|keys|still PROGRAM ARGUMENT…\n");
    return 2;
}
