#include "process/check.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "process/check_rows.h"
#include "process/judge.h"

enum {
    QUESTIONS = 4096, // that wait at most
    QUESTION_BYTES = 64 << 20,
    REASON = 500,
    ATTEMPTS = 2,       // to ask one event
    MOST_UNUSED = 10,   // processes in a row that end without an answer
    MOST_ENDED = 100,   // processes of one row
    END_WAIT = 100000,  // for a process that says no more, to learn how it ended
    LAST_WAIT = 300000, // for all of them, at the end
};

// One question, from checks_ask to the call after the one that took its answer.
struct asked {
    struct asked *next;         // in the order of asking
    struct asked *next_waiting; // of the same check
    int64_t id;
    struct strbuf line;
    int attempts;
    bool is_answered;
    enum check_verdict verdict;
    struct strbuf reason;
};

// One row, its processes and the questions that wait for one of them.
struct check {
    const struct check_row *row;
    struct judge *judges;
    struct asked **questions; // of each judge; NULL: it is idle or not started
    struct asked *first, *last;
    int unused, ended;
    struct strbuf trouble; // why it was given up; empty: it was not
};

struct checks {
    struct check_limits limits;
    struct arena arena; // rows
    struct check_row *rows;
    struct check *list;
    size_t count;
    struct asked *oldest, *newest;
    struct asked *taken; // whose reason the caller still looks at
    size_t waiting, bytes;
    int64_t looked; // when processes were looked at last; clock_mono
    struct pollfd *files;
};

struct checks *
checks_create(const char *rows, const struct check_limits *limits, struct err *err)
{
    struct checks *checks = alloc_bytes(sizeof *checks);
    checks->limits = *limits;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (limits->processes == 0)
        checks->limits.processes = processors > 0 ? (size_t)processors : 1;
    if (!check_rows_read(rows, &checks->arena, &checks->rows, &checks->count, err)) {
        arena_release(&checks->arena);
        free(checks);
        return NULL;
    }
    size_t most = checks->limits.processes;
    checks->list = alloc_array(checks->count + 1, sizeof *checks->list);
    checks->files = alloc_array(size_mul(checks->count * JUDGE_FILES + 1, most), sizeof *checks->files);
    for (size_t i = 0; i < checks->count; i++) {
        struct check *check = &checks->list[i];
        check->row = &checks->rows[i];
        check->judges = alloc_array(most, sizeof *check->judges);
        check->questions = alloc_array(most, sizeof(struct asked *));
    }
    return checks;
}

static void
asked_destroy(struct asked *asked)
{
    if (!asked)
        return;
    strbuf_release(&asked->line);
    strbuf_release(&asked->reason);
    free(asked);
}

void
checks_destroy(struct checks *checks)
{
    if (!checks)
        return;
    for (size_t i = 0; i < checks->count; i++)
        for (size_t k = 0; k < checks->limits.processes; k++)
            child_finish(&checks->list[i].judges[k].child);
    int64_t deadline = clock_mono() + LAST_WAIT;
    for (size_t i = 0; i < checks->count; i++) {
        struct check *check = &checks->list[i];
        for (size_t k = 0; k < checks->limits.processes; k++) {
            judge_end(&check->judges[k], deadline);
            judge_release(&check->judges[k]);
        }
        strbuf_release(&check->trouble);
        free(check->judges);
        free(check->questions);
    }
    for (struct asked *asked = checks->oldest, *next; asked; asked = next) {
        next = asked->next;
        asked_destroy(asked);
    }
    asked_destroy(checks->taken);
    free(checks->list);
    free(checks->files);
    arena_release(&checks->arena);
    free(checks);
}

static struct check *
check_of(const struct checks *checks, struct bytes type, struct bytes topic)
{
    for (size_t i = 0; i < checks->count; i++)
        if (check_row_matches(checks->list[i].row, type, topic))
            return &checks->list[i];
    return NULL;
}

