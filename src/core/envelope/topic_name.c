#include "core/envelope/topic_name.h"

#include <strings.h>

static bool
ends_like(struct bytes name, const char *word)
{
    size_t len = strlen(word);
    return name.len > len && strncasecmp(name.data + name.len - len, word, len) == 0;
}

static struct bytes
without_group(struct bytes name, struct bytes group)
{
    struct bytes rest = bytes_slice(name, 6, SIZE_MAX);
    size_t dot = bytes_find_last(rest, BYTES("."));
    if (group.len > 0 && rest.len > group.len + 1 && rest.data[rest.len - group.len - 1] == '.' &&
        bytes_equal(bytes_slice(rest, rest.len - group.len, SIZE_MAX), group))
        dot = rest.len - group.len - 1;
    return dot == SIZE_MAX || dot == 0 ? BYTES_ABSENT : bytes_slice(rest, 0, dot);
}

struct bytes
topic_name_original(struct bytes name, struct bytes group)
{
    static const char *const words[] = {"-dlq", ".dlq",         "_dlq",         "-dlt",        ".dlt",
                                        "_dlt", "-dead-letter", ".dead-letter", "_dead_letter"};
    static const char last_letters[] = "qtrQTR"; // of the words: they tell most names apart at once
    if (name.len == 0)
        return BYTES_ABSENT;
    bool may_end = memchr(last_letters, name.data[name.len - 1], sizeof last_letters - 1) != NULL;
    for (size_t i = 0; may_end && i < sizeof words / sizeof *words; i++)
        if (ends_like(name, words[i]))
            return bytes_slice(name, 0, name.len - strlen(words[i]));
    if ((bytes_starts(name, "dlq.") || bytes_starts(name, "DLQ.")) && name.len > 4)
        return bytes_slice(name, 4, SIZE_MAX);
    return bytes_starts(name, "error.") ? without_group(name, group) : BYTES_ABSENT;
}
