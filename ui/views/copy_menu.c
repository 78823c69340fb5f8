#include "ui/views/copy_menu.h"

#include <stdbool.h>

enum { CHOICES = 16 };

// The first letter of each text that neither another item has nor moves the cursor of a menu.
static void
give_keys(struct menu_item *items, size_t count)
{
    bool is_taken['z' + 1] = {['g'] = true, ['j'] = true, ['k'] = true, ['q'] = true};
    for (size_t i = 0; i < count; i++) {
        for (const char *at = items[i].text; *at && !items[i].key; at++) {
            if (*at < 'a' || *at > 'z' || is_taken[(size_t)*at])
                continue;
            is_taken[(size_t)*at] = true;
            items[i].key = (uint32_t)*at;
        }
    }
}

void
copy_menu_ask(struct app *app, const void *state, copy_choice_fn *choice,
              void (*chosen)(struct app *app, void *state, size_t index))
{
    struct menu_item items[CHOICES] = {{0}};
    size_t count = 0;
    struct bytes value;
    while (count < CHOICES && choice(app, state, count, &items[count].text, &value))
        count++;
    give_keys(items, count);
    if (count)
        app_menu(app,
                 &(struct menu_request){.title = "Copy", .items = items, .count = count, .chosen = chosen});
}

void
copy_menu_take(struct app *app, const void *state, copy_choice_fn *choice, size_t index)
{
    const char *text;
    struct bytes value;
    if (choice(app, state, index, &text, &value))
        app_copy(app, value, text);
}
