// mark: a word on the time axis of every chart, such as a deployment, so that a person sees what came before
// and what after.
#include "base/strbuf.h"
#include "commands/cli/command.h"
#include "commands/cli/output.h"
#include "store/rollup/trend.h"

int
command_mark(struct call *call, struct err *err)
{
    struct strbuf text = {0};
    struct store *store = NULL;
    for (size_t i = 0; i < call->arg_count; i++)
        strbuf_printf(&text, "%s%s", i ? " " : "", call->args[i]);
    bool ok = (text.len || err_set(err, ERR_USAGE, "mark needs a text: redrive mark \"deploy 1.8\"")) &&
              command_store(call, STORE_WRITE, &store, err) && trend_set_mark(store, strbuf_text(&text), err);
    if (ok)
        remark(call, "marked: %s", strbuf_text(&text));
    strbuf_release(&text);
    store_close(store);
    return ok ? STATUS_DONE : command_status(err);
}
