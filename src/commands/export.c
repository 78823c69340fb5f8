// export: the chosen events, oldest first, as text for other programs.
#include "export/export.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "commands/choosing.h"
#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/output.h"
#include "export/file.h"

// Where the text goes.
struct export_target {
    struct call *call;
    struct export_file file;
    bool has_file;
    struct progress_line progress;
    int64_t of;
};

// A terminal gets no control characters: jsonl has none, the others' texts are made harmless.
static bool
export_print(struct export_target *target, struct bytes text, struct err *err)
{
    if (!target->call->out_is_terminal)
        return output_bytes(text, err) && output_flush(err);
    struct strbuf visible = {0};
    for (size_t at = 0; at < text.len;) { // a CR before the end of a line would be an escape
        size_t end = bytes_find(text, BYTES("\r\n"), at);
        text_visible(&visible, bytes_slice(text, at, end == SIZE_MAX ? text.len - at : end - at), true);
        if (end != SIZE_MAX)
            strbuf_add_char(&visible, '\n');
        at = end == SIZE_MAX ? text.len : end + 2;
    }
    progress_end(&target->progress);
    bool ok = output_bytes(strbuf_bytes(&visible), err) && output_flush(err);
    strbuf_release(&visible);
    return ok;
}

static bool
export_write(void *context, struct bytes text, const struct export_tally *tally, struct err *err)
{
    struct export_target *target = context;
    progress_show(&target->progress, tally->written, target->of, NULL);
    if (interrupt_is_set())
        return err_set(err, ERR_CANCELLED, "interrupted after %" PRId64 " events%s", tally->written,
                       target->has_file ? "; no file is left" : "");
    return target->has_file ? export_file_write(&target->file, text, err) : export_print(target, text, err);
}

static bool
export_form_wanted(const struct call *call, enum export_form *form, struct err *err)
{
    const struct command_options *options = &call->options.command;
    *form = options->output ? export_form_of_file(options->output) : EXPORT_JSONL;
    return !options->form || export_form_parse(options->form, form, err);
}

static bool
export_open(struct export_target *target, struct err *err)
{
    const struct command_options *options = &target->call->options.command;
    target->has_file = options->output && strcmp(options->output, "-") != 0;
    if (!target->has_file)
        signal(SIGPIPE,
               SIG_DFL); // head(1) that has read enough ends it without a word, as it ends other lists
    return !target->has_file ||
           export_file_open(&target->file, options->output, options->force, "--force", err);
}

static void
export_say(const struct export_target *target, const struct export_tally *tally)
{
    char count[TEXT_SHORT];
    if (target->has_file)
        remark(target->call, "exported %s event%s to %s", text_count(tally->written, count),
               tally->written == 1 ? "" : "s", target->call->options.command.output);
    if (tally->gone)
        remark(target->call, "left out %s that were deleted meanwhile", text_count(tally->gone, count));
    if (tally->unreadable)
        remark(target->call, "%s have a text that PostgreSQL cannot return; their lines say why",
               text_count(tally->unreadable, count));
}

static bool
export_chosen(struct call *call, struct store *store, enum export_form form, bool *is_part, struct err *err)
{
    struct choice choice;
    struct choose_tally tally = {0};
    struct export_tally written = {0};
    struct export_target target = {.call = call};
    int64_t *ids = NULL;
    size_t count = 0;
    progress_begin(&target.progress, call, "events");
    bool ok = export_open(&target, err) && choosing_read(call, 1u << EVENT_PENDING, &choice, err) &&
              choose_ids(store, &choice, choosing_tick, &target.progress, &ids, &count, &tally, err) &&
              choosing_check_known(&tally, err);
    if (ok && count == 0 && choice.queue)
        ok = err_set(err, ERR_NOT_FOUND, "no such event is in the queue %s; nothing was exported",
                     choice.queue);
    else if (ok && count == 0)
        ok = err_set(err, ERR_NOT_FOUND, "no events were chosen; nothing was exported");
    target.of = (int64_t)count;
    ok = ok && export_events(store, form, ids, count, export_write, &target, &written, err);
    progress_end(&target.progress);
    if (target.has_file && ok)
        ok = export_file_finish(&target.file, err);
    else
        export_file_abandon(&target.file);
    if (ok)
        export_say(&target, &written);
    choosing_say_undecided(call, &tally);
    *is_part = written.gone || written.unreadable || tally.undecided_count;
    choose_tally_release(&tally);
    free(ids);
    return ok;
}

int
command_export(struct call *call, struct err *err)
{
    struct store *store = NULL;
    enum export_form form;
    bool is_part = false;
    bool ok = command_no_args(call, err) && export_form_wanted(call, &form, err);
    if (ok)
        interrupt_catch();
    ok =
        ok && command_store(call, STORE_READ, &store, err) && export_chosen(call, store, form, &is_part, err);
    store_close(store);
    return !ok ? command_status(err) : is_part ? STATUS_PART : STATUS_DONE;
}
