// json [-s SECONDS]: how fast payloads are checked and formatted on one core, beside jansson and jq.
//
// Two kinds of documents: orders of about 1 kB as a shop sends them, and a ticket of 2 MB with texts, steps
// and a log. Each way is measured in turn, seven rounds, and its median counts. Processor time, so that a
// busy machine does not count; jq is a process of its own and reads 32 MB of such documents, so that its
// start does not count.
//
// A line a document and task: document, bytes, task, then MB/s of each way, and how many times as long as
// ours it takes. jansson reads with json_loadb and prints with json_dumps; what it prints is not the same
// bytes any more. jq formats what it has read: `jq .`; it has no way to check and print nothing but `jq
// empty`.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/alloc.h"
#include "core/json/json.h"
#include "tests/lib/jansson.h"

enum { ROUNDS = 7, ORDERS = 2000, JQ_BYTES = 32 << 20, TICKET = 2 << 20 };
enum way { OURS, JANSSON, JQ, WAYS };
static const char *const way_names[WAYS] = {"redrive", "jansson", "jq"};

extern char **environ;

struct documents {
    const char *name;
    struct strbuf *texts;
    size_t count, bytes;
    char path[64]; // of the file that jq reads
    size_t path_bytes;
};

static void
fail(const char *what)
{
    fprintf(stderr, "json: %s\n", what);
    exit(1);
}

static void
make_order(struct strbuf *out, int i)
{
    strbuf_printf(
        out,
        "{\"orderId\":\"ORD-2026-%07d\",\"customer\":{\"id\":%d,\"name\":\"Zo\xc3\xab M\xc3\xbcller\","
        "\"email\":\"customer.%d@example.com\",\"address\":{\"street\":\"Rua das Flores 1%d\",\"city\":"
        "\"S\xc3\xa3o Paulo\",\"postal_code\":\"04538-133\",\"country\":\"BR\"}},\"lines\":[",
        i, 480000 + i, i, i % 9);
    for (int line = 0; line < 5; line++)
        strbuf_printf(
            out,
            "%s{\"sku\":\"SKU-%05d\",\"title\":\"Cotton shirt \\\"classic\\\", size %d\",\"quantity\":%d,"
            "\"amount\":%d.%02d,\"taxed\":true}",
            line ? "," : "", i % 90000 + line, 36 + line, 1 + line % 3, 10 + i % 80, (i + line) % 100);
    strbuf_printf(
        out,
        "],\"total\":%d.%02d,\"currency\":\"BRL\",\"coupon\":null,\"placedAt\":\"2026-02-28T22:%02d:%02dZ\","
        "\"correlationId\":\"5f0c%04x-1d2e-4c3b-9a8f-%012x\",\"attempt\":%d}",
        300 + i % 700, i % 100, i % 60, i % 60, i & 0xFFFF, i, i % 4);
}

static void
make_ticket(struct strbuf *out)
{
    strbuf_add_text(out, "{\n  \"ticket_id\": \"T-0001\",\n  \"description\": \"");
    for (int i = 0; i < 400; i++)
        strbuf_add_text(out,
                        "O pedido n\xc3\xa3o chegou ao destino; o cliente pede o reembolso do valor.\\n");
    strbuf_add_text(out, "\",\n  \"steps\": [");
    for (int i = 0; out->len < TICKET; i++)
        strbuf_printf(
            out,
            "%s\n    {\n      \"step\": %d,\n      \"state\": \"completed\",\n      \"started_at\": "
            "17723%08d,\n"
            "      \"progress\": 0.%03d,\n      \"output\": \"worker-%d finished the batch without a "
            "retry; 1,024 rows read, 1,020 rows written, 4 rows left out because their key was "
            "empty\",\n      \"trace\": \"java.lang.IllegalStateException: queue is full\\n\\tat com.example."
            "worker.Queue.put(Queue.java:%d)\\n\\tat com.example.worker.Step.run(Step.java:88)\",\n"
            "      \"labels\": [\"eu-west\", \"batch\", \"priority-%d\"],\n      \"final\": %s\n    }",
            i ? "," : "", i, i, i % 1000, i % 32, 100 + i % 50, i % 5, i % 2 ? "true" : "false");
    strbuf_add_text(out, "\n  ]\n}\n");
}

