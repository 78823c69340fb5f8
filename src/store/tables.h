// tables: the tables of dead letters in one database, and the schema that each has.
//
// The first table has the schema `redrive`; each further one has `redrive_NAME`, which `redrive migrate
// --table` makes from the same files. A schema holds what redrive knows of its table and of no other: events,
// operations, audit, revisions, sums, recipes, rights, the ledger, and an identity of its own towards Kafka.
// So the ids of two tables never meet. In src/store the schema is written `redrive` everywhere; pg_expand
// puts the name of the table's own in its place.
//
// Functions of a schema run with its owner's rights, and whoever may create schemas can make one that looks
// like ours. So a further schema counts only where it belongs to the owner of the schema `redrive`. A login
// sees the tables whose schema it may use.
#ifndef REDRIVE_STORE_TABLES_H
#define REDRIVE_STORE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/err.h"
#include "store/store.h"

// What somebody can choose from, as --table takes them, in the order of the names; the settings' own table is
// not looked at. None without a schema; none either for a superuser where the owner is no superuser, and
// could have written any name: he names the table. Connects. `only` may be NULL; else the connection is left
// in it, as store_open would have made it, where there is nothing to choose, and else *only is NULL.
bool store_tables(const struct store_settings *settings, struct arena *arena, const char ***tables,
                  size_t *count, struct store **only, struct err *err) MUST_CHECK;

#endif