const char *
checks_row(const struct checks *checks, struct bytes type, struct bytes topic)
{
    const struct check *check = check_of(checks, type, topic);
    return check ? check->row->text : NULL;
}

const char *
checks_trouble(const struct checks *checks)
{
    for (size_t i = 0; i < checks->count; i++)
        if (checks->list[i].trouble.len > 0)
            return strbuf_text(&checks->list[i].trouble);
    return NULL;
}

size_t
checks_waiting(const struct checks *checks)
{
    return checks->waiting;
}

// --- answers ---

static void
settle(struct checks *checks, struct asked *asked, enum check_verdict verdict, struct bytes reason)
{
    asked->is_answered = true;
    asked->verdict = verdict;
    checks->bytes -= asked->line.len;
    strbuf_release(&asked->line);
    if (verdict == CHECK_NONE || verdict == CHECK_OK)
        return;
    size_t kept = reason.len <= REASON ? reason.len : utf8_cut(reason, REASON - 3);
    strbuf_add(&asked->reason, bytes_slice(reason, 0, kept));
    if (kept < reason.len)
        strbuf_add_text(&asked->reason, "…");
}

static void
settle_by_answer(struct checks *checks, struct asked *asked, struct bytes answer)
{
    answer = bytes_trim(answer);
    bool is_text = utf8_valid(answer) && (answer.len == 0 || memchr(answer.data, '\0', answer.len) == NULL);
    if (bytes_equal_text(answer, "ok"))
        settle(checks, asked, CHECK_OK, BYTES_ABSENT);
    else if (answer.len == 0)
        settle(checks, asked, CHECK_FAILED, BYTES("the check answered with an empty line"));
    else if (!is_text)
        settle(checks, asked, CHECK_FAILED, BYTES("the check answered with bytes that are not UTF-8"));
    else
        settle(checks, asked, CHECK_REFUSED, answer);
}

static void
give_up(struct checks *checks, struct check *check, struct bytes why)
{
    strbuf_printf(&check->trouble, "the check \"%s\" was given up: ", check->row->text);
    strbuf_add(&check->trouble, why);
    struct bytes reason = strbuf_bytes(&check->trouble);
    for (size_t i = 0; i < checks->limits.processes; i++) {
        judge_end(&check->judges[i], 0);
        if (check->questions[i])
            settle(checks, check->questions[i], CHECK_FAILED, reason);
        check->questions[i] = NULL;
    }
    for (; check->first; check->first = check->first->next_waiting)
        settle(checks, check->first, CHECK_FAILED, reason);
    check->last = NULL;
}

// --- processes that end, answer late or out of step ---

static void
ask_again(struct check *check, struct asked *asked)
{
    asked->next_waiting = check->first;
    check->first = asked;
    if (!check->last)
        check->last = asked;
}

// Counts a process that has ended; gives the check up where there are too many.
static void
count_end(struct checks *checks, struct check *check, bool is_used, struct bytes how)
{
    check->ended++;
    check->unused = is_used ? 0 : check->unused + 1;
    if (check->unused < MOST_UNUSED && check->ended < MOST_ENDED)
        return;
    struct strbuf why = {0};
    if (check->unused >= MOST_UNUSED)
        strbuf_printf(&why, "%d processes in a row gave no answer; the last one ", check->unused);
    else
        strbuf_printf(&why, "%d processes have ended; the last one ", check->ended);
    strbuf_add(&why, how);
    give_up(checks, check, strbuf_bytes(&why));
    strbuf_release(&why);
}

static bool
cannot_run(const struct child *child)
{
    return child->is_known && WIFEXITED(child->status) &&
           (WEXITSTATUS(child->status) == 126 || WEXITSTATUS(child->status) == 127);
}

