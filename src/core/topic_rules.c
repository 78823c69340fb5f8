#include "core/topic_rules.h"

#include <string.h>
#include "base/bytes.h"
#include "core/json/json.h"
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
enum part { AWAITED, SPARED, TARGET, MOVED, OF, FORMAT, KEY, TYPE, SOURCE, CORRELATION, PARTS };
static const char *const part_words[PARTS] = {
    [SPARED] = "not", [TARGET] = "to",     [MOVED] = "moved",
    [OF] = "of",      [FORMAT] = "format", [KEY] = "key",
    [TYPE] = "type",  [SOURCE] = "source", [CORRELATION] = "correlation"};

// `key` is a place too: key key.
static enum part
part_of(struct bytes word, enum part part, bool is_begun)
{
    if (!is_begun && part >= KEY && part < PARTS && bytes_equal_text(word, "key"))
        return PARTS;
    for (enum part i = SPARED; i < PARTS; i++)
        if (bytes_equal_text(word, part_words[i]))
            return i;
    return PARTS;
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

static const char **
place_of(struct topic_rule *rule, enum part part)
{
    struct letter_places *places = &rule->places;
    return part == KEY      ? &places->key
           : part == TYPE   ? &places->type
           : part == SOURCE ? &places->source
                            : &places->correlation;
}

static bool
read_place(enum part part, struct bytes word, const char **place, struct arena *arena, struct err *err)
{
    struct json_path *path = NULL;
    struct err ignored = {0};
    bool is_key = bytes_equal_text(word, "key");
    bool is_header = bytes_starts(word, "header:") && word.len > strlen("header:");
    if (*place || (!is_key && !is_header && !json_path_parse(&path, word, &ignored)))
        return err_set(err, ERR_USAGE, "`%s` takes one place: $.a.b[2], header:NAME or key",
                       part_words[part]);
    json_path_destroy(path);
    *place = arena_text(arena, word);
    return true;
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
    case KEY:
    case TYPE:
    case SOURCE:
    case CORRELATION:
        return read_place(part, word, place_of(rule, part), arena, err);
    case AWAITED:
    case PARTS:
        break;
    }
    rule->awaited[rule->awaited_count++] = arena_text(arena, word);
    return true;
}

// Has the last part nothing behind its word?
static bool
is_empty(struct topic_rule *rule, enum part part, bool is_begun)
{
    return (part == TARGET && !rule->to) || (part == MOVED && !rule->moved) || (part == OF && !rule->of) ||
           (part == FORMAT && !rule->format) || (part >= KEY && (!is_begun || !*place_of(rule, part)));
}

static bool
read_words(struct topic_rule *rule, struct bytes rest, struct arena *arena, struct err *err)
{
    enum part part = AWAITED;
    bool is_begun = true; // something is behind the word that began the part
    size_t room = rest.len / 2 + 1;
    rule->awaited = arena_array(arena, room, sizeof *rule->awaited);
    rule->spared = arena_array(arena, room, sizeof *rule->spared);
    for (struct bytes word = next_word(&rest); bytes_present(word); word = next_word(&rest)) {
        enum part next = part_of(word, part, is_begun);
        is_begun = next == PARTS;
        if (next != PARTS)
            part = next;
        else if (bytes_equal_text(word, "check-newer"))
            rule->checks_newer = true;
        else if (!read_word(rule, part, word, arena, err))
            return false;
    }
    if (is_empty(rule, part, is_begun))
        return err_set(err, ERR_USAGE, "a %s is missing behind `%s`",
                       part == FORMAT ? "format"
                       : part >= KEY  ? "place"
                                      : "topic",
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
                       "a row is TOPIC: GROUP…, not GROUP…, to TOPIC, moved TOPIC, of TOPIC, format FORMAT, "
                       "key PLACE");
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
