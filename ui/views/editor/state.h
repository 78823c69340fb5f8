// state: what the parts of the view that corrects one event share.
//
// A record is four texts: its payload, and key, headers and target as JSON (sections.h). Each has an editor
// of its own; one is on the screen. What was opened stays as it is in `origins`, so that only a section that
// differs becomes part of the revision.
#ifndef REDRIVE_UI_VIEWS_EDITOR_STATE_H
#define REDRIVE_UI_VIEWS_EDITOR_STATE_H

#include "async/message.h"
#include "core/shape/shape.h"
#include "ui/app/app.h"
#include "ui/editor/check.h"
#include "ui/editor/editor.h"
#include "ui/editor/find.h"
#include "ui/views/decide/decide.h"
#include "ui/views/editor/sections.h"
#include "ui/views/editor/vi.h"

enum editing_style { STYLE_PLAIN, STYLE_VI, STYLE_EMACS };

enum editing_life {
    EDITING_LOADS,
    EDITING_FAILED, // err says why
    EDITING_OPEN,
};

// One of the four texts and where it is scrolled to.
struct editing_text {
    struct editor *editor;
    size_t top;  // first row of the document on the screen
    size_t left; // cells scrolled sideways
};

// A text as it was opened or saved last. A payload is not copied while the event that it came with is there.
struct editing_origin {
    struct strbuf own;
    struct bytes view; // absent: `own` counts
};

// JSON within a text of the payload, as a document of its own until it is put back into that text. Each level
// lies within the one before; the first within the payload.
#define EMBEDDED_MOST 8
struct editing_level {
    struct editing_text text;
    struct strbuf opened;  // what it was opened with
    struct strbuf content; // of the text, as it was
    bool is_formatted;     // opened with other white space than the content has
    size_t from, len;      // the token of the text, in the document below
};
struct editing_embedded {
    struct editing_level levels[EMBEDDED_MOST];
    size_t count;
    uint64_t closed; // the versions of levels that are closed: the sum of all versions only grows
};

// The bytes of the payload, to be looked at. The cursor is a byte, which may lie within a character.
struct editing_hex {
    bool is_on;
    size_t at;   // the cursor
    size_t seen; // the cursor of the text that `at` followed last
    size_t top;  // first line on the screen
};

// Where the text is on the screen.
struct editing_place {
    int row, col, rows, cols;
};

struct editing_find {
    struct find_run run;
    bool is_running;
    size_t origin; // the cursor before the prompt opened
    struct find_count count;
    struct strbuf text;
    struct strbuf by;            // the replacement
    struct find_replace replace; // of all
    bool is_replacing;
};

enum saving {
    SAVING_NOT,
    SAVING_ASKED,   // the request is on its way
    SAVING_REFUSED, // somebody was faster; theirs is asked for
};

struct editing_save {
    enum saving state;
    uint64_t number;      // of the correction
    uint64_t look_number; // of their version
    uint64_t checking;    // of the correction, or revert, whose check is waited for; 0: none
    bool reprocesses;     // afterwards
    bool closes;          // likewise
    bool makes_recipe;    // likewise: opens the recipe for the group
    bool keeps_filter;    // and only for those of it that match the filter in force
    struct strbuf recipe; // its text
    struct strbuf reason;
    uint64_t version;                  // of the texts as they were sent
    struct strbuf sent[SECTION_COUNT]; // these
    bool has_theirs;
    struct arena arena; // of theirs
    struct event_detail theirs;
};

// What the revision that was chosen is wanted for.
enum revisions_step { STEP_BESIDE_TEXT, STEP_BESIDE_OTHER, STEP_REVERT };

struct editing_revisions {
    int32_t *listed; // their numbers, in the order of the menu
    size_t count;
    int32_t chosen, other;
    enum revisions_step step;
    struct bytes original; // the payload as it was received, while the step is done; absent: not asked for
    uint64_t original_number, revert_number, look_number;
};

struct editing_draft {
    bool is_on;
    bool is_offered; // one was found and is not decided on
    bool is_looked_at;
    bool is_lost; // it could not be written, which was said
    bool is_there;
    uint64_t version; // of the texts in it
    int64_t at;       // when the offered one was written
    int32_t parent;   // of the offered one
    struct strbuf texts[SECTION_COUNT];
    bool has[SECTION_COUNT];
};

struct editing_outside {
    bool is_wanted; // as soon as the event is there
    char folder[600], name[80];
    struct strbuf written;
};

// What is done when typing pauses.
struct editing_work {
    uint64_t version;   // of the texts, when they were seen last
    int64_t changed_at; // clock_mono
    uint64_t warned;    // the version whose warnings are known
};

// Is the original record on its way, which alone has the exact bytes?
enum record_state {
    RECORD_NOT_WANTED, // it is here, or there is none
    RECORD_AWAITED,    // a worker reads it
    RECORD_NOBODY,     // no worker runs that can; one may be started yet
    RECORD_MISSING,    // it did not come: record_words
    RECORD_LATE,       // it came after something was edited
};

