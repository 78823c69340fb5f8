// attack_world: a database with two tables in which others are at work, attackers of each level, and guards
// over all that an attack might change.
#ifndef REDRIVE_TESTS_ATTACK_ATTACK_WORLD_H
#define REDRIVE_TESTS_ATTACK_ATTACK_WORLD_H

#include "tests/store/actors.h"

// Nobody is a login without any right of redrive's.
enum attack_level { LEVEL_NOBODY, LEVEL_VIEWER, LEVEL_WORKER, LEVEL_OPERATOR, LEVEL_ADMIN, ATTACK_ROLES };
extern const char *const attack_levels[ATTACK_ROLES];

// The further table of the world; the usual one has the schema redrive.
#define ATTACK_FURTHER_TABLE "public.payments_dlq"
#define ATTACK_FURTHER_SCHEMA "redrive_payments_dlq"

enum { ATTACK_NAMES = 7 };
extern struct attack {
    struct attacker {
        enum attack_level level;
        char login[80];
    } attackers[ATTACK_ROLES];
    // What attackers know of the world, as SQL: slot, fence, chunk (in flight), doubt, person (chunks in
    // doubt), key (of an operation), session (of the worker).
    struct {
        const char *name;
        char value[60];
    } names[ATTACK_NAMES];
    bool is_further; // the attack is on the schema of the further table: nothing of the usual one may change
    long attempts, refused, unwanted;
} attack;

// For a group of tests: the world, and its end.
int attack_make(void **state);
int attack_unmake(void **state);

// One transaction of an attacker. `what` names it where something changed that must not: it is told, and
// counted as unwanted.
void attack_begin(const struct attacker *attacker);
void attack_end(const char *what);
// Runs a statement in it. may false: it must be refused for a missing right. An error within the server, or a
// statement that does not end, is an unwanted effect as well.
void attack_try(const char *sql, bool may);

bool attack_is_guarded(const char *table);

#endif
