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

static bool
read_words(struct topic_rule *rule, struct bytes rest, struct arena *arena, struct err *err)
{
    enum { AWAITED, SPARED, TARGET } part = AWAITED;
    size_t room = rest.len / 2 + 1;
    rule->awaited = arena_array(arena, room, sizeof *rule->awaited);
    rule->spared = arena_array(arena, room, sizeof *rule->spared);
    for (struct bytes word = next_word(&rest); bytes_present(word); word = next_word(&rest)) {
        if (bytes_equal_text(word, "not")) {
            part = SPARED;
        } else if (bytes_equal_text(word, "to")) {
            part = TARGET;
        } else if (bytes_equal_text(word, "check-newer")) {
            rule->checks_newer = true;
        } else if (part == TARGET) {
            if (rule->to || !target_check(word, err))
                return err_set(err, ERR_USAGE, "`to` takes one topic, with a name that Kafka allows");
            rule->to = arena_text(arena, word);
        } else if (part == SPARED) {
            rule->spared[rule->spared_count++] = arena_text(arena, word);
        } else {
            rule->awaited[rule->awaited_count++] = arena_text(arena, word);
        }
    }
    if (part == TARGET && !rule->to)
        return err_set(err, ERR_USAGE, "a topic is missing behind `to`");
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
        return err_set(err, ERR_USAGE, "a row is TOPIC: GROUP…, not GROUP…, to TOPIC");
    rule->topic = arena_text(arena, topic);
    return target_check(topic, err) &&
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
