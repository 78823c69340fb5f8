// stall KEYS FILE PROGRAM ARGUMENT…: does the screen keep up while others are busy? Seen from the other end
// of its pseudo terminal, 120x40, and beside a program that does nothing at all.
//
// Types KEYS, which bring a list of at least 25 rows that does not reorder itself ("2": the events),
// then moves its cursor down and up with a key every 20 ms until FILE exists, and times each from
// the write of the key to the cursor seen on its new row. Halfway between two keys it types one to a child
// that only echoes what it reads, in a pseudo terminal of its own, and times that until it is back: what the
// kernel's pseudo terminals, its scheduler and this program make wait, the screen cannot help.
// A key that is not seen within 5 s ends the program with a failure: none is left out of the worst.
//
// Two lines name=value… on standard output, the screen's and the echo's, whose names begin with echo_:
// keys, median_ms, p99_ms, worst_ms, and late: keys that took longer than 50 ms.
// Of the worst key they also say where its time went, as the kernel counts it (/proc/PID/task/TID/schedstat):
// ran_ms, waited_ms    the first thread (the screen's draws) on a processor, and ready but waiting for one
// watcher_waited_ms    this program waiting for one, and so seeing late what had been painted
// What is left of worst_ms is the way of the key through the kernel, whose work queue waits for a processor
// too, or a thread that slept: the echo tells how much of that the machine makes.
// ran_most_ms is the most that any key took of the first thread: what the screen itself could do better.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "tests/terminal/vt.h"

enum { ROWS = 40, COLS = 120, SPAN = 20, MOST = 200000 };
static const int64_t PACE = 20000, LIMIT = 50000, PATIENCE = 5 * US_PER_SECOND, BEGIN = 120 * US_PER_SECOND;
static const size_t NOWHERE = SIZE_MAX; // the row of a cursor that is not there

// Of a thread, in µs since it began: on a processor, and ready but waiting for one.
struct spent {
    int64_t ran, waited;
};

struct key {
    int64_t took;
    struct spent typed_to, watcher; // during this key
};

// A program that is typed to, and how long its keys took.
struct program {
    struct vt *vt;
    size_t (*mark)(struct vt *vt); // what every key changes
    int64_t *times;
    struct key worst;
    int64_t ran_most;   // µs that any key took of the first thread
    size_t count, late; // late: longer than LIMIT
};

static void
give_up(struct vt *vt, const char *what)
{
    fprintf(stderr, "stall: %s\n%s\n", what, vt_screen(vt));
    vt_end(vt);
    exit(1);
}

static size_t
cursor_row(struct vt *vt)
{
    for (int row = 0; row < ROWS; row++)
        if (strstr(vt_row(vt, row), "▌"))
            return (size_t)row;
    return NOWHERE;
}

static size_t
echoed(struct vt *vt)
{
    return vt_output(vt).len;
}

