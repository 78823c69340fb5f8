#include "commands/cli/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"

// --- one function a kind ---

static void *
member(struct options *options, const struct option_row *row)
{
    return (char *)options + row->offset;
}

static bool
take_flag(struct options *options, const struct option_row *row, const char *value, struct err *err)
{
    (void)value;
    (void)err;
    *(bool *)member(options, row) = true;
    return true;
}

static bool
take_text(struct options *options, const struct option_row *row, const char *value, struct err *err)
{
    (void)err;
    *(const char **)member(options, row) = value;
    return true;
}

static bool
take_list(struct options *options, const struct option_row *row, const char *value, struct err *err)
{
    (void)err;
    struct option_list *list = member(options, row);
    list->items = alloc_grow(list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = value;
    return true;
}

static bool
take_count(struct options *options, const struct option_row *row, const char *value, struct err *err)
{
    struct option_count *count = member(options, row);
    count->is_given = true;
    if (!text_parse_int(bytes_of(value), &count->number, NULL) || count->number < row->least)
        return err_set(err, ERR_USAGE, "%s takes a whole number from %" PRId64 ", not \"%s\"", row->spelling,
                       row->least, value);
    if (count->number > row->most)
        return err_set(err, ERR_USAGE, "%s takes at most %" PRId64 ", not %s", row->spelling, row->most,
                       value);
    return true;
}

static bool
take_setting(struct options *options, const struct option_row *row, const char *value, struct err *err)
{
    (void)err;
    options->settings = alloc_grow(options->settings, options->setting_count, &options->setting_capacity,
                                   sizeof *options->settings);
    options->settings[options->setting_count++] = (struct settings_option){
        .id = row->setting, .option = row->spelling, .value = row->word != NULL ? row->word : value};
    return true;
}

static bool
add_id(struct option_ids *ids, struct bytes text, struct err *err)
{
    int64_t id = 0;
    if (!text_parse_int(text, &id, NULL))
        return err_set(err, ERR_USAGE,
                       "--id takes the number of an event, or - for standard input, not \"%.*s\"",
                       BYTES_ARGS(text));
    ids->items = alloc_grow(ids->items, ids->count, &ids->capacity, sizeof *ids->items);
    ids->items[ids->count++] = id;
    return true;
}

static bool
is_separator(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',';
}

// Ids from standard input, separated by blanks, commas or line ends.
static bool
read_ids(struct option_ids *ids, struct err *err)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len = 0;
    bool ok = true;
    while (ok && (len = getline(&line, &room, stdin)) >= 0) {
        struct bytes rest = {line, (size_t)len};
        while (ok && rest.len > 0) {
            size_t word = 0;
            while (word < rest.len && !is_separator(rest.data[word]))
                word++;
            if (word > 0)
                ok = add_id(ids, bytes_slice(rest, 0, word), err);
            rest = bytes_slice(rest, word + 1, SIZE_MAX);
        }
    }
    free(line);
    if (ok && ferror(stdin))
        return err_set(err, ERR_USAGE, "--id -: standard input cannot be read: %s", strerror(errno));
    return ok;
}

static bool
take_ids(struct options *options, const struct option_row *row, const char *value, struct err *err)
{
    struct option_ids *ids = member(options, row);
    ids->is_given = true;
    return strcmp(value, "-") == 0 ? read_ids(ids, err) : add_id(ids, bytes_of(value), err);
}

// --- the rows ---

#define OPTION_ROW_FLAG .take = take_flag
#define OPTION_ROW_TEXT .take = take_text
#define OPTION_ROW_COUNT(low, high) .take = take_count, .least = (low), .most = (high)
#define OPTION_ROW_IDS .take = take_ids
#define OPTION_ROW_LIST .take = take_list

const struct option_row option_rows[] = {
#define OPTION(part, id, word_of_it, letter_of_it, value_of_it, areas_of_it, kind, sentence)                 \
    {.spelling = "--" word_of_it,                                                                            \
     .name = word_of_it,                                                                                     \
     .value = value_of_it,                                                                                   \
     .help = sentence,                                                                                       \
     .letter = letter_of_it,                                                                                 \
     .areas = areas_of_it,                                                                                   \
     .offset = offsetof(struct options, part.id),                                                            \
     OPTION_ROW_##kind},
#define OPTION_SETTING(id, word_of_it, letter_of_it, value_of_it, areas_of_it, set_to, sentence)             \
    {.spelling = "--" word_of_it,                                                                            \
     .name = word_of_it,                                                                                     \
     .value = value_of_it,                                                                                   \
     .help = sentence,                                                                                       \
     .letter = letter_of_it,                                                                                 \
     .areas = areas_of_it,                                                                                   \
     .take = take_setting,                                                                                   \
     .setting = SETTING_ID_##id,                                                                             \
     .word = set_to},
#include "commands/cli/options.def"
#undef OPTION
};
const size_t option_count = sizeof option_rows / sizeof *option_rows;

bool
option_take_value(struct options *options, const struct option_row *row, const char *value, struct err *err)
{
    return row->take(options, row, value, err);
}

void
options_release(struct options *options)
{
    free(options->choice.ids.items);
    free(options->general.kafka_properties.items);
    free(options->general.kafka_files.items);
    free(options->command.set.items);
    free(options->command.unset.items);
    free(options->settings);
    *options = (struct options){0};
}

struct settings_request
options_request(const struct options *options)
{
    const struct general_options *general = &options->general;
    return (struct settings_request){.profile = general->profile,
                                     .options = options->settings,
                                     .option_count = options->setting_count,
                                     .kafka = general->kafka_properties.items,
                                     .kafka_count = general->kafka_properties.count,
                                     .kafka_files = general->kafka_files.items,
                                     .kafka_file_count = general->kafka_files.count,
                                     .no_password = general->no_password,
                                     .ask_password = general->ask_password};
}
