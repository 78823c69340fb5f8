// recipe: an edit as text, one operation a line, that is applied to many events.
//
//     # amounts written with a comma
//     expect $.currency = "EUR"
//     to-number $.lines[*].amount
//     set header:corrected-by "redrive"
//
// A recipe is applied whole or not at all: if one operation does not apply, the event stays as it is. Bytes
// outside the places that the operations name never change.
//
// The text is UTF-8. # begins a comment, at the start of a line or after a blank. PATH is a path in the
// payload, $.a.b[2], where [*] stands for every index (core/json/match.h), or a part of the record: key,
// header:NAME, header:"odd name", topic, partition. NAME is a word, or JSON text in quotes. JSON is written
// exactly as it goes into the payload. For a key or header it is text, {"base64": "…"}, or null for Kafka's
// null; a number or a boolean counts as its own text. For a topic it is text, for a partition a number or
// null.
//
// A PATH with [*] leads to several places. An operation acts on each of them and skips those that do not
// exist. An operation does not apply (RECIPE_NOT_APPLICABLE) if PATH leads to no value, or to one that the
// operation cannot work on. Nor does an operation on $… apply to a payload that is not JSON. If members on a
// path have the same name, the last one counts, with a warning.
//
// set PATH JSON
//     Puts JSON at PATH. If only the last name is missing, adds the member as the last of its object, spaced
//     like the one before. A new header comes last. An index must exist.
// default PATH JSON
//     As set if PATH is missing. Leaves any value, null too.
// add PATH JSON
//     Appends an element to each array at PATH. If only the last name is missing, adds the member. Does not
//     apply to any other value, and replaces none. header:NAME is added beside others of that name. A second
//     application adds again.
// remove PATH
//     Removes the element, or every member of that name (else an earlier one would take effect), or every
//     header of that name. The key becomes null and the partition none. $ and topic cannot be removed.
// rename PATH NAME
//     Gives the member, or each header of that name, another name, in its place. Does not apply if the object
//     or the record has NAME already. PATH ends in a name.
// copy PATH PATH
//     Puts the first value, byte for byte, at the second path, as set does. The second path must be missing,
//     null, or equal: any other value is kept, and the operation does not apply. Only a topic is replaced.
//     Each [*] of the first path means the same index in the second, in order. The second may have more [*],
//     which mean every index. Between payload and record, text is copied as its content.
// move PATH PATH
//     As copy, then removes the first. Both paths have as many [*].
// to-number PATH
//     Makes a number of text, digit for digit, without blanks around it. A comma is the decimal mark where it
//     can mean nothing else: it is the only mark, has digits on both sides, and either not three digits
//     behind it, or 0 or more than three digits before it. "10,00" becomes 10.00 and "0,125" becomes 0.125.
//     "1,234", "007", "1.234,5", "" and "n/a" do not apply. A number stays.
// to-text PATH
//     Makes text of a number or a boolean, digit for digit. Text stays. null does not apply.
// to-boolean PATH
//     Makes true of "true", "yes", "1" in any case and of 1; false of "false", "no", "0" and 0. A boolean
//     stays.
// unwrap PATH
//     Makes the content of the text at PATH the payload, byte for byte: the message of a wrapper. Text with
//     half of a surrogate pair does not apply, because its bytes are lost. What is not JSON is invalid.
// replace PATH /RE/TEXT/
//     Replaces every match of the regular expression in the text. Escapes outside of the matches keep their
//     spelling. In TEXT, $1 or ${12} is a group, $0 the match, $$ a dollar sign. \/ is a slash, in RE too,
//     and \n \t \\ are as in JSON. RE ignores case unless it has a capital letter, as in filters. Text
//     without a match stays. PATH may be key, header or topic too.
// expect PATH present|absent|number|text|boolean|null|object|array|= JSON|~ /RE/
//     Changes nothing. The recipe does not apply unless it holds: for at least one value, and with [*] for
//     every index of the last [*]; absent, for none. = compares by value: 1.0 equals 1, members may have any
//     order, escapes are undone. ~ is a match in text, or in the spelling of a number or a boolean.
// jq PROGRAM
//     Gives the payload to the host's jq. The rest of the line is the program. What jq changes besides (the
//     form of numbers, duplicate names, white space) stays changed; the note names the risks.
//
// to-number, to-text, to-boolean and unwrap take paths in the payload only. The operations are rows of
// operations.def: a new one is a row and a handler.
#ifndef REDRIVE_CORE_RECIPE_RECIPE_H
#define REDRIVE_CORE_RECIPE_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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
bool recipe_has_jq(const struct recipe *recipe);
// Does no operation read or write the key, the topic, the partition or a header?
bool recipe_is_of_payload(const struct recipe *recipe);
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
    uint64_t replaced;          // hash of the values that set put others in the place of; 0: none
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
    RECIPE_EXACT,           // the recipe makes of the text before the text after, byte for byte
    RECIPE_ALL_BUT_SPACE,   // all but white space: the edit was formatted too
    RECIPE_ALL_BUT_ORDER,   // and the order of members or headers: operations add behind the last one
    RECIPE_NOT_EXPRESSIBLE, // no operations repeat it
};
// Appends the recipe of an edit. It was tried on `before`, with the result that the answer says. [*] takes
// the place of indexes if it changes the same values and no others. A changed type becomes to-number, to-text
// or to-boolean, a new member default, and a value that is elsewhere now move. A payload that was the content
// of a member's text is unwrap. Where these cannot repeat the
// edit, only set and remove are used, and an array is set as a whole, with the values of this event.
// RECIPE_NOT_EXPRESSIBLE appends nothing, and err says why; it is also the answer if nothing differs.
enum recipe_fidelity recipe_from(const struct record_parts *before, const struct record_parts *after,
                                 struct strbuf *text, struct err *err);

#endif
