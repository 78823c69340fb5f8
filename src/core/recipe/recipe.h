// recipe: an edit as text, one operation a line, that is applied to many events.
//
//     # amounts written with a comma
//     expect $.currency = "EUR"
//     to-number $.lines[*].amount
//     set header:corrected-by "redrive"
//
// A recipe is applied whole or not at all: where one operation does not apply, the event stays as it is.
// Bytes outside the places that the operations name never change. This file says what each operation does;
// the operations are rows of operations.def.
//
// PATH is $.a.b[2], with [*] for every index (core/json/match.h), or a part of the record: key, header:NAME,
// header:"odd name", topic, partition. NAME is a word, or JSON text in quotes. JSON stands on the line as it
// shall stand in the payload, byte for byte. The JSON of a key or header is text, {"base64": "…"}, or null
// for Kafka's null; a number or a boolean stands for its own text. The JSON of topic is text, of partition a
// number or null for none. # begins a comment, at the start of a line or behind a blank.
//
// A PATH with [*] leads to several places, an operation acts on each, and places that do not exist are left
// out. PATH exists where it leads to at least one value. Where PATH does not exist, or one of its values is
// not what the operation can work on, the operation does not apply (RECIPE_NOT_APPLICABLE). So is every
// operation on $… of a payload that is not JSON. Of members with the same name on a path the last one counts,
// with a warning.
//
//   set PATH JSON        Puts JSON at PATH. Where only the last name is missing, adds the member behind the
//   last
//                        one of its object, spaced like it. A header is added behind the others. An index
//                        must exist.
//   default PATH JSON    As set where PATH is missing; leaves what is there, null too.
//   add PATH JSON        Appends an element to each array at PATH. Where only the last name is missing, adds
//   the
//                        member. header:NAME is added even if one of that name exists. Never replaces a
//                        value: any other value at PATH does not apply. The second application adds again.
//   remove PATH          Removes the element; or every member of that name, else an earlier one would take
//   effect;
//                        or every header of that name. The key becomes null, the partition none. $ and topic
//                        cannot be removed.
//   rename PATH NAME     Gives the member, or each header of that name, another name, in its place. Does not
//   apply
//                        where NAME is taken. PATH ends in a name.
//   copy PATH PATH       Puts the value of the first at the second, byte for byte. The second is missing or
//   null,
//                        as for set, or already equal; any other value is never replaced (does not apply).
//                        Each
//                        [*] of the first stands for the same index in the second, in order; the second may
//                        have more, which then stand for every index. Between payload and key, header, topic
//                        and partition text goes as its content.
//   move PATH PATH       As copy, and removes the first. Both have as many [*].
//   to-number PATH       Text that is a JSON number becomes that number, digit for digit; blanks around it
//   go. A
//                        comma is taken as the decimal mark if nothing else can be meant: it is the only
//                        mark, digits stand on both sides, and behind it stand not three digits, or before it
//                        stands 0 or more than three digits: "10,00" is 10.00 and "0,125" is 0.125, but
//                        "1,234" does not apply. Nor do "007", "1.234,5", "" and "n/a". A number stays.
//   to-text PATH         A number or a boolean becomes text, digit for digit. Text stays. null does not
//   apply. to-boolean PATH      The texts true yes 1 and false no 0, in any case, and the numbers 1 and 0
//   become true and
//                        false. A boolean stays.
//   replace PATH /RE/TEXT/
//                        Replaces every match of the regular expression within each text. Escapes outside of
//                        the matches stay as written. In TEXT $1 or ${12} is a group, $0 the match, $$ a
//                        dollar sign; \/ is a slash (in RE too), \n \t \\ as in JSON. RE ignores case unless
//                        it has a capital letter, as in filters. Text without a match stays. PATH may be key,
//                        header or topic.
//   expect PATH present  Changes nothing; the recipe does not apply unless it holds. With [*] it holds for
//   every
//     absent             index of the last [*], and there is at least one. absent: there is no value at all.
//     number text boolean null object array
//     = JSON             equal by value: 1.0 is 1, members in any order, escapes undone
//     ~ /RE/             text that matches; a number or a boolean counts as its own text
//   jq PROGRAM           Gives the payload to the host's jq; the rest of the line is the program. What jq
//   changes
//                        besides (number forms, duplicate names, white space) is not kept back: the note has
//                        the risks.
//
// to-number, to-text and to-boolean take paths of the payload only.
#ifndef REDRIVE_CORE_RECIPE_RECIPE_H
#define REDRIVE_CORE_RECIPE_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "core/recipe/parts.h"

