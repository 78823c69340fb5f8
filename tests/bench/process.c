// process [EVENTS]: events a second through a check and through jq, beside the floor under both: lines of the
// same length to one process that answers each with "ok", as a check does.
//
// The payloads have about 1 kB. Prints one line: `floor=N check=N check_one=N jq=N recipe=N`, each events a
// second. check: as many processes as processors; check_one: one; jq: the program `.`; recipe: one that
// changes a number in each line of the order.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "process/check.h"
#include "process/jq.h"
#include "process/jq_worker.h"

static void
make_payload(struct strbuf *out)
{
    strbuf_add_text(out, "{\"orderId\":40001234,\"customer\":\"C-000017\",\"lines\":[");
    for (int i = 0; i < 15; i++)
        strbuf_printf(out, "%s{\"sku\":\"SKU-%05d\",\"quantity\":%d,\"amount\":\"%d.50\",\"gift\":false}",
                      i ? "," : "", i * 37, 1 + i, 10 + i);
    strbuf_add_text(out, "]}");
}

static double
rate(size_t events, int64_t from)
{
    return (double)events * US_PER_SECOND / (double)(clock_mono() - from);
}

// The simplest check there is.
static int
answer_lines(void)
{
    static char line[1 << 16];
    while (fgets(line, sizeof line, stdin))
        if (puts("ok") < 0 || fflush(stdout) != 0)
            return 1;
    return 0;
}

// Both ends block, nothing is looked at: what two processes that hand lines to each other can do.
static double
measure_floor(struct bytes line, size_t events)
{
    int to[2], back[2];
    if (pipe(to) < 0 || pipe(back) < 0)
        die("process: no pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(back[1], STDOUT_FILENO);
        close(to[1]);
        close(back[0]);
        close(to[0]);
        close(back[1]);
        _exit(answer_lines());
    }
    close(to[0]);
    close(back[1]);
    char answer[64];
    int64_t from = clock_mono();
    for (size_t i = 0; i < events; i++)
        if (write(to[1], line.data, line.len) != (ssize_t)line.len ||
            read(back[0], answer, sizeof answer) < 3)
            die("process: no answer");
    double result = rate(events, from);
    close(to[1]);
    close(back[0]);
    waitpid(child, NULL, 0);
    return result;
}

static double
measure_check(const char *row, struct bytes payload, size_t events, size_t processes)
{
    const struct check_limits limits = {
        .time = 10 * US_PER_SECOND, .start = CHECK_START, .memory = 1 << 30, .processes = processes};
    struct err err = {0};
    struct checks *checks = checks_create(row, &limits, &err);
    if (!checks)
        die("process: %s", err.text);
    struct check_answer answer;
    int64_t from = clock_mono();
    size_t taken = 0;
    for (size_t i = 0; i < events; i++) {
        const struct question question = {.id = (int64_t)i,
                                          .type = BYTES("OrderCreated"),
                                          .topic = BYTES("orders.events"),
                                          .payload = payload};
        while (!checks_ask(checks, &question))
            if (checks_answer(checks, &answer, -1) && answer.verdict == CHECK_OK)
                taken++;
    }
    while (checks_answer(checks, &answer, -1) && answer.verdict == CHECK_OK)
        taken++;
    if (taken != events)
        die("process: %zu of %zu events were taken", taken, events);
    double result = rate(events, from);
    checks_destroy(checks);
    return result;
}

static double
measure_jq(struct bytes payload, size_t events, const char *program)
{
    const struct jq_limits limits = {.time = 10 * US_PER_SECOND, .memory = 256 << 20};
    struct jq_process *process = jq_process_create(&limits);
    struct strbuf out = {0};
    struct err err = {0};
    if (!jq_process_check(process, program, &err))
        die("process: %s", err.text);
    int64_t from = clock_mono();
    for (size_t i = 0; i < events; i++) {
        strbuf_reset(&out);
        if (!jq_process_run(process, program, payload, &out, &err))
            die("process: %s", err.text);
    }
    double result = rate(events, from);
    strbuf_release(&out);
    jq_process_destroy(process);
    return result;
}

int
main(int argc, char **argv)
{
    if (jq_worker_is_meant(argc, argv))
        return jq_worker_run(argv);
    if (argc == 2 && strcmp(argv[1], "--answer") == 0)
        return answer_lines();
    char row[4096];
    snprintf(row, sizeof row, "type * exec '%s' --answer", argv[0]);
    size_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
    struct strbuf payload = {0}, line = {0};
    make_payload(&payload);
    struct bytes bytes = strbuf_bytes(&payload);
    const struct question question = {.type = BYTES("OrderCreated"), .payload = bytes};
    question_write(&question, &line);
    printf("floor=%.0f", measure_floor(strbuf_bytes(&line), events));
    printf(" check=%.0f check_one=%.0f", measure_check(row, bytes, events, 0),
           measure_check(row, bytes, events, 1));
    printf(" jq=%.0f recipe=%.0f\n", measure_jq(bytes, events, "."),
           measure_jq(bytes, events, ".lines[].amount |= tonumber"));
    strbuf_release(&payload);
    strbuf_release(&line);
    return 0;
}
