// replace: matches of a regular expression within texts.
#include "base/clock.h"
#include "base/utf8.h"
#include "core/recipe/private.h"

static const int64_t REPLACE_TIME = 1000000; // µs a text
enum { MATCHES_A_LOOK = 256 };               // between two looks at the clock

// A text that is being rewritten. Everything outside of the matches is taken from `raw` as it is written
// there.
struct rewrite {
    const struct operation *operation;
    struct bytes content;
    struct bytes raw;
    const size_t *places; // from content to raw; NULL: content begins at raw[1]
    bool is_token;        // raw is a JSON token; else it is the content itself
    size_t taken;         // raw up to here is written
    struct strbuf *out;
    bool is_changed;
    const char *stopped; // why it cannot be finished
};

static size_t
raw_offset(const struct rewrite *rewrite, size_t at)
{
    if (!rewrite->is_token)
        return at;
    return rewrite->places ? rewrite->places[at] : at + 1;
}

// What one match becomes.
static bool
expand(struct rewrite *rewrite, const struct pattern_group *groups, size_t room, struct strbuf *text)
{
    const struct operation *operation = rewrite->operation;
    strbuf_reset(text);
    for (size_t i = 0; i < operation->replacement_count; i++) {
        struct replacement part = operation->replacements[i];
        if (bytes_present(part.literal))
            strbuf_add(text, part.literal);
        else if (part.group < room && groups[part.group].is_set)
            strbuf_add(text, bytes_slice(rewrite->content, groups[part.group].from, groups[part.group].len));
        if (text->len + rewrite->out->len > JSON_BYTES) {
            rewrite->stopped = "the replaced text is too large";
            return false;
        }
    }
    return true;
}

static void
put(struct rewrite *rewrite, struct pattern_group match, struct bytes text)
{
    if (bytes_equal(text, bytes_slice(rewrite->content, match.from, match.len)))
        return;
    size_t from = raw_offset(rewrite, match.from);
    strbuf_add(rewrite->out, bytes_slice(rewrite->raw, rewrite->taken, from - rewrite->taken));
    if (rewrite->is_token) {
        struct strbuf token = {0};
        json_quote(text, &token);
        strbuf_add(rewrite->out, bytes_slice(strbuf_bytes(&token), 1, token.len - 2));
        strbuf_release(&token);
    } else {
        strbuf_add(rewrite->out, text);
    }
    rewrite->taken = raw_offset(rewrite, match.from + match.len);
    rewrite->is_changed = true;
}

static void
rewrite_matches(struct rewrite *rewrite)
{
    struct pattern *pattern = rewrite->operation->pattern;
    struct pattern_group groups[REPLACEMENT_GROUPS];
    size_t room = pattern_group_count(pattern) + 1;
    room = room < REPLACEMENT_GROUPS ? room : REPLACEMENT_GROUPS;
    struct strbuf text = {0};
    int64_t until = 0;
    for (size_t at = 0, count = 1; at <= rewrite->content.len; count++) {
        enum pattern_verdict verdict = pattern_find_groups(pattern, rewrite->content, at, groups, room);
        if (verdict == PATTERN_NO)
            break;
        if (count % MATCHES_A_LOOK == 0) {
            int64_t now = clock_mono();
            until = until ? until : now + REPLACE_TIME;
            verdict = now > until ? PATTERN_LIMIT : verdict;
        }
        // \K within a look-behind may put a match before the place where the search began.
        if (verdict == PATTERN_LIMIT || groups[0].from < at)
            rewrite->stopped = "the regular expression ran into its limits";
        if (rewrite->stopped || !expand(rewrite, groups, room, &text))
            break;
        put(rewrite, groups[0], strbuf_bytes(&text));
        at = groups[0].from + groups[0].len;
        if (groups[0].len == 0) {
            uint32_t point;
            at += at < rewrite->content.len ? utf8_decode(rewrite->content, at, &point) : 1;
        }
    }
    strbuf_release(&text);
    strbuf_add(rewrite->out, bytes_slice(rewrite->raw, rewrite->taken, SIZE_MAX));
}

static bool
choose_replaced(void *context, size_t item, struct bytes *value)
{
    struct choice *choice = context;
    const struct json_match *match = &choice->matches->items[item];
    struct apply *apply = choice->apply;
    if (match->is_missing || choice->stopped != RECIPE_CHANGED)
        return false;
    choice->places++;
    if (match->value.kind != JSON_STRING)
        return choice_unfit(choice, item, "not text");

    struct rewrite rewrite = {.operation = choice->operation,
                              .raw = choice_bytes(choice, item),
                              .is_token = true,
                              .out = &apply->recipe->value};
    strbuf_reset(rewrite.out);
    if (memchr(rewrite.raw.data, '\\', rewrite.raw.len)) {
        size_t *places = arena_array(apply->arena, rewrite.raw.len, sizeof *places);
        strbuf_reset(&apply->recipe->scratch);
        (void)json_decode_places(rewrite.raw, &apply->recipe->scratch, places);
        rewrite.places = places;
    }
    rewrite.content = rewrite.places ? strbuf_bytes(&apply->recipe->scratch)
                                     : bytes_slice(rewrite.raw, 1, rewrite.raw.len - 2);
    rewrite_matches(&rewrite);
    if (rewrite.stopped)
        choice->stopped =
            apply_stop(apply, RECIPE_FAILED, "%.*s: %s", BYTES_ARGS(choice->place->text), rewrite.stopped);
    *value = strbuf_bytes(rewrite.out);
    return rewrite.is_changed && !rewrite.stopped;
}

static enum recipe_outcome
replace_in_record(struct apply *apply, const struct operation *operation)
{
    const struct place *place = &operation->place;
    const struct event_header *header = place->kind == HEADER ? parts_header(&apply->now, place->name) : NULL;
    struct bytes value = place->kind == KEY     ? apply->now.key
                         : place->kind == TOPIC ? apply->now.topic
                         : header               ? header->value
                                                : BYTES_ABSENT;
    if (!place_exists(apply, place))
        return apply_missing(apply, place);
    if (!bytes_present(value) || !utf8_valid(value))
        return apply_stop(apply, RECIPE_NOT_APPLICABLE, "%.*s is not text", BYTES_ARGS(place->text));

    struct rewrite rewrite = {
        .operation = operation, .raw = value, .content = value, .out = &apply->recipe->value};
    strbuf_reset(rewrite.out);
    rewrite_matches(&rewrite);
    if (rewrite.stopped)
        return apply_stop(apply, RECIPE_FAILED, "%.*s: %s", BYTES_ARGS(place->text), rewrite.stopped);
    strbuf_reset(&apply->recipe->scratch);
    json_quote(strbuf_bytes(rewrite.out), &apply->recipe->scratch);
    return place_set(apply, place, strbuf_bytes(&apply->recipe->scratch), false);
}

enum recipe_outcome
recipe_do_replace(struct apply *apply, const struct operation *operation)
{
    if (operation->place.kind != PAYLOAD)
        return replace_in_record(apply, operation);
    struct choice choice = {.operation = operation, .place = &operation->place};
    return apply_each(apply, &choice, choose_replaced);
}
