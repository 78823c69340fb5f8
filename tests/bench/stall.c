// stall KEYS FILE PROGRAM ARGUMENT…: does the screen keep up while others are busy? Seen from the other end
// of its pseudo terminal, 120x40.
//
// Types KEYS, which bring a list of at least 25 rows that does not reorder itself ("2": the events),
// then moves its cursor down and up with a key every 20 ms until FILE exists, and times each from
// the write of the key to the cursor seen on its new row. A key that is not painted within 5 s ends the
// program with a failure: none is left out of the worst. One line name=value… on standard output.
//
// Of the worst key it also says where its time went, as the kernel counts it (/proc/PID/task/TID/schedstat):
// ran_ms, waited_ms    the screen's first thread, which draws, on a processor and ready but waiting for one
// watcher_waited_ms    this program waiting for one, and so seeing late what had been painted
// ran_most_ms is the most that any key took of the first thread: what the screen itself could do better.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "tests/terminal/vt.h"

enum { ROWS = 40, COLS = 120, SPAN = 20, MOST = 200000 };
static const int64_t PACE = 20000, LIMIT = 50000, PATIENCE = 5 * US_PER_SECOND, BEGIN = 120 * US_PER_SECOND;

// Of a thread, in µs since it began: on a processor, and ready but waiting for one.
struct spent {
    int64_t ran, waited;
};

struct key {
    int64_t took;
    struct spent screen, watcher; // during this key
};

struct tally {
    int64_t *times;
    struct key worst;
    int64_t ran_most;   // µs that any key took of the screen's first thread
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

static struct spent
spent_by(pid_t thread)
{
    char path[64];
    char line[96] = "";
    char *rest = line;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/schedstat", (long)thread, (long)thread);
    FILE *file = fopen(path, "r");
    if (file) {
        (void)!fgets(line, sizeof line, file);
        fclose(file);
    }
    int64_t ran = strtoll(rest, &rest, 10);
    int64_t waited = strtoll(rest, NULL, 10);
    return (struct spent){.ran = ran / 1000, .waited = waited / 1000};
}

static struct spent
spent_since(pid_t thread, struct spent before)
{
    struct spent now = spent_by(thread);
    return (struct spent){.ran = now.ran - before.ran, .waited = now.waited - before.waited};
}

static struct key
time_key(struct vt *vt, const char *keys)
{
    int before = cursor_row(vt);
    struct spent screen = spent_by(vt_pid(vt));
    struct spent watcher = spent_by(getpid());
    int64_t begin = clock_mono();
    vt_keys(vt, keys);
    while (cursor_row(vt) == before)
        if (clock_mono() - begin > PATIENCE || !vt_settle(vt, 1))
            give_up(vt, "a key was not painted within 5 s");
    return (struct key){.took = clock_mono() - begin,
                        .screen = spent_since(vt_pid(vt), screen),
                        .watcher = spent_since(getpid(), watcher)};
}

static void
move_until(struct vt *vt, const char *file, struct tally *tally)
{
    int64_t next = clock_mono();
    while (tally->count < MOST && access(file, F_OK) != 0) {
        struct key key = time_key(vt, tally->count / SPAN % 2 ? "k" : "j");
        tally->times[tally->count++] = key.took;
        tally->late += key.took > LIMIT;
        tally->ran_most = key.screen.ran > tally->ran_most ? key.screen.ran : tally->ran_most;
        if (key.took > tally->worst.took)
            tally->worst = key;
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

static double
ms(int64_t us)
{
    return (double)us / 1000;
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
    printf("keys=%zu median_ms=%.1f p99_ms=%.1f worst_ms=%.1f late=%zu ", tally.count,
           ms(tally.times[middle]), ms(tally.times[p99]), ms(tally.worst.took), tally.late);
    printf("ran_ms=%.1f waited_ms=%.1f watcher_waited_ms=%.1f ran_most_ms=%.1f\n", ms(tally.worst.screen.ran),
           ms(tally.worst.screen.waited), ms(tally.worst.watcher.waited), ms(tally.ran_most));
    free(tally.times);
    vt_end(vt);
    return 0;
}