struct editing_hints {
    struct shape *shape; // of other events of the type; NULL: not known
    uint64_t shape_number;
    uint64_t version; // of the payload whose departures are known
    struct arena arena;
    struct shape_departure *departures;
    size_t count;
    size_t place_count; // that the message names
    size_t place;       // of them, gone to last
    size_t placed_at;   // where the cursor was put
    bool is_placed;     // the message named that place
    enum record_state record;
    uint64_t record_number;
    int64_t record_at; // clock_mono of the next look; 0: none
    int record_tries;
    char record_words[800]; // RECORD_MISSING
};

// What keys mean now.
struct editing_keys {
    enum editing_style style;
    bool is_marking; // movements extend the selection
    struct vi vi;    // STYLE_VI
};

struct editing {
    struct decide decide; // first: see decide.h
    int64_t id;
    bool is_of_event_view; // opened from the view that names the event already
    struct editing_keys keys;
    enum editing_life life;
    struct err err;
    uint64_t number;    // of the event
    struct arena arena; // of its reply
    struct event_detail detail;
    int32_t parent; // the revision that is edited
    struct {
        const char *event, *payload; // sentences in the arena; NULL: it can be edited
    } read_only;
    struct editing_text texts[SECTION_COUNT];
    struct editing_origin origins[SECTION_COUNT];
    enum section section;             // on the screen
    struct editing_embedded embedded; // above the payload
    struct editing_hex hex;           // instead of the payload
    struct editing_find find;
    struct editing_save save;
    struct editing_revisions revisions;
    struct editing_draft draft;
    struct editing_outside outside;
    struct editing_work work;
    struct editing_hints hints;
    struct editing_place place;
};

// editor.c
const struct editing_text *editing_shown_text(const struct editing *editing); // on the screen
struct editor *editing_editor(const struct editing *editing);                 // of it
// Why the text on the screen cannot be edited; NULL: it can be.
const char *editing_why_not(const struct editing *editing);
uint64_t editing_version(const struct editing *editing); // of all texts
bool editing_is_modified(const struct editing *editing, enum section section);
bool editing_is_dirty(const struct editing *editing); // any of them
struct bytes editing_text(const struct editing *editing, enum section section);
void editing_show(struct editing *editing, enum section section);
struct bytes editing_origin(const struct editing *editing, enum section section);
void editing_set_origin(struct editing *editing, enum section section, struct bytes text); // copied
// Another event takes the place of the one here, with its texts in `arena`; origins stay.
void editing_set_detail(struct editing *editing, struct arena *arena, const struct event_detail *detail);
// Takes an event as it is now: its texts in place of those that are there.
void editing_take(struct app *app, struct editing *editing, struct arena *arena,
                  const struct event_detail *detail);
// The number of the newest revision of an event.
int32_t editing_newest(const struct event_detail *detail);
void editing_ask(struct app *app, struct editing *editing);
void editing_leave(struct app *app, struct editing *editing); // closes the view, or asks
void editing_leave_anyway(struct app *app, struct editing *editing);

// recipe.c
// Takes a dead-letter envelope off the payload, as one step.
bool editing_take_off(struct app *app, void *state, enum action action);
// The edit as a recipe, in save.recipe. false, and said: no operations repeat it.
bool editing_recipe_make(struct app *app, struct editing *editing, const struct correction *correction);
void editing_recipe_open(struct app *app, struct editing *editing); // for the event's group

// hints.c
void editing_hints_begin(struct app *app, struct editing *editing); // an event was taken for the first time
bool editing_hints_receive(struct app *app, struct editing *editing, struct reply *reply);
int64_t editing_hints_due(const struct editing *editing); // clock_mono; -1: never
void editing_hints_tick(struct app *app, struct editing *editing);
void editing_hints_release(struct editing *editing);
// Where the payload departs from others of its type: on this line; the next one, going round. NULL: nowhere.
const struct shape_departure *editing_departure_of_line(const struct editing *editing, size_t line);
const struct shape_departure *editing_next_departure(struct editing *editing, size_t at, bool is_forward);
// Where the cursor stands for it: on the value, of a missing member where it would be typed.
size_t editing_departure_cursor(const struct shape_departure *departure);
// To the next place that the error message names, going round.
bool editing_next_named(struct app *app, void *state, enum action action);
// What is to be said of the original record, instead of why the bytes are not exact; NULL: nothing.
const char *editing_record_words(const struct editing *editing);