// The list is there, and stands still: its cursor can go down and up again.
static void
await_list(struct vt *vt, const char *keys)
{
    int64_t begin = clock_mono();
    while (cursor_row(vt) == NOWHERE)
        if (clock_mono() - begin > BEGIN || !vt_run(vt, 10))
            give_up(vt, "no rows");
    vt_keys(vt, keys);
    vt_run(vt, 2000);
    if (cursor_row(vt) == NOWHERE)
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
time_key(const struct program *to, const char *keys)
{
    size_t before = to->mark(to->vt);
    struct spent spent = spent_by(vt_pid(to->vt));
    struct spent watcher = spent_by(getpid());
    int64_t begin = clock_mono();
    vt_keys(to->vt, keys);
    while (to->mark(to->vt) == before)
        if (clock_mono() - begin > PATIENCE || !vt_read(to->vt, 1))
            give_up(to->vt, "a key was not seen within 5 s");
    int64_t took = clock_mono() - begin;
    return (struct key){.took = took,
                        .typed_to = spent_since(vt_pid(to->vt), spent),
                        .watcher = spent_since(getpid(), watcher)};
}

static void
type(struct program *to, const char *keys)
{
    struct key key = time_key(to, keys);
    to->times[to->count++] = key.took;
    to->late += key.took > LIMIT;
    to->ran_most = key.typed_to.ran > to->ran_most ? key.typed_to.ran : to->ran_most;
    if (key.took > to->worst.took)
        to->worst = key;
}

// Half a pace from the last key, or now if that took longer; the screen goes on painting.
static void
await_turn(struct vt *screen, int64_t *turn)
{
    *turn += PACE / 2;
    int64_t now = clock_mono();
    if (*turn < now)
        *turn = now;
    for (; now < *turn; now = clock_mono())
        if (!vt_read(screen, (int)((*turn - now + 999) / 1000)))
            give_up(screen, "the screen has ended");
}

static void
type_until(struct program *screen, struct program *echo, const char *file)
{
    int64_t turn = clock_mono();
    while (screen->count < MOST && access(file, F_OK) != 0) {
        type(screen, screen->count / SPAN % 2 ? "k" : "j");
        await_turn(screen->vt, &turn);
        type(echo, "x");
        await_turn(screen->vt, &turn);
    }
}

// In the child: says that the terminal is raw, and gives back what it reads.
static int
echo(void *unused)
{
    (void)unused;
    struct termios modes;
    char bytes[64] = "ready";
    ssize_t len = 5;
    if (tcgetattr(STDIN_FILENO, &modes) != 0)
        return 1;
    cfmakeraw(&modes);
    if (tcsetattr(STDIN_FILENO, TCSANOW, &modes) != 0)
        return 1;
    while (len > 0 && write(STDOUT_FILENO, bytes, (size_t)len) == len)
        len = read(STDIN_FILENO, bytes, sizeof bytes);
    return 0;
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

static void
say(struct program *of, const char *prefix)
{
    qsort(of->times, of->count, sizeof *of->times, by_size);
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"median_ms", ms(of->times[of->count / 2])},
        {"p99_ms", ms(of->times[of->count * 99 / 100])},
        {"worst_ms", ms(of->worst.took)},
        {"ran_ms", ms(of->worst.typed_to.ran)},
        {"waited_ms", ms(of->worst.typed_to.waited)},
        {"watcher_waited_ms", ms(of->worst.watcher.waited)},
        {"ran_most_ms", ms(of->ran_most)},
    };
    printf("%skeys=%zu %slate=%zu", prefix, of->count, prefix, of->late);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        printf(" %s%s=%.1f", prefix, figures[i].name, figures[i].value);
    printf("\n");
}

int
main(int argc, char **argv)
{
    static const char *const env[] = {"TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", NULL};
    if (argc < 4) {
        fprintf(stderr, "usage: stall KEYS FILE PROGRAM ARGUMENT…\n");
        return 2;
    }
    // The echo first: what is forked later is not open in it.
    struct program reference = {.vt = vt_start(&(struct vt_setup){.run = echo}),
                                .mark = echoed,
                                .times = alloc_array(MOST, sizeof *reference.times)};
    if (!vt_wait_text(reference.vt, "ready"))
        give_up(reference.vt, "nothing echoes");
    const struct vt_setup setup = {
        .rows = ROWS, .cols = COLS, .argv = (const char *const *)argv + 3, .env = env};
    struct program screen = {
        .vt = vt_start(&setup), .mark = cursor_row, .times = alloc_array(MOST, sizeof *screen.times)};
    await_list(screen.vt, argv[1]);
    type_until(&screen, &reference, argv[2]);
    if (screen.count == 0)
        give_up(screen.vt, "everything was over before the first key");
    say(&screen, "");
    say(&reference, "echo_");
    free(screen.times);
    free(reference.times);
    vt_end(screen.vt);
    vt_end(reference.vt);
    return 0;
}
