#include "core/topic_rules.h"

#include <string.h>
#include "base/bytes.h"
#include "core/target.h"

struct topic_rules {
    struct topic_rule *rows;
    size_t count;
};

// The next word of a row; absent: none is left. Commas and blanks separate.
static struct bytes
next_word(struct bytes *rest)
{
    size_t from = 0, to;
    while (from < rest->len && (rest->data[from] == ' ' || rest->data[from] == ','))
        from++;
    for (to = from; to < rest->len && rest->data[to] != ' ' && rest->data[to] != ','; to++)
        ;
    struct bytes word = from < to ? bytes_slice(*rest, from, to - from) : BYTES_ABSENT;
    *rest = bytes_slice(*rest, to, rest->len - to);
    return word;
}

// What the words of a row are about, until the next word that says so.
enum part { AWAITED, SPARED, TARGET, MOVED, OF, FORMAT, PARTS };
static const char *const part_words[PARTS] = {
    [SPARED] = "not", [TARGET] = "to", [MOVED] = "moved", [OF] = "of", [FORMAT] = "format"};

static enum part
part_of(struct bytes word, enum part part)
{
    for (enum part i = SPARED; i < PARTS; i++)
        if (bytes_equal_text(word, part_words[i]))
            return i;
    return part;
}

static bool
read_topic(enum part part, struct bytes word, const char **topic, struct arena *arena, struct err *err)
{
    if (*topic || !target_check(word, err))
        return err_set(err, ERR_USAGE, "`%s` takes one topic, with a name that Kafka allows",
                       part_words[part]);
    *topic = arena_text(arena, word);
    return true;
}

static bool
read_format(struct bytes word, const struct envelope_format **format, struct err *err)
{
    if (*format)
        return err_set(err, ERR_USAGE, "`format` takes one format");
    *format = envelope_format_find(word);
    return *format || err_set(err, ERR_USAGE, "%.*s is no format; man redrive-config lists them",
                              (int)(word.len < 40 ? word.len : 40), word.data);
}

static bool
read_word(struct topic_rule *rule, enum part part, struct bytes word, struct arena *arena, struct err *err)
{
    switch (part) {
    case SPARED:
        rule->spared[rule->spared_count++] = arena_text(arena, word);
        return true;
    case TARGET:
        return read_topic(part, word, &rule->to, arena, err);
    case MOVED:
        return read_topic(part, word, &rule->moved, arena, err);
    case OF:
        return read_topic(part, word, &rule->of, arena, err);
    case FORMAT:
        return read_format(word, &rule->format, err);
    case AWAITED:
    case PARTS:
        break;
    }
    rule->awaited[rule->awaited_count++] = arena_text(arena, word);
    return true;
}

static bool
read_words(struct topic_rule *rule, struct bytes rest, struct arena *arena, struct err *err)
{
    enum part part = AWAITED;
    size_t room = rest.len / 2 + 1;
    rule->awaited = arena_array(arena, room, sizeof *rule->awaited);
    rule->spared = arena_array(arena, room, sizeof *rule->spared);
    for (struct bytes word = next_word(&rest); bytes_present(word); word = next_word(&rest)) {
        enum part next = part_of(word, PARTS);
        if (next != PARTS)
            part = next;
        else if (bytes_equal_text(word, "check-newer"))
            rule->checks_newer = true;
        else if (!read_word(rule, part, word, arena, err))
            return false;
    }
    bool is_missing = (part == TARGET && !rule->to) || (part == MOVED && !rule->moved) ||
                      (part == OF && !rule->of) || (part == FORMAT && !rule->format);
    if (is_missing)
        return err_set(err, ERR_USAGE, "a %s is missing behind `%s`", part == FORMAT ? "format" : "topic",
                       part_words[part]);
    return rule->spared_count == 0 || rule->to ||
           err_set(err, ERR_USAGE, "`not` needs a topic to send to instead: to TOPIC");
}

static bool
read_row(struct topic_rule *rule, struct bytes row, struct arena *arena, struct err *err)
{
    size_t colon = bytes_find(row, BYTES(":"), 0);
    struct bytes name = bytes_slice(row, 0, colon);
    struct bytes topic = next_word(&name);
    if (colon >= row.len || !bytes_present(topic) || bytes_present(next_word(&name)))
        return err_set(err, ERR_USAGE,
                       "a row is TOPIC: GROUP…, not GROUP…, to TOPIC, moved TOPIC, of TOPIC, format FORMAT");
    rule->topic = arena_text(arena, topic);
    return target_name_check(topic, err) &&
           read_words(rule, bytes_slice(row, colon + 1, row.len - colon - 1), arena, err);
}

const struct topic_rules *
topic_rules_read(const char *rows, struct arena *arena, struct err *err)
{
    struct topic_rules *rules = arena_array(arena, 1, sizeof *rules);
    *rules = (struct topic_rules){0};
    size_t lines = 1;
    for (const char *c = rows; c && *c; c++)
        lines += *c == '\n';
    rules->rows = arena_array(arena, lines, sizeof *rules->rows);
    for (struct bytes rest = rows ? bytes_of(rows) : BYTES(""); rest.len > 0;) {
        size_t end = bytes_find(rest, BYTES("\n"), 0);
        struct bytes row = bytes_slice(rest, 0, end);
        rest = end < rest.len ? bytes_slice(rest, end + 1, rest.len - end - 1) : BYTES("");
        if (row.len == 0)
            continue;
        struct err why = {0};
        rules->rows[rules->count] = (struct topic_rule){0};
        if (!read_row(&rules->rows[rules->count++], row, arena, &why)) {
            err_set(err, ERR_USAGE, "consumers, row %zu (%.*s): %s", rules->count,
                    (int)(row.len < 100 ? row.len : 100), row.data, why.text);
            return NULL;
        }
    }
    return rules;
}

const struct topic_rule *
topic_rule_of(const struct topic_rules *rules, const char *topic)
{
    for (size_t i = 0; rules && i < rules->count; i++)
        if (strcmp(rules->rows[i].topic, topic) == 0)
            return &rules->rows[i];
    return NULL;
}

static bool
is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool
topic_rule_awaits(const struct topic_rule *rule, const char *consumer)
{
    return rule && is_among(rule->awaited, rule->awaited_count, consumer);
}

bool
topic_rule_spares(const struct topic_rule *rule, const char *consumer)
{
    return rule && is_among(rule->spared, rule->spared_count, consumer);
}
