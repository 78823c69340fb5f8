#include "tests/acceptance/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include "tests/acceptance/programs.h"
#include "tests/lib/folder.h"
#include "tests/store/world.h"

void
screen_open(struct screen *screen, const char *conninfo, const char *brokers)
{
    char home[100], state[100], runtime[100];
    snprintf(screen->home, sizeof screen->home, "/tmp/redrive-screen.XXXXXX");
    assert_non_null(mkdtemp(screen->home));
    snprintf(home, sizeof home, "HOME=%s", screen->home);
    snprintf(state, sizeof state, "XDG_STATE_HOME=%s", screen->home);
    snprintf(runtime, sizeof runtime, "XDG_RUNTIME_DIR=%s", screen->home);
    const char *env[] = {home,       state,
                         runtime,    "REDRIVE_CONFIG",
                         "NO_COLOR", brokers ? "REDRIVE_START_WORKER" : "REDRIVE_START_WORKER=off",
                         NULL};
    const char *argv[] = {redrive_program(), "-d", conninfo, brokers ? "-b" : NULL, brokers, NULL};
    screen->vt = vt_start(&(struct vt_setup){.rows = 24, .cols = 80, .argv = argv, .env = env});
    assert_non_null(screen->vt);
}

// Cmocka cuts long messages, so the screen goes out by itself.
void
screen_give_up(struct screen *screen, const char *why)
{
    fprintf(stderr, "%s\n", vt_screen(screen->vt));
    fail_msg("%s; the screen stands above", why);
}

void
screen_see(struct screen *screen, const char *text)
{
    for (int64_t until = clock_mono() + 30 * US_PER_SECOND; clock_mono() < until;)
        if (vt_wait_text(screen->vt, text))
            return;
    screen_give_up(screen, text);
}

void
screen_press(struct screen *screen, const char *keys)
{
    if (!vt_press(screen->vt, keys))
        screen_give_up(screen, keys);
}

void
screen_confirm(struct screen *screen, const struct screen_answers *answers)
{
    char keys[200];
    if (answers->count) // not there before the events were looked at
        snprintf(keys, sizeof keys, "type %s to confirm", answers->count);
    screen_see(screen, answers->count ? keys : answers->button);
    screen_press(screen, answers->reason);
    if (answers->rate) {
        snprintf(keys, sizeof keys, "<Down>%s<Up>", answers->rate);
        screen_press(screen, keys);
    }
    if (answers->send) {
        snprintf(keys, sizeof keys, "<Down><Down><Down>%s<Up><Up><Up>", answers->send);
        screen_press(screen, keys);
    }
    screen_press(screen, "<Tab>");
    if (answers->count) {
        snprintf(keys, sizeof keys, "%s<Tab>", answers->count);
        screen_press(screen, keys);
    }
    snprintf(keys, sizeof keys, "[ %s ]", answers->button);
    if (!vt_shows(screen->vt, keys))
        screen_give_up(screen, "the button has no focus");
    screen_press(screen, "<Enter>");
}

void
screen_close(struct screen *screen)
{
    vt_keys(screen->vt, "Q"); // it ends: no idle moment comes
    assert_int_equal(vt_result(screen->vt, 20000), 0);
    vt_end(screen->vt);
    folder_remove(screen->home);
}
