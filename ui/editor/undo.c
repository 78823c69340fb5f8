#include "ui/editor/undo.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "ui/editor/editor.h"

static void
forget_undone(struct undo *undo)
{
    if (undo->at == undo->step_count)
        return;
    size_t kept = undo->steps[undo->at].first;
    for (size_t i = kept; i < undo->change_count; i++)
        strbuf_release(&undo->changes[i].other);
    undo->change_count = kept;
    undo->step_count = undo->at;
    if (undo->saved > undo->at)
        undo->saved = SIZE_MAX;
}

static bool
goes_on(const struct undo *undo, enum undo_kind kind, struct undo_place before, bool begins_word, int64_t now)
{
    if (undo->at == 0 || undo->is_closed)
        return false;
    if (undo->nested > 0)
        return true;
    const struct undo_step *step = &undo->steps[undo->at - 1];
    return kind != UNDO_ALONE && step->kind == kind && !begins_word && now - step->last <= EDITOR_PAUSE &&
           step->after.cursor == before.cursor && step->after.anchor == SIZE_MAX && before.anchor == SIZE_MAX;
}

void
undo_begin(struct undo *undo, enum undo_kind kind, struct undo_place before, bool begins_word, int64_t now)
{
    forget_undone(undo);
    if (goes_on(undo, kind, before, begins_word, now)) {
        undo->steps[undo->at - 1].last = now;
        return;
    }
    undo->is_closed = false;
    undo->steps = alloc_grow(undo->steps, undo->step_count, &undo->step_capacity, sizeof *undo->steps);
    undo->steps[undo->step_count++] = (struct undo_step){
        .first = undo->change_count, .before = before, .after = before, .kind = kind, .last = now};
    undo->at = undo->step_count;
}

struct strbuf
undo_copy(struct bytes b)
{
    struct strbuf copy = {.len = b.len, .capacity = b.len + 1};
    copy.data = alloc_bytes(copy.capacity);
    if (b.len)
        memcpy(copy.data, b.data, b.len);
    return copy;
}

// Typing on and deleting on make the last change of the step longer.
static bool
join(struct undo_change *last, size_t at, struct bytes removed, size_t len)
{
    if (removed.len == 0 && at == last->at + last->len) {
        last->len += len;
        return true;
    }
    if (len > 0 || last->len > 0)
        return false;
    if (at == last->at) {
        strbuf_add(&last->other, removed);
        return true;
    }
    if (at + removed.len != last->at)
        return false;
    strbuf_splice(&last->other, 0, 0, removed);
    last->at = at;
    return true;
}

void
undo_add(struct undo *undo, size_t at, struct bytes removed, size_t len)
{
    struct undo_step *step = &undo->steps[undo->at - 1];
    if (step->count > 0 && join(&undo->changes[undo->change_count - 1], at, removed, len))
        return;
    undo->changes =
        alloc_grow(undo->changes, undo->change_count, &undo->change_capacity, sizeof *undo->changes);
    struct undo_change *change = &undo->changes[undo->change_count++];
    *change = (struct undo_change){.at = at, .len = len};
    change->other = undo_copy(removed);
    step->count++;
}

void
undo_release(struct undo *undo)
{
    for (size_t i = 0; i < undo->change_count; i++)
        strbuf_release(&undo->changes[i].other);
    free(undo->changes);
    free(undo->steps);
    *undo = (struct undo){0};
}
