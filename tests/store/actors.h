// actors: one login for each level of rights, in one database, for the tests of a program.
#ifndef REDRIVE_TESTS_STORE_ACTORS_H
#define REDRIVE_TESTS_STORE_ACTORS_H

#include "world.h"

enum { ACTORS_EVENTS = 60 };

extern struct actors {
    struct world world;
    char viewer[80], worker[80], operator_[80], admin[80], owner[80];
    PGconn *session; // the operator's own, with nothing of ours in between
} actors;

// For a group of tests: the database with its events and roles, and its end.
int begin_actors(void **state);
int end_actors(void **state);

// A new login in that group role (NULL: in none); returns the name.
const char *make_login(char name[80], const char *stem, const char *group);
// Overwritten by the next call.
const char *conninfo_of(const char *user);
struct store *store_of(const char *user);
// What the migration does with roles; nothing is to be left for a superuser.
void make_roles(struct store *store, bool make);

#endif
