// Drafts: texts that are not saved yet, kept in the state folder.
//
// The file begins with lines of `word value`, then `section NAME LENGTH` and that many bytes for each section
// that was changed. One that cannot be read is not offered.
#include "ui/views/editor/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "base/private_file.h"
#include "base/text.h"
#include "ui/views/editor/changes.h"
#include "ui/views/editor/editor.h"
#include "ui/views/editor/texts.h"

#define DRAFT_PAUSE (3 * US_PER_SECOND)
#define DRAFT_AGE (7 * 24 * 3600 * US_PER_SECOND)
#define DRAFT_SUFFIX ".draft"
enum { DRAFT_MOST = 64 << 20, PATH_ROOM = 1000, NAME_ROOM = 240, WHERE_ROOM = 200 };

static void
draft_folder(const struct app *app, char out[PATH_ROOM])
{
    snprintf(out, PATH_ROOM, "%s/drafts", app_config(app)->state_home);
}

size_t
editor_purge_drafts(const char *state_home, const char *runtime_dir)
{
    const struct {
        const char *home, *folder, *suffix;
    } places[] = {
        {state_home, "drafts", DRAFT_SUFFIX}, {state_home, "edit", ".json"},    {state_home, "edit", ".txt"},
        {runtime_dir, "redrive", ".json"},    {runtime_dir, "redrive", ".txt"},
    };
    char folder[PATH_ROOM];
    size_t count = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(folder, sizeof folder, "%s/%s", places[i].home ? places[i].home : "", places[i].folder);
        if (places[i].home && places[i].home[0] == '/')
            count += private_files_age(folder, places[i].suffix, INT64_MAX);
    }
    return count;
}

// "db1/orders", and the table where there are several: what an event's id belongs to.
static const char *
draft_where(const struct app *app)
{
    const struct status *status = app_status(app);
    return arena_printf(app_frame(app), "%s/%s%s%s", status->host, status->database,
                        status->table[0] ? "/" : "", status->table);
}

// "db1-orders-912180.draft": of this table alone.
static void
draft_name(const struct app *app, const struct editing *editing, char out[NAME_ROOM])
{
    const struct status *status = app_status(app);
    char where[WHERE_ROOM];
    snprintf(where, sizeof where, "%.60s-%.50s%s%.60s", status->host, status->database,
             status->table[0] ? "-" : "", status->table);
    for (char *c = where; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '-'))
            *c = '_';
    snprintf(out, NAME_ROOM, "%s-%" PRId64 DRAFT_SUFFIX, where, editing->id);
}

int64_t
editing_draft_due(const struct editing *editing)
{
    const struct editing_draft *draft = &editing->draft;
    if (!draft->is_on || draft->is_offered || draft->version == editing->work.version ||
        editing->read_only.event || !editing->work.changed_at)
        return -1;
    return editing->work.changed_at + DRAFT_PAUSE;
}

// The texts themselves are borrowed: a draft is written while somebody types, and may be of megabytes.
struct draft_parts {
    struct bytes list[1 + 3 * SECTION_COUNT];
    size_t count;
    struct arena arena;
    struct strbuf whole;
};

static void
draft_parts_make(const struct app *app, const struct editing *editing, struct draft_parts *parts)
{
    *parts = (struct draft_parts){0};
    parts->list[parts->count++] = bytes_of(arena_printf(
        &parts->arena, "redrive-draft 1\nwhere %s\nevent %" PRId64 "\nparent %" PRId32 "\nat %" PRId64 "\n",
        draft_where(app), editing->id, editing->parent, clock_now()));
    for (int i = 0; i < SECTION_COUNT; i++) {
        struct bytes text = i == SECTION_PAYLOAD ? editing_whole(editing, &parts->whole)
                                                 : editing_text(editing, (enum section)i);
        if (bytes_equal(text, editing_origin(editing, (enum section)i)))
            continue;
        parts->list[parts->count++] = bytes_of(
            arena_printf(&parts->arena, "section %s %zu\n", section_name((enum section)i), text.len));
        parts->list[parts->count++] = text;
        parts->list[parts->count++] = BYTES("\n");
    }
}

