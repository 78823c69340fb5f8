// The menu of links. $BROWSER gets the address as an argument and the terminal until it ends, so that w3m
// works as well as xdg-open: the shell that starts it sees words of ours alone.
#include "ui/views/links.h"

#include <stdlib.h>
#include <string.h>
#include "core/link.h"
#include "ui/app/app.h"

enum { CHOICES = 24 };

#define MSG_NO_LINKS_SET "no links in the settings · links = { \"logs https://…?q={correlation_id}\" }"
#define MSG_NO_LINK_HERE "no link here: this has none of the values that the links of the settings ask for"
#define MSG_OPENED "the browser has the address"
#define MSG_NOT_OPENED "$BROWSER ended with status %d; the address can be copied instead"

static void
link_opened(struct app *app, void *state, int status)
{
    (void)state;
    if (status == 0)
        app_say(app, SAY_OK, MSG_OPENED);
    else
        app_say(app, SAY_WARN, MSG_NOT_OPENED, status);
}

static bool
has_browser(void)
{
    const char *browser = getenv("BROWSER");
    return browser && *browser;
}

bool
links_of(const struct link_list *links, const struct event *event, size_t i, struct arena *arena,
         const char **name, const char **address)
{
    for (size_t at = 0; at < links->count; at++) {
        *name = links->items[at].name;
        *address = link_address(&links->items[at], event, arena);
        if (*address && i-- == 0)
            return true;
    }
    return false;
}

// One item of the menu.
struct link_choice {
    bool opens; // else it is copied
    const char *name, *address;
};

// The i-th choice; false: no more.
static bool
links_choice(struct app *app, const struct event *event, size_t i, struct link_choice *choice)
{
    size_t each = has_browser() ? 2 : 1;
    choice->opens = each == 2 && i % each == 0;
    return links_of(&app_config(app)->links, event, i / each, app_frame(app), &choice->name,
                    &choice->address);
}

void
links_ask(struct app *app, const struct event *event,
          void (*chosen)(struct app *app, void *state, size_t index))
{
    struct menu_item items[CHOICES] = {{0}};
    struct link_choice choice;
    size_t count = 0;
    for (; count < CHOICES && links_choice(app, event, count, &choice); count++)
        items[count].text = arena_printf(app_frame(app), "%s %s  %s", choice.opens ? "open" : "copy",
                                         choice.name, choice.address);
    if (count)
        app_menu(app,
                 &(struct menu_request){.title = "Links", .items = items, .count = count, .chosen = chosen});
    else
        app_say(app, SAY_INFO, app_config(app)->links.count ? MSG_NO_LINK_HERE : MSG_NO_LINKS_SET);
}

static void
take(struct app *app, const struct link_choice *choice)
{
    if (choice->opens)
        app_run_program(app, "exec $BROWSER \"$1\"", choice->address, link_opened);
    else
        app_copy(app, bytes_of(choice->address), choice->name);
}

void
links_go(struct app *app, const struct event *event, size_t i)
{
    struct link_choice choice;
    if (links_choice(app, event, has_browser() ? 2 * i : i, &choice))
        take(app, &choice);
}

void
links_take(struct app *app, const struct event *event, size_t index)
{
    struct link_choice choice;
    if (links_choice(app, event, index, &choice))
        take(app, &choice);
}