enum {
    RECIPE_BYTES = 1 << 20, // of its text
    RECIPE_OPERATIONS = 500,
    RECIPE_PATH = 4096, // bytes of a PATH or a NAME
    RECIPE_REASON = 240,
};

// A recipe is used by one thread at a time, because its regular expressions are; another takes a twin.
struct recipe;

// `file` is what errors call the text: "FILE:LINE:COLUMN: expected …"; err has line and column (characters,
// from 1) too. A text without an operation is refused.
bool recipe_parse(struct recipe **recipe, const char *file, struct bytes text, struct err *err) MUST_CHECK;
// The same recipe for another thread. It borrows from this one, which outlives it.
struct recipe *recipe_twin(const struct recipe *recipe);
void recipe_destroy(struct recipe *recipe);

// One operation a line, without comments. Parsing this gives an equal recipe.
void recipe_print(const struct recipe *recipe, struct strbuf *out);
size_t recipe_count(const struct recipe *recipe);
// Operation `index` as text; its word and its line in the text that was parsed may be NULL.
void recipe_print_operation(const struct recipe *recipe, size_t index, const char **word, int *line,
                            struct strbuf *out);
// The rows of operations.def in order: word, its arguments ("PATH JSON") and what it does; NULL behind the
// last.
const char *recipe_word(size_t index, const char **arguments, const char **sentence);

// What the core cannot do itself.
struct recipe_host {
    // Appends what jq makes of the payload. false: err says why. NULL: there is no jq.
    bool (*jq)(void *context, const char *program, struct bytes payload, struct strbuf *out, struct err *err);
    void *context;
};

enum recipe_outcome {
    RECIPE_CHANGED,
    RECIPE_UNCHANGED,      // every operation applied, and nothing differs
    RECIPE_NOT_APPLICABLE, // a path does not exist, a value is not what was meant, or expect failed
    RECIPE_INVALID,        // what would be sent: no JSON where it was JSON, or no legal topic or partition
    RECIPE_FAILED,         // a limit of size or of time, or jq
    RECIPE_OUTCOMES,
};
const char *recipe_outcome_name(enum recipe_outcome outcome); // "changed", "not_applicable", …

// Risks that a dry run names.
enum recipe_warning {
    RECIPE_WARN_DUPLICATE,    // a name on a path occurs twice; the last one was changed
    RECIPE_WARN_NUMBER,       // to-number made a number that some readers round
    RECIPE_WARN_JQ_NUMBER,    // jq was given a number that it may round
    RECIPE_WARN_JQ_DUPLICATE, // jq was given duplicate names and keeps one
    RECIPE_WARN_COUNT,
};
const char *recipe_warning_sentence(enum recipe_warning warning);

struct recipe_note {
    int line;                   // of the operation that decided; 0 where all applied
    unsigned warnings;          // 1u << enum recipe_warning
    char reason[RECIPE_REASON]; // a sentence; empty where all applied
};

// Applies all operations in order. *out is `in` itself unless the outcome is RECIPE_CHANGED; then what
// differs is in the arena, and the rest still belongs to `in`. host and note may be NULL.
enum recipe_outcome recipe_apply(struct recipe *recipe, const struct record_parts *in,
                                 const struct recipe_host *host, struct arena *arena,
                                 struct record_parts *out, struct recipe_note *note);
// Would a second application leave the result of recipe_apply alone? Otherwise note->line is the first
// operation that changes it again (0: jq, or several together), and note->reason says so.
bool recipe_is_stable_on(struct recipe *recipe, const struct record_parts *result,
                         const struct recipe_host *host, struct arena *arena, struct recipe_note *note);

// How well a recipe repeats an edit.
enum recipe_fidelity {
    RECIPE_EXACT,         // the recipe makes of the text before the text after, byte for byte
    RECIPE_ALL_BUT_SPACE, // all but white space: the edit was formatted too
    RECIPE_ALL_BUT_ORDER, // and members or headers stand in another order: operations add behind the last one
    RECIPE_NOT_EXPRESSIBLE, // no operations repeat it
};
// Appends the recipe of an edit, tried on `before` with the result that the answer says. Where indexes
// repeat,
// [*] takes their place if that changes the same values and no others. A type that changed becomes to-number,
// to-text or to-boolean, a new member becomes default, a value that went elsewhere move. Only where these
// cannot repeat the edit, set and remove stand alone, and an array is set as a whole, with the values of this
// event. RECIPE_NOT_EXPRESSIBLE appends nothing, and err says why; so it is when nothing differs.
enum recipe_fidelity recipe_from(const struct record_parts *before, const struct record_parts *after,
                                 struct strbuf *text, struct err *err);

#endif