// Says once why no draft can be written.
static void
write_draft(struct app *app, struct editing *editing)
{
    char folder[PATH_ROOM], name[NAME_ROOM];
    struct draft_parts parts;
    struct err err = {0};
    draft_folder(app, folder);
    draft_name(app, editing, name);
    draft_parts_make(app, editing, &parts);
    bool ok = private_folder_make(folder, &err) &&
              private_file_write_parts(folder, name, parts.list, parts.count, &err);
    strbuf_release(&parts.whole);
    arena_release(&parts.arena);
    editing->draft.is_there |= ok;
    if (!ok && !editing->draft.is_lost)
        app_say(app, SAY_WARN, MSG_DRAFT_FAILED, err.text);
    editing->draft.is_lost = !ok;
}

void
editing_draft_keep(struct app *app, struct editing *editing)
{
    struct editing_draft *draft = &editing->draft;
    if (!draft->is_on || draft->is_offered)
        return;
    draft->version = editing_version(editing);
    if (editing_is_dirty(editing))
        write_draft(app, editing);
    else if (draft->is_there)
        editing_draft_remove(app, editing);
}

static void
forget(struct editing_draft *draft)
{
    for (int i = 0; i < SECTION_COUNT; i++) {
        strbuf_reset(&draft->texts[i]);
        draft->has[i] = false;
    }
    draft->is_offered = draft->is_looked_at = false;
}

void
editing_draft_remove(struct app *app, struct editing *editing)
{
    char folder[PATH_ROOM], name[NAME_ROOM];
    bool was_kept = editing->draft.is_there;
    forget(&editing->draft);
    editing->draft.is_there = false;
    editing->draft.version = editing_version(editing);
    if (!was_kept || !app_config(app)->state_home)
        return;
    draft_folder(app, folder);
    draft_name(app, editing, name);
    private_file_remove(folder, name);
}

// --- reading one

// Takes a line "word value" off the front; value is without its line end.
static bool
take_value(struct bytes text, size_t *at, const char *word, struct bytes *value)
{
    struct bytes rest = bytes_slice(text, *at, SIZE_MAX);
    size_t len = strlen(word);
    size_t end = bytes_find(rest, BYTES("\n"), 0);
    if (end == SIZE_MAX || !bytes_starts(rest, word) || end <= len || rest.data[len] != ' ')
        return false;
    *value = bytes_slice(rest, len + 1, end - len - 1);
    *at += end + 1;
    return true;
}

static bool
take_number(struct bytes text, size_t *at, const char *word, int64_t *number)
{
    struct bytes value;
    return take_value(text, at, word, &value) && text_parse_int(value, number, NULL);
}

static bool
take_section(struct editing_draft *draft, struct bytes text, size_t *at)
{
    struct bytes value;
    int64_t len;
    if (!take_value(text, at, "section", &value))
        return false;
    size_t blank = bytes_find(value, BYTES(" "), 0);
    if (blank == SIZE_MAX || !text_parse_int(bytes_slice(value, blank + 1, SIZE_MAX), &len, NULL) ||
        len < 0 || (uint64_t)len >= text.len - *at + 1)
        return false;
    for (int i = 0; i < SECTION_COUNT; i++) {
        if (!bytes_equal_text(bytes_slice(value, 0, blank), section_name((enum section)i)))
            continue;
        strbuf_reset(&draft->texts[i]);
        strbuf_add(&draft->texts[i], bytes_slice(text, *at, (size_t)len));
        draft->has[i] = true;
        *at += (size_t)len + 1;
        return true;
    }
    return false;
}

static bool
parse_draft(const struct app *app, struct editing *editing, struct bytes text)
{
    struct editing_draft *draft = &editing->draft;
    struct bytes value, where;
    int64_t event, parent;
    size_t at = 0;
    const char *here = draft_where(app);
    if (!take_value(text, &at, "redrive-draft", &value) || !bytes_equal_text(value, "1") ||
        !take_value(text, &at, "where", &where) || !bytes_equal_text(where, here) ||
        !take_number(text, &at, "event", &event) || event != editing->id ||
        !take_number(text, &at, "parent", &parent) || parent < 0 || parent > INT32_MAX ||
        !take_number(text, &at, "at", &draft->at))
        return false;
    draft->parent = (int32_t)parent;
    bool has_some = false;
    while (at < text.len && take_section(draft, text, &at))
        has_some = true;
    return has_some && at == text.len;
}