static void
on_death(struct checks *checks, struct check *check, size_t at)
{
    struct judge *judge = &check->judges[at];
    struct asked *asked = check->questions[at];
    check->questions[at] = NULL;
    judge_end(judge, clock_mono() + END_WAIT);
    if (asked && !judge->has_read)
        asked->attempts--; // it ended because of something else
    struct strbuf how = {0};
    child_describe(&judge->child, &how);
    if (asked && (asked->attempts < ATTEMPTS || cannot_run(&judge->child)))
        ask_again(check, asked);
    else if (asked) {
        struct strbuf reason = {0};
        strbuf_printf(&reason, "the check %s", strbuf_text(&how));
        settle(checks, asked, CHECK_FAILED, strbuf_bytes(&reason));
        strbuf_release(&reason);
    }
    if (cannot_run(&judge->child))
        give_up(checks, check, strbuf_bytes(&how));
    else
        count_end(checks, check, judge->has_answered, strbuf_bytes(&how));
    strbuf_release(&how);
}

static void
on_lateness(struct checks *checks, struct check *check, size_t at)
{
    struct judge *judge = &check->judges[at];
    struct strbuf how = {0};
    int64_t patience = checks->limits.time + (judge->has_answered ? 0 : checks->limits.start);
    strbuf_printf(&how, "gave no answer within %" PRId64 " ms", patience / 1000);
    if (!judge->has_answered)
        strbuf_add_text(&how, ", nor any before; does it flush its standard output?");
    struct strbuf reason = {0};
    strbuf_printf(&reason, "the check %s", strbuf_text(&how));
    settle(checks, check->questions[at], CHECK_FAILED, strbuf_bytes(&reason));
    check->questions[at] = NULL;
    judge_end(judge, 0);
    count_end(checks, check, judge->has_answered, strbuf_bytes(&how));
    strbuf_release(&how);
    strbuf_release(&reason);
}

// --- questions on their way ---

static void
follow(struct checks *checks, struct check *check, size_t at, int64_t now)
{
    struct judge *judge = &check->judges[at];
    switch (judge_go_on(judge, now)) {
    case JUDGE_WAITS:
        break;
    case JUDGE_ANSWERED:
        check->unused = 0;
        settle_by_answer(checks, check->questions[at], strbuf_bytes(&judge->answer));
        check->questions[at] = NULL;
        break;
    case JUDGE_DIED:
        on_death(checks, check, at);
        break;
    case JUDGE_LATE:
        on_lateness(checks, check, at);
        break;
    case JUDGE_OUT_OF_STEP:
        give_up(checks, check, bytes_of(judge->fault));
        break;
    }
}

// An idle process, or one that is started now; SIZE_MAX: all are at work, or the check was given up.
static size_t
find_judge(struct checks *checks, struct check *check)
{
    size_t off = SIZE_MAX;
    for (size_t i = 0; i < checks->limits.processes; i++) {
        if (judge_is_on(&check->judges[i]) && !check->questions[i])
            return i;
        if (!judge_is_on(&check->judges[i]) && off == SIZE_MAX)
            off = i;
    }
    struct err err = {0};
    if (off == SIZE_MAX || judge_start(&check->judges[off], check->row->command, checks->limits.memory, &err))
        return off;
    give_up(checks, check, bytes_of(err.text));
    return SIZE_MAX;
}

static void
hand_out(struct checks *checks, struct check *check, int64_t now)
{
    size_t at;
    while (check->first && (at = find_judge(checks, check)) != SIZE_MAX) {
        struct asked *asked = check->first;
        struct judge *judge = &check->judges[at];
        check->first = asked->next_waiting;
        if (!check->first)
            check->last = NULL;
        asked->next_waiting = NULL;
        asked->attempts++;
        check->questions[at] = asked;
        judge_ask(judge, strbuf_bytes(&asked->line),
                  now + checks->limits.time + (judge->has_answered ? 0 : checks->limits.start));
        follow(checks, check, at, now);
    }
}

