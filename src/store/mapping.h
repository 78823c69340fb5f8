// mapping: a source that is another program's table (src/store/sql/mapping.sql). Private to src/store.
//
// The statements of such a store name the view `mapped` of its schema where those of others name the table.
// redrive writes nothing into the table: decisions are kept in the schema.
#ifndef REDRIVE_STORE_MAPPING_H
#define REDRIVE_STORE_MAPPING_H

#include "base/strbuf.h"
#include "store/checkup.h"
#include "store/pg.h"

// From now on the store's statements name the view of its schema.
void mapping_use(struct store *store);
// Within a migration, behind the schema's script. `mapping` is JSON of settings/mapping_file.h.
bool mapping_apply(struct store *store, const char *mapping, struct err *err) MUST_CHECK;
void mapping_print(struct strbuf *out, const char *mapping, const struct pg_names *names);
// Numbers failures that nobody has seen yet, unless that was done a moment ago. Nothing for other stores, and
// nothing where this session may not write.
bool mapping_look(struct store *store, struct err *err) MUST_CHECK;
// For redrive doctor: whose table it is, and whether it can be read as the mapping says. False only when the
// database stops answering.
bool mapping_checkup(struct store *store, checkup_fn *found, void *context, struct err *err) MUST_CHECK;

#endif
