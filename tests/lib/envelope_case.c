#include "tests/lib/envelope_case.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/strbuf.h"

static int
hex_digit(char c)
{
    const char *at = c ? strchr("0123456789abcdef", c) : NULL;
    return at ? (int)(at - "0123456789abcdef") : 0;
}

static struct bytes
unescape(const char *text, struct arena *arena)
{
    struct strbuf out = {0};
    for (; *text; text++) {
        if (*text != '\\') {
            strbuf_add_char(&out, *text);
            continue;
        }
        text++;
        if (*text == 'x' && text[1] && text[2]) {
            strbuf_add_char(&out, (char)(hex_digit(text[1]) << 4 | hex_digit(text[2])));
            text += 2;
        } else if (*text) {
            strbuf_add_char(&out, (char)(*text == 'n' ? '\n' : *text == 't' ? '\t' : *text));
        }
    }
    struct bytes copy = arena_copy(arena, strbuf_bytes(&out));
    strbuf_release(&out);
    return copy;
}

// "NAME VALUE"; a name alone has no value.
static void
add_header(struct envelope_case *one, char *text, struct arena *arena)
{
    char *blank = strchr(text, ' ');
    if (blank)
        *blank = '\0';
    if (one->record.header_count < ENVELOPE_CASE_LINES)
        one->headers[one->record.header_count++] = (struct event_header){
            .name = unescape(text, arena), .value = blank ? unescape(blank + 1, arena) : BYTES_ABSENT};
}

// NAME PARTITION OFFSET
static void
add_topic(struct envelope_case *one, const char *text, struct arena *arena)
{
    char *end = NULL;
    size_t len = strcspn(text, " ");
    one->record.topic = arena_copy(arena, (struct bytes){text, len});
    one->record.partition = (int32_t)strtol(text + len, &end, 10);
    one->record.offset = strtoll(end, NULL, 10);
}

static void
add_line(struct envelope_case *one, char *line, struct arena *arena)
{
    if (one->expected_count > 0 || strncmp(line, "=> ", 3) == 0) {
        if (one->expected_count < ENVELOPE_CASE_LINES)
            one->expected[one->expected_count++] = unescape(line, arena);
    } else if (strncmp(line, "topic ", 6) == 0) {
        add_topic(one, line + 6, arena);
    } else if (strncmp(line, "key ", 4) == 0) {
        one->record.key = unescape(line + 4, arena);
    } else if (strncmp(line, "value ", 6) == 0) {
        one->record.value = unescape(line + 6, arena);
    } else if (strncmp(line, "header ", 7) == 0) {
        add_header(one, line + 7, arena);
    }
}

static size_t
read_file(const char *path, void (*check)(const struct envelope_case *one, void *context), void *context)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0, count = 0;
    int number = 0;
    bool is_more = file != NULL;
    while (is_more) {
        struct arena arena = {0};
        struct envelope_case one = {.file = path, .record = {.timestamp = TIME_ABSENT}};
        while ((is_more = getline(&line, &room, file) > 0)) {
            number++;
            line[strcspn(line, "\n")] = '\0';
            if (line[0] == '\0')
                break;
            if (line[0] == '#')
                continue;
            one.line = one.line ? one.line : number;
            add_line(&one, line, &arena);
        }
        one.record.headers = one.headers;
        if (one.line) {
            check(&one, context);
            count++;
        }
        arena_release(&arena);
    }
    free(line);
    if (file)
        fclose(file);
    return count;
}

size_t
envelope_cases(const char *folder, void (*check)(const struct envelope_case *one, void *context),
               void *context)
{
    struct dirent **names;
    size_t count = 0;
    int files = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < files; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        const char *dot = strrchr(names[i]->d_name, '.');
        if (dot && strcmp(dot, ".txt") == 0)
            count += read_file(path, check, context);
        free(names[i]);
    }
    if (files >= 0)
        free(names);
    return count;
}
