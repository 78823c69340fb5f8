// stall KEYS FILE PROGRAM ARGUMENT…: does the screen keep up while others are busy? Seen from the other end
// of its pseudo terminal, 120x40.
//
// Types KEYS, which bring a list of at least 25 rows that does not reorder itself ("2": the events),
// then moves its cursor down and up with a key every 20 ms until FILE exists, and times each from
// the write of the key to the cursor seen on its new row. A key that is not painted within 5 s ends the
// program with a failure: none is left out of the worst. One line name=value… on standard output.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "tests/terminal/vt.h"

enum { ROWS = 40, COLS = 120, SPAN = 20, MOST = 200000 };
static const int64_t PACE = 20000, LIMIT = 50000, PATIENCE = 5 * US_PER_SECOND, BEGIN = 120 * US_PER_SECOND;

struct tally {
    int64_t *times;
    size_t count, late; // late: longer than LIMIT
};

static void
give_up(struct vt *vt, const char *what)
{
    fprintf(stderr, "stall: %s\n%s\n", what, vt_screen(vt));
    vt_end(vt);
    exit(1);
}

static int
cursor_row(struct vt *vt)
{
    for (int row = 0; row < ROWS; row++)
        if (strstr(vt_row(vt, row), "▌"))
            return row;
    return -1;
}

// The list is there, and stands still: its cursor can go down and up again.
static void
await_list(struct vt *vt, const char *keys)
{
    int64_t begin = clock_mono();
    while (cursor_row(vt) < 0)
        if (clock_mono() - begin > BEGIN || !vt_settle(vt, 10))
            give_up(vt, "no rows");
    vt_keys(vt, keys);
    vt_settle(vt, 2000);
    if (cursor_row(vt) < 0)
        give_up(vt, "these keys bring no list");
}

static int64_t
time_key(struct vt *vt, const char *key)
{
    int before = cursor_row(vt);
    int64_t begin = clock_mono();
    vt_keys(vt, key);
    while (cursor_row(vt) == before)
        if (clock_mono() - begin > PATIENCE || !vt_settle(vt, 1))
            give_up(vt, "a key was not painted within 5 s");
    return clock_mono() - begin;
}

static void
move_until(struct vt *vt, const char *file, struct tally *tally)
{
    int64_t next = clock_mono();
    while (tally->count < MOST && access(file, F_OK) != 0) {
        int64_t took = time_key(vt, tally->count / SPAN % 2 ? "k" : "j");
        tally->times[tally->count++] = took;
        tally->late += took > LIMIT;
        next += PACE;
        if (next < clock_mono())
            next = clock_mono();
        while (clock_mono() < next)
            vt_settle(vt, 1);
    }
}

static int
by_size(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

int
main(int argc, char **argv)
{
    static const char *const env[] = {"TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", NULL};
    if (argc < 4) {
        fprintf(stderr, "usage: stall KEYS FILE PROGRAM ARGUMENT…\n");
        return 2;
    }
    const struct vt_setup setup = {
        .rows = ROWS, .cols = COLS, .argv = (const char *const *)argv + 3, .env = env};
    struct vt *vt = vt_start(&setup);
    struct tally tally = {.times = calloc(MOST, sizeof *tally.times)};
    if (!tally.times)
        give_up(vt, "out of memory");
    await_list(vt, argv[1]);
    move_until(vt, argv[2], &tally);
    if (tally.count == 0)
        give_up(vt, "everything was over before the first key");

    qsort(tally.times, tally.count, sizeof *tally.times, by_size);
    size_t middle = tally.count / 2;
    size_t p99 = tally.count * 99 / 100;
    printf("keys=%zu median_ms=%.1f p99_ms=%.1f worst_ms=%.1f late=%zu\n", tally.count,
           (double)tally.times[middle] / 1000, (double)tally.times[p99] / 1000,
           (double)tally.times[tally.count - 1] / 1000, tally.late);
    free(tally.times);
    vt_end(vt);
    return 0;
}