void
editing_draft_look(struct app *app, struct editing *editing)
{
    char folder[PATH_ROOM], name[NAME_ROOM];
    struct strbuf text = {0};
    struct editing_draft *draft = &editing->draft;
    draft->version = editing_version(editing);
    if (!app_config(app)->state_home)
        return;
    draft_folder(app, folder);
    // Also where drafts are off by now: those of before would stay for ever.
    (void)private_files_age(folder, DRAFT_SUFFIX, clock_now() - DRAFT_AGE);
    if (!draft->is_on)
        return;
    draft_name(app, editing, name);
    if (private_file_read(folder, name, DRAFT_MOST, &text, NULL)) {
        draft->is_there = true;
        draft->is_offered = parse_draft(app, editing, strbuf_bytes(&text));
        if (!draft->is_offered)
            forget(draft);
    }
    strbuf_release(&text);
}

void
editing_draft_put_aside(struct app *app, struct editing *editing)
{
    struct editing_draft *draft = &editing->draft;
    if (draft->is_on)
        write_draft(app, editing);
    forget(draft);
    for (int i = 0; i < SECTION_COUNT; i++) {
        draft->has[i] = editing_is_modified(editing, (enum section)i);
        if (draft->has[i])
            strbuf_add(&draft->texts[i], editing_text(editing, (enum section)i));
        draft->is_offered |= draft->has[i];
    }
    draft->at = clock_now();
    draft->parent = editing->parent;
}

bool
editing_draft_is_only_here(const struct editing *editing)
{
    return editing->draft.is_offered && !editing->draft.is_there;
}

// --- deciding on one

static void
restore(struct app *app, struct editing *editing)
{
    struct editing_draft *draft = &editing->draft;
    enum section first = SECTION_COUNT;
    for (int i = SECTION_COUNT; i-- > 0;) {
        struct editor *editor = editing->texts[i].editor;
        if (!draft->has[i])
            continue;
        (void)editor_replace(editor, 0, editor_len(editor), strbuf_bytes(&draft->texts[i]), clock_mono());
        editor_set_cursor(editor, 0, false);
        first = (enum section)i;
    }
    if (first != SECTION_COUNT)
        editing_show(editing, first);
    if (draft->parent <= editing->parent)
        editing->parent = draft->parent; // a later revision is then asked about when this is saved
    forget(draft);
    draft->version = 0;
    app_say(app, SAY_INFO, MSG_DRAFT_RESTORED);
}

static void
look(struct app *app, struct editing *editing)
{
    struct editing_draft *draft = &editing->draft;
    struct changes_argument argument = {
        .before_name = "as it is now", .after_name = "draft", .state = editing};
    for (int i = 0; i < SECTION_COUNT; i++) {
        if (!draft->has[i])
            continue;
        argument.parts[argument.count].section = (enum section)i;
        argument.parts[argument.count].before = editing_text(editing, (enum section)i);
        argument.parts[argument.count++].after = strbuf_bytes(&draft->texts[i]);
    }
    draft->is_looked_at = true;
    app_open(app, &view_changes, &argument);
}

static void
offer_chosen(struct app *app, void *state, size_t index)
{
    struct editing *editing = state;
    bool draft_has_payload = editing->draft.has[SECTION_PAYLOAD];
    editing->draft.is_looked_at = false;
    const char *why_not = editing->read_only.event ? editing->read_only.event
                          : draft_has_payload      ? editing->read_only.payload
                                                   : NULL;
    if (index == 0 && why_not) {
        app_say(app, SAY_WARN, "%s", why_not);
    } else if (index == 0) {
        restore(app, editing);
    } else if (index == 1) {
        look(app, editing);
    } else {
        editing_draft_remove(app, editing);
        app_say(app, SAY_INFO, MSG_DRAFT_GONE);
    }
}

void
editing_draft_offer(struct app *app, struct editing *editing)
{
    static const struct menu_item items[] = {
        {.key = 'r', .text = "restore it", .is_current = true},
        {.key = 'l', .text = "look at the differences"},
        {.key = 'd', .text = "remove it"},
    };
    const struct editing_draft *draft = &editing->draft;
    char at[TIME_TEXT];
    const char *older = draft->parent == editing->parent
                            ? ""
                            : arena_printf(app_frame(app), MSG_DRAFT_OLDER, editing->parent);
    app_menu(app,
             &(struct menu_request){.title = arena_printf(app_frame(app), MSG_DRAFT_TITLE,
                                                          time_brief(draft->at, app_now(app), at), older),
                                    .items = items,
                                    .count = 3,
                                    .chosen = offer_chosen});
}

void
editing_draft_release(struct editing *editing)
{
    for (int i = 0; i < SECTION_COUNT; i++)
        strbuf_release(&editing->draft.texts[i]);
}