// embedded.c
bool editing_open_embedded(struct app *app, void *state, enum action action);
bool editing_is_embedded(const struct editing *editing); // on the screen
bool editing_embedded_is_modified(const struct editing *editing);
void editing_put_back(struct app *app, struct editing *editing);       // the innermost, and closes it
void editing_leave_embedded(struct app *app, struct editing *editing); // likewise; asks where it was changed
// The payload as it would be with all of them put back. Valid until the next edit, or change of `scratch`.
struct bytes editing_whole(const struct editing *editing, struct strbuf *scratch);
// "$.originalValue ▸ ": the paths of the texts around the one on the screen.
void editing_embedded_path(const struct editing *editing, const char *crumb, struct strbuf *out);
void editing_embedded_close(struct editing *editing); // all, without putting back

// hex.c
bool editing_toggle_hex(struct app *app, void *state, enum action action);
bool editing_is_hex(const struct editing *editing); // on the screen
void editing_hex_begin(struct editing *editing);
void editing_hex_move(struct editing *editing, enum action action);
void editing_hex_fit(struct editing *editing);
void editing_hex_click(struct editing *editing, int row, int col);
void editing_hex_draw(const struct editing *editing, struct canvas *canvas, struct area area);

// keys.c
bool editing_moves(enum action action);
bool editing_move(struct app *app, void *state, enum action action);
bool editing_edits(enum action action);
bool editing_edit(struct app *app, void *state, enum action action);
bool editing_type(struct app *app, void *state, struct bytes text, bool is_paste);
bool editing_fold(struct app *app, void *state, enum action action);
bool editing_reshape(struct app *app, void *state, enum action action); // format, minify
bool editing_ask_copy(struct app *app, void *state, enum action action);
// false, and said: it is read-only, or a draft is to be decided on first.
bool editing_may_edit(struct app *app, struct editing *editing);

// draw.c
void editing_draw(const struct app *app, const void *state, struct canvas *canvas,
                  const struct view_areas *areas);
bool editing_click(struct app *app, void *state, int row, int col);
void editing_layout(struct app *app, void *state, const struct view_areas *areas);

// find.c
bool editing_search(struct app *app, void *state, enum action action);
bool editing_step(struct app *app, void *state, enum action action); // next and previous match
bool editing_replace(struct app *app, void *state, enum action action);
bool editing_go_to(struct app *app, void *state, enum action action);
bool editing_find_works(const struct editing *editing);
void editing_find_go_on(struct app *app, struct editing *editing);
void editing_find_text(struct app *app, struct editing *editing, struct bytes text, bool is_forward);
void editing_go_to_line(struct editing *editing, size_t line);
bool editing_end_search(struct editing *editing);
void editing_find_release(struct editing *editing);

// save.c
bool editing_save(struct app *app, void *state, enum action action);
void editing_save_and_close(struct app *app, struct editing *editing);
void editing_ask_save(struct app *app, struct editing *editing); // after the differences were seen
// Where somebody was faster: their version beside one's own, and what can be done about it.
void editing_ask_conflict(struct app *app, struct editing *editing);
// The dialog before a revision is written: asks for the reason, and where the check has refused it
// (refusal, else NULL) says so and also asks why it is saved all the same.
struct reason_asked {
    const char *title, *reason, *refusal;
    void (*confirmed)(struct app *app, void *state, const struct dialog *dialog);
};
struct dialog *editing_ask_reason(struct app *app, const struct reason_asked *asked);
void editing_take_reason(struct editing *editing, const struct dialog *dialog, struct request *request);
// The check is waited for, or refuses what was sent; both are said. editing_refused: may a dialog be opened,
// or does the person do something else by now?
void editing_checking(struct app *app, struct editing *editing, uint64_t number);
bool editing_refused(struct app *app, struct editing *editing, const struct reply *reply);
bool editing_save_cancel(struct app *app, struct editing *editing); // C-c; false: nothing is waited for
bool editing_save_receive(struct app *app, struct editing *editing, struct reply *reply);
void editing_save_release(struct editing *editing);
struct correction editing_correction_copy(const struct correction *from, struct arena *arena);

// revisions.c
bool editing_ask_revisions(struct app *app, void *state, enum action action);
bool editing_revisions_receive(struct app *app, struct editing *editing, struct reply *reply);
void editing_revisions_release(struct editing *editing);

// draft.c
void editing_draft_look(struct app *app, struct editing *editing); // is there one?
void editing_draft_offer(struct app *app, struct editing *editing);
void editing_draft_keep(struct app *app, struct editing *editing);
void editing_draft_remove(struct app *app, struct editing *editing);
int64_t editing_draft_due(const struct editing *editing); // clock_mono; negative: nothing is to be kept
// These texts were put aside and can be had back: offered before the next edit.
void editing_draft_put_aside(struct app *app, struct editing *editing);
bool editing_draft_is_only_here(const struct editing *editing); // put aside, and in no file
void editing_draft_release(struct editing *editing);

// outside.c
bool editing_go_outside(struct app *app, void *state, enum action action);
void editing_outside_release(struct editing *editing);

#endif
