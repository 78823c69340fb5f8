#include "ui/views/decide/newer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text.h"
#include "core/selection.h"
#include "ui/views/decide/texts.h"

enum { KEYS_SHOWN = 3 };

void
decide_newer_release(struct decide_newer *newer)
{
    free(newer->all);
    arena_release(&newer->arena);
    *newer = (struct decide_newer){0};
}

void
decide_newer_look(struct app *app, struct decide_newer *newer, const int64_t *ids, size_t count)
{
    if (!newer->is_asked || newer->number || newer->found.is_over || newer->trouble[0])
        return;
    struct request *request = request_create(REQUEST_NEWER);
    request->id = newer->question;
    if (!newer->question) {
        request->ids = alloc_array(count + 1, sizeof *ids);
        memcpy(request->ids, ids, count * sizeof *ids);
        request->id_count = count;
    }
    newer->number = app_send(app, request);
}

void
decide_newer_take(struct app *app, struct decide_newer *newer, struct reply *reply)
{
    newer->number = 0;
    if (reply->kind == REPLY_NEWER) {
        newer->question = reply->newer.question;
        newer->has_worker = reply->newer.has_worker;
        newer->found = reply->newer.found;
        arena_release(&newer->arena);
        newer->arena = (struct arena){0};
        arena_adopt(&newer->arena, &reply->arena);
    } else {
        snprintf(newer->trouble, sizeof newer->trouble, "%s", reply->err.text);
    }
    app_redraw(app);
}

bool
decide_newer_toggle(struct decide_newer *newer, int64_t **ids, size_t *count)
{
    if (newer->all) {
        free(*ids);
        *ids = newer->all;
        *count = newer->all_count;
        newer->all = NULL;
        return true;
    }
    if (!newer->found.is_over || newer->found.stale_count == 0)
        return false;
    int64_t *all = alloc_array(*count + 1, sizeof *all);
    memcpy(all, *ids, *count * sizeof *all);
    size_t kept = ids_without(*ids, *count, newer->found.stale, newer->found.stale_count);
    if (kept == 0 || kept == *count) {
        memcpy(*ids, all, *count * sizeof *all);
        free(all);
        return false;
    }
    newer->all = all;
    newer->all_count = *count;
    *count = kept;
    return true;
}

static void
describe_found(const struct decide_newer *newer, struct dialog *dialog, int64_t now, struct arena *arena)
{
    const struct newer *found = &newer->found;
    enum role role = newer->all || !found->stale_count ? ROLE_DIALOG : ROLE_DIALOG_DANGER;
    dialog_line(dialog, role, "%s%s", newer->all ? MSG_NEWER_LEFT_OUT : "", newer_found(found, now, arena));
    const char *keys = newer_keys(found, KEYS_SHOWN, now, arena);
    const char *gaps = newer_gaps(found, arena);
    if (keys)
        dialog_line(dialog, ROLE_DIALOG, "     %s", keys);
    if (gaps)
        dialog_line(dialog, ROLE_DIALOG, "     %s", gaps);
    if (found->why)
        dialog_line(dialog, ROLE_DIALOG_DANGER, "     %s", newer_progress(found, arena));
}

static void
offer(const struct decide_newer *newer, struct dialog *dialog)
{
    const struct newer *found = &newer->found;
    struct dialog_offer offers[DIALOG_OFFERS];
    size_t count = 0;
    if (!newer->is_asked)
        offers[count++] = (struct dialog_offer){DO_CHECK_NEWER, MSG_NEWER_CHECK};
    else if (found->stale_count)
        offers[count++] =
            (struct dialog_offer){DO_CHECK_NEWER, newer->all ? MSG_NEWER_TAKE_BACK : MSG_NEWER_LEAVE_OUT};
    if (found->stale_count)
        offers[count++] = (struct dialog_offer){DO_VIEW_NEWER, MSG_NEWER_LIST};
    dialog_set_offers(dialog, offers, count);
}

void
decide_newer_describe(struct decide_newer *newer, struct dialog *dialog, int64_t now)
{
    struct arena arena = {0};
    const struct newer *found = &newer->found;
    offer(newer, dialog);
    dialog_cut(dialog, newer->lines);
    if (newer->trouble[0])
        dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_RISK_UNKNOWN, MSG_NEWER_WHAT, ": ", newer->trouble);
    else if (found->is_over)
        describe_found(newer, dialog, now, &arena);
    else if (newer->is_asked && newer->question && !newer->has_worker)
        dialog_line(dialog, ROLE_DIALOG_DANGER, MSG_NEWER_NO_WORKER);
    else if (newer->is_asked && found->of)
        dialog_line(dialog, ROLE_DIALOG, MSG_RISK_CHECKING "; %s", MSG_NEWER_WHAT,
                    newer_progress(found, &arena));
    else if (newer->is_asked)
        dialog_line(dialog, ROLE_DIALOG, MSG_RISK_CHECKING, MSG_NEWER_WHAT);
    arena_release(&arena);
}

const char *
decide_newer_option(const struct decide_newer *newer)
{
    return newer->all ? " --skip-stale" : newer->is_asked ? " --check-newer" : "";
}
