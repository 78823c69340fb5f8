// work: carries operations out, as a service or once.
#include "base/log.h"
#include "base/text.h"
#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/output.h"
#include "commands/cli/ready.h"
#include "commands/correcting.h"
#include "commands/publishing.h"
#include "commands/work_tables.h"
#include "rollup/maintenance.h"
#include "store/schema.h"

static bool
read_patience(const struct call *call, int64_t *patience, struct err *err)
{
    const char *text = call->options.command.patience;
    if (!text)
        return true;
    if (!call->options.command.once)
        return err_set(err, ERR_USAGE, "--patience belongs to --once: a service waits for Kafka for ever");
    return text_parse_duration(bytes_of(text), patience, err);
}

// On a connection that becomes the worker's.
static int
work_on(struct call *call, struct store *store, struct err *err)
{
    int64_t patience = 0;
    struct broker_settings broker;
    if (!read_patience(call, &patience, err) || !publishing_broker_ready(call, &broker, err)) {
        store_close(store);
        return command_status(err);
    }
    if (!broker_settings_present(&broker))
        remark(call, "no Kafka brokers are configured: reprocess operations are left to other workers; give "
                     "-b HOST:PORT");
    struct worker_settings worker = publishing_worker(call);
    struct correcting_worker correcting = {.call = call};
    worker.correct = correcting_apply;
    worker.correct_context = &correcting;
    worker.mode = call->options.command.once ? WORKER_ONCE : WORKER_SERVICE;
    worker.opened = store;
    worker.patience = patience;
    interrupt_catch();
    // A service also keeps the sums of the backlog, so that a screen finds them true when it opens.
    struct maintenance *maintenance = worker.mode == WORKER_SERVICE ? maintenance_start(&worker.store) : NULL;
    if (worker.mode == WORKER_SERVICE)
        ready_tell();
    bool ok = worker_run(&worker, err);
    if (worker.mode == WORKER_SERVICE)
        ready_tell_stopping();
    maintenance_stop(maintenance);
    correcting_worker_release(&correcting);
    return ok ? STATUS_DONE : command_status(err);
}

// The table that call->table names, or the only one.
static int
work_table(struct call *call, struct err *err)
{
    // Not left to the worker, because a person must hear at once of no schema, no right, no way to
    // PostgreSQL.
    struct store *store;
    return command_store(call, STORE_WRITE, &store, err) ? work_on(call, store, err) : command_status(err);
}

// One after the other, each to its end. The first failure ends it.
static int
work_each(struct call *call, const char *const *tables, size_t count, struct err *err)
{
    int status = STATUS_DONE;
    for (size_t i = 0; i < count && status == STATUS_DONE && !interrupt_is_set(); i++) {
        call->table = tables[i];
        log_always("table", tables[i]);
        status = work_table(call, err);
    }
    return status;
}

int
command_work(struct call *call, struct err *err)
{
    const char **tables;
    size_t count;
    struct store *only;
    int64_t patience = 0;
    if (!command_no_args(call, err) || !command_rules(call, err) || !read_patience(call, &patience, err))
        return command_status(err);
    log_to(stderr, call->options.general.quiet ? LOG_ERROR : LOG_INFO, call->options.general.json);
    if (!command_tables(call, &tables, &count, &only, err))
        return command_status(err);
    if (only)
        return work_on(call, only, err);
    if (count < 2)
        return work_table(call, err);
    if (call->options.command.once)
        return work_each(call, tables, count, err);
    return work_tables(call, tables, count, work_table, err);
}
