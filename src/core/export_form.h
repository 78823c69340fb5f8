// export_form: one event as text, for other programs.
//
// jsonl: a line of JSON with all columns of the contract table under their names, and what redrive keeps
// beside them: `payload` as it was received, `exact` (byte for byte, else PostgreSQL's text of the jsonb),
// key, headers, and all revisions. Bytes that are not UTF-8 are NAME_base64; no other byte is changed, so
// that the event can be made again from its line. Characters that a terminal must not receive are escaped as
// \u.
//
// csv: RFC 4180: a header line, CRLF at the end of each line, quotes where a field needs them. An absent
// value is empty, an empty text is "". A key or payload that is not UTF-8, or has NUL, is in the column
// behind it, as base64. Texts are as they are: a program that takes `=…` for a formula is to read them as
// text.
//
// ids: one a line.
#ifndef REDRIVE_CORE_EXPORT_FORM_H
#define REDRIVE_CORE_EXPORT_FORM_H

#include "base/err.h"
#include "base/strbuf.h"
#include "core/event.h"

enum export_form { EXPORT_JSONL, EXPORT_CSV, EXPORT_IDS, EXPORT_FORMS };

// By its name: jsonl, csv, ids. ERR_USAGE names all.
bool export_form_parse(const char *name, enum export_form *form, struct err *err) MUST_CHECK;
// By the end of a file's name: .csv, .ids or .txt; jsonl for all others.
enum export_form export_form_of_file(const char *name);

// What a form needs of each event (enum event_fields); 0: its id alone, and the row is not read.
unsigned export_form_fields(enum export_form form);

struct exported {
    const struct event *event; // payload: the original one
    const struct revision *revisions;
    size_t revision_count;
};

// What comes before the first event; often nothing.
void export_form_head(enum export_form form, struct strbuf *out);
void export_form_event(enum export_form form, const struct exported *exported, struct strbuf *out);

#endif
