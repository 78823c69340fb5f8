// app_world: an app without a terminal and without a backend, with views that remember what they were told: a
// test is the backend.
#ifndef REDRIVE_TESTS_UNIT_APP_WORLD_H
#define REDRIVE_TESTS_UNIT_APP_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "async/mailbox.h"
#include "ui/app/app.h"

// A view that remembers what it was told.
struct probe {
    int opened, shown;
    uint64_t number;
    int replies, news;
    int64_t last_total;
    enum action last;
    bool keeps_back;
    char typed[64];
    char accepted[64];
    size_t chosen;
    int64_t due; // clock_mono of the next tick; 0: none
    int ticks;
    const char *unsaved;
    int status; // of the program that ended last
};

extern struct probe *newest; // the state opened last
extern int closed;           // views

struct world {
    struct mailbox *requests, *replies;
    struct app_config config;
    struct app *app;
};

// Setup and teardown of a test; its state is the struct world. Places 1 and 2 are of one view, 4 of another.
int make_world(void **state);
int destroy_world(void **state);
// The same with the views and settings of `config` instead, connected to a database that has the schema.
int make_world_of(void **state, const struct app_config *config);
#define WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, destroy_world)

void press(struct app *app, const char *keys); // in vim's notation
bool shows(struct app *app, const char *text);
struct request *take_request(struct world *world);   // what the app asked next, or NULL
void tell(struct world *world, struct reply *reply); // the app receives it
void answer(struct world *world, enum reply_kind kind, uint64_t number, bool is_last, int64_t total);

#endif