static void
write_for_jq(struct documents *documents)
{
    snprintf(documents->path, sizeof documents->path, "/tmp/redrive.bench.json.XXXXXX");
    int fd = mkstemp(documents->path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        fail("a file in /tmp cannot be written");
    for (size_t i = 0; documents->path_bytes < JQ_BYTES; i++) {
        struct bytes text = strbuf_bytes(&documents->texts[i % documents->count]);
        fwrite(text.data, 1, text.len, file);
        fputc('\n', file);
        documents->path_bytes += text.len + 1;
    }
    if (fclose(file))
        fail("a file in /tmp cannot be written");
}

static void
documents_add(struct documents *documents, struct strbuf *text)
{
    documents->texts[documents->count++] = *text;
    documents->bytes += text->len;
    *text = (struct strbuf){0};
}

static void
documents_release(struct documents *documents)
{
    unlink(documents->path);
    for (size_t i = 0; i < documents->count; i++)
        strbuf_release(&documents->texts[i]);
    free(documents->texts);
}

static double
seconds(clockid_t clock)
{
    struct timespec spent;
    clock_gettime(clock, &spent);
    return (double)spent.tv_sec + (double)spent.tv_nsec / 1e9;
}

static void
pass_ours(const struct documents *documents, bool formats)
{
    static struct strbuf out;
    for (size_t i = 0; i < documents->count; i++) {
        struct bytes text = strbuf_bytes(&documents->texts[i]);
        strbuf_reset(&out);
        if (formats ? !json_format(text, &out) : !json_check(text, NULL))
            fail("a document is not valid");
    }
}

static void
pass_jansson(const struct documents *documents, bool formats)
{
    for (size_t i = 0; i < documents->count; i++) {
        struct bytes text = strbuf_bytes(&documents->texts[i]);
        char *printed = formats ? jansson_format(text) : NULL;
        if (formats ? !printed : !jansson_reads(text))
            fail("jansson does not take a document");
        free(printed);
    }
}

// Seconds of the processor; < 0: there is no jq.
static double
pass_jq(const struct documents *documents, bool formats)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, documents->path, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    char name[] = "jq", print[] = ".", read_only[] = "empty";
    char *argv[] = {name, formats ? print : read_only, NULL};
    pid_t pid;
    bool is_there = posix_spawnp(&pid, "jq", &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!is_there)
        return -1;
    struct rusage usage;
    int status;
    if (wait4(pid, &status, 0, &usage) != pid || status != 0)
        return -1;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// MB/s, < 0 where the way does not exist.
static double
measure_once(const struct documents *documents, enum way way, bool formats, double least)
{
    if (way == JQ) {
        double took = pass_jq(documents, formats);
        return took < 0 ? -1 : (double)documents->path_bytes / took / 1e6;
    }
    double from = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double took = 0;
    double bytes = 0;
    while (took < least) {
        (way == OURS ? pass_ours : pass_jansson)(documents, formats);
        bytes += (double)documents->bytes;
        took = seconds(CLOCK_PROCESS_CPUTIME_ID) - from;
    }
    return bytes / took / 1e6;
}

static int
by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void
measure(const struct documents *documents, bool formats, double least)
{
    double speeds[WAYS][ROUNDS];
    for (int round = 0; round < ROUNDS; round++)
        for (int way = 0; way < WAYS; way++)
            speeds[way][round] = way == JQ && round >= 3
                                     ? speeds[way][round - 3]
                                     : measure_once(documents, (enum way)way, formats, least);
    printf("%s bytes=%zu task=%s", documents->name, documents->bytes / documents->count,
           formats ? "format" : "check");
    for (int way = 0; way < WAYS; way++)
        qsort(speeds[way], ROUNDS, sizeof **speeds, by_size);
    for (int way = 0; way < WAYS; way++) {
        double speed = speeds[way][ROUNDS / 2];
        if (speed < 0)
            continue;
        printf(" %s_mb_s=%.0f", way_names[way], speed);
        if (way != OURS)
            printf(" %s_ratio=%.4f", way_names[way], speed / speeds[OURS][ROUNDS / 2]);
    }
    printf("\n");
    fflush(stdout);
}

int
main(int argc, char **argv)
{
    double least = 0.2;
    int option;
    while ((option = getopt(argc, argv, "s:")) != -1) {
        if (option != 's')
            return 2;
        least = strtod(optarg, NULL);
    }
    struct documents kinds[] = {{.name = "order"}, {.name = "ticket"}};
    struct strbuf text = {0};
    kinds[0].texts = alloc_array(ORDERS, sizeof *kinds[0].texts);
    for (int i = 0; i < ORDERS; i++) {
        make_order(&text, i);
        documents_add(&kinds[0], &text);
    }
    kinds[1].texts = alloc_array(1, sizeof *kinds[1].texts);
    make_ticket(&text);
    documents_add(&kinds[1], &text);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        write_for_jq(&kinds[i]);
        measure(&kinds[i], false, least);
        measure(&kinds[i], true, least);
        documents_release(&kinds[i]);
    }
    return 0;
}
