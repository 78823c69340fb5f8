#include "ui/views/copy_menu.h"

enum { CHOICES = 16 };

void
copy_menu_ask(struct app *app, const void *state, copy_choice_fn *choice,
              void (*chosen)(struct app *app, void *state, size_t index))
{
    struct menu_item items[CHOICES] = {{0}};
    size_t count = 0;
    struct bytes value;
    while (count < CHOICES && choice(app, state, count, &items[count].text, &value))
        count++;
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
