// sim [schedules=N] [seed=N] [jobs=N] [broken=RULE]: many schedules of the simulator (tests/sim/sim.h).
//
// The first one that fails is shortened and printed as a story, and the status is 1. With a rule left out the
// status is 1 when nothing fails.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "publish/broken.h"
#include "tests/sim/sim.h"

#define MOST_JOBS 64

struct wish {
    uint64_t schedules, seed;
    unsigned jobs;
    enum broken rule;
};

struct outcome {
    struct sim_sights sights;
    bool is_found;
    struct schedule found;
};

static bool
read_rule(const char *name, enum broken *rule)
{
    for (*rule = BROKEN_NOTHING; *rule < BROKEN_COUNT; ++*rule)
        if (strcmp(broken_name(*rule), name) == 0)
            return true;
    fprintf(stderr, "sim: there is no rule %s; there are:\n", name);
    for (enum broken each = BROKEN_FINISH_FIRST; each < BROKEN_COUNT; each++)
        fprintf(stderr, "  %-14s %s\n", broken_name(each), broken_words(each));
    return false;
}

static bool
read_wish(struct wish *wish, int argc, char **argv)
{
    *wish = (struct wish){.schedules = 1000000, .seed = 1, .jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        if (!value || !*++value) // a goal's variable that was not given
            continue;
        if (strncmp(argv[i], "broken=", 7) == 0 && !read_rule(value, &wish->rule))
            return false;
        if (strncmp(argv[i], "schedules=", 10) == 0)
            wish->schedules = strtoull(value, NULL, 10);
        if (strncmp(argv[i], "seed=", 5) == 0)
            wish->seed = strtoull(value, NULL, 10);
        if (strncmp(argv[i], "jobs=", 5) == 0)
            wish->jobs = (unsigned)strtoul(value, NULL, 10);
    }
    if (wish->jobs == 0 || wish->jobs > MOST_JOBS)
        wish->jobs = 1;
    return true;
}

// Every jobs-th seed in a process of its own, which writes what it has seen.
static int
start_job(const struct wish *wish, unsigned job)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return -1;
    if (pid > 0) {
        close(ends[1]);
        return ends[0];
    }
    struct outcome outcome = {0};
    uint64_t count = (wish->schedules + wish->jobs - 1 - job) / wish->jobs;
    outcome.is_found = sim_search(wish->seed + job, wish->jobs, count, &outcome.found, &outcome.sights);
    ssize_t written = write(ends[1], &outcome, sizeof outcome);
    _exit(written == (ssize_t)sizeof outcome ? 0 : 1);
}

static bool
end_job(int end, struct outcome *outcome)
{
    size_t have = 0;
    ssize_t got;
    while (have < sizeof *outcome && ((got = read(end, (char *)outcome + have, sizeof *outcome - have)) > 0 ||
                                      (got < 0 && errno == EINTR)))
        have += got > 0 ? (size_t)got : 0;
    close(end);
    int status;
    return wait(&status) > 0 && status == 0 && have == sizeof *outcome;
}

static void
add(struct sim_sights *sum, const struct sim_sights *one)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)one;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

static void
print_sights(const struct sim_sights *sights)
{
    const struct {
        const char *words;
        uint64_t count;
    } rows[] = {
        {"steps with harm", sights->steps},
        {"kills", sights->crashes},
        {"slots taken over from another process", sights->takeovers},
        {"answers lost", sights->lost_answers},
        {"requests that came late", sights->late_requests},
        {"  of the epoch that was still in use", sights->late_hits},
        {"requests that came twice", sights->repeated_requests},
        {"open transactions fenced", sights->fencings},
        {"coordinators cut off", sights->cuts},
        {"answers from yesterday", sights->old_answers},
        {"unstable reads", sights->unstable_reads},
        {"chunks finished as published", sights->finished},
        {"  by recovery", sights->recovered_published},
        {"chunks proved not to be published", sights->recovered_unpublished},
        {"turns", sights->turns},
        {"copies of the database", sights->copies},
        {"backups put back", sights->put_backs},
        {"stops", sights->stops},
        {"clocks set", sights->clocks_set},
        {"claims given back for a clock", sights->clocks_refused},
        {"markers that expired", sights->expired},
        {"chunks searched for in the topics", sights->searched},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("  %-38s %14" PRIu64 "\n", rows[i].words, rows[i].count);
}

int
main(int argc, char **argv)
{
    struct wish wish;
    if (!read_wish(&wish, argc, argv))
        return 2;
    broken_choose(wish.rule);
    printf("%" PRIu64 " schedules from seed %" PRIu64 ", %u at a time: %s\n", wish.schedules, wish.seed,
           wish.jobs, broken_words(wish.rule));

    int ends[MOST_JOBS];
    int64_t start = clock_mono();
    for (unsigned job = 0; job < wish.jobs; job++)
        if ((ends[job] = start_job(&wish, job)) < 0)
            return perror("sim"), 1;
    struct sim_sights sights = {0};
    struct outcome outcome = {0}, failed = {0};
    bool is_good = true;
    for (unsigned job = 0; job < wish.jobs; job++) {
        is_good = end_job(ends[job], &outcome) && is_good;
        add(&sights, &outcome.sights);
        if (outcome.is_found && (!failed.is_found || outcome.found.seed < failed.found.seed))
            failed = outcome;
    }
    double minutes = (double)(clock_mono() - start) / (60.0 * US_PER_SECOND);
    if (!is_good)
        return fprintf(stderr, "sim: a job did not end well\n"), 1;

    print_sights(&sights);
    if (failed.is_found)
        sim_tell(&failed.found, stdout);
    else
        printf("nothing lost, nothing doubled, nothing left over; %.0f schedules a minute\n",
               (double)wish.schedules / minutes);
    return failed.is_found == (wish.rule != BROKEN_NOTHING) ? 0 : 1;
}
