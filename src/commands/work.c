// work: carries operations out, as a service or once.
#include "base/log.h"
#include "commands/cli/command.h"
#include "commands/cli/interrupt.h"
#include "commands/cli/output.h"
#include "commands/correcting.h"
#include "commands/publishing.h"
#include "rollup/maintenance.h"
#include "store/schema.h"

int
command_work(struct call *call, struct err *err)
{
    struct store *store = NULL;
    // The worker connects by itself; here only what a person must hear at once: no schema, no right, no way
    // to PostgreSQL.
    if (!command_no_args(call, err) || !command_store(call, STORE_WRITE, &store, err))
        return command_status(err);
    store_close(store);

    struct broker_settings broker;
    if (!publishing_broker_ready(call, &broker, err))
        return command_status(err);
    if (!broker_settings_present(&broker))
        remark(call, "no Kafka brokers are configured: reprocess operations are left to other workers; give "
                     "-b HOST:PORT");
    struct worker_settings worker = publishing_worker(call);
    struct correcting_worker correcting = {.call = call};
    worker.correct = correcting_apply;
    worker.correct_context = &correcting;
    worker.mode = call->options.command.once ? WORKER_ONCE : WORKER_SERVICE;
    interrupt_catch();
    log_to(stderr, call->options.general.quiet ? LOG_ERROR : LOG_INFO, call->options.general.json);
    // A service also keeps the sums of the backlog, so that a screen finds them true when it opens.
    struct maintenance *maintenance = worker.mode == WORKER_SERVICE ? maintenance_start(&worker.store) : NULL;
    bool ok = worker_run(&worker, err);
    maintenance_stop(maintenance);
    correcting_worker_release(&correcting);
    return ok ? STATUS_DONE : command_status(err);
}