// Until something happens or the time is over; at most until an answer is late.
static void
await(struct checks *checks, int64_t until)
{
    size_t most = checks->limits.processes;
    for (size_t i = 0; i < checks->count; i++)
        for (size_t k = 0; k < most; k++) {
            const struct judge *judge = &checks->list[i].judges[k];
            judge_poll(judge, &checks->files[(i * most + k) * JUDGE_FILES]);
            if (judge->is_asked && judge->deadline < until)
                until = judge->deadline;
        }
    int64_t left = (until - clock_mono() + 999) / 1000;
    poll(checks->files, checks->count * most * JUDGE_FILES,
         left < 0           ? 0
         : left > INT32_MAX ? INT32_MAX
                            : (int)left);
}

// A process may have waited for us meanwhile, with half of a long question.
static void
forgive_absence(struct checks *checks)
{
    int64_t away = clock_mono() - checks->looked;
    for (size_t i = 0; i < checks->count; i++)
        for (size_t k = 0; k < checks->limits.processes; k++)
            if (checks->list[i].judges[k].is_asked)
                checks->list[i].judges[k].deadline += away;
}

static void
go_on(struct checks *checks, int64_t until)
{
    size_t most = checks->limits.processes;
    forgive_absence(checks);
    await(checks, until);
    int64_t now = clock_mono();
    for (size_t i = 0; i < checks->count; i++) {
        struct check *check = &checks->list[i];
        for (size_t k = 0; k < most; k++) {
            const struct pollfd *files = &checks->files[(i * most + k) * JUDGE_FILES];
            const struct judge *judge = &check->judges[k];
            bool is_ready = files[0].revents | files[1].revents | files[2].revents;
            if (judge_is_on(judge) && (is_ready || (judge->is_asked && now >= judge->deadline)))
                follow(checks, check, k, now);
        }
        hand_out(checks, check, now);
    }
    checks->looked = clock_mono();
}

bool
checks_ask(struct checks *checks, const struct question *question)
{
    if (checks->waiting >= QUESTIONS || checks->bytes >= QUESTION_BYTES)
        return false;
    struct asked *asked = alloc_bytes(sizeof *asked);
    asked->id = question->id;
    if (checks->newest)
        checks->newest->next = asked;
    else
        checks->oldest = asked;
    checks->newest = asked;
    checks->waiting++;

    struct check *check = check_of(checks, question->type, question->topic);
    if (!check) {
        settle(checks, asked, CHECK_NONE, BYTES_ABSENT);
        return true;
    }
    question_write(question, &asked->line);
    checks->bytes += asked->line.len;
    if (check->trouble.len > 0) {
        settle(checks, asked, CHECK_FAILED, strbuf_bytes(&check->trouble));
        return true;
    }
    if (check->last)
        check->last->next_waiting = asked;
    else
        check->first = asked;
    check->last = asked;
    go_on(checks, 0);
    return true;
}

bool
checks_answer(struct checks *checks, struct check_answer *answer, int64_t wait_us)
{
    asked_destroy(checks->taken);
    checks->taken = NULL;
    int64_t until = wait_us < 0 ? INT64_MAX / 2 : clock_mono() + wait_us;
    struct asked *oldest = checks->oldest;
    if (!oldest)
        return false;
    if (!oldest->is_answered)
        go_on(checks, 0);
    while (!oldest->is_answered && clock_mono() < until)
        go_on(checks, until);
    if (!oldest->is_answered)
        return false;

    checks->oldest = oldest->next;
    if (!checks->oldest)
        checks->newest = NULL;
    checks->waiting--;
    checks->taken = oldest;
    bool has_reason = oldest->verdict == CHECK_REFUSED || oldest->verdict == CHECK_FAILED;
    *answer = (struct check_answer){.id = oldest->id,
                                    .verdict = oldest->verdict,
                                    .reason = has_reason ? strbuf_text(&oldest->reason) : NULL};
    return true;
}
