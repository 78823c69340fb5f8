#include "store/schema_files.h"

#include <stddef.h>
#include "base/embed.h"

EMBED(redrive_sql_guard, "src/store/sql/guard.sql");
EMBED(redrive_sql_install, "src/store/sql/install.sql");
EMBED(redrive_sql_audit, "src/store/sql/audit.sql");
EMBED(redrive_sql_events, "src/store/sql/events.sql");
EMBED(redrive_sql_revisions, "src/store/sql/revisions.sql");
EMBED(redrive_sql_operations, "src/store/sql/operations.sql");
EMBED(redrive_sql_items, "src/store/sql/items.sql");
EMBED(redrive_sql_batches, "src/store/sql/batches.sql");
EMBED(redrive_sql_freeze, "src/store/sql/freeze.sql");
EMBED(redrive_sql_steering, "src/store/sql/steering.sql");
EMBED(redrive_sql_workers, "src/store/sql/workers.sql");
EMBED(redrive_sql_corrections, "src/store/sql/corrections.sql");
EMBED(redrive_sql_topics, "src/store/sql/topics.sql");
EMBED(redrive_sql_slots, "src/store/sql/slots.sql");
EMBED(redrive_sql_turns, "src/store/sql/turns.sql");
EMBED(redrive_sql_chunks, "src/store/sql/chunks.sql");
EMBED(redrive_sql_doubt, "src/store/sql/doubt.sql");
EMBED(redrive_sql_history, "src/store/sql/history.sql");
EMBED(redrive_sql_returned, "src/store/sql/returned.sql");
EMBED(redrive_sql_taken, "src/store/sql/taken.sql");
EMBED(redrive_sql_newer, "src/store/sql/newer.sql");
EMBED(redrive_sql_ingest, "src/store/sql/ingest.sql");
EMBED(redrive_sql_new_events, "src/store/sql/new_events.sql");
EMBED(redrive_sql_unfit, "src/store/sql/unfit.sql");
EMBED(redrive_sql_schemas, "src/store/sql/schemas.sql");
EMBED(redrive_sql_originals, "src/store/sql/originals.sql");
EMBED(redrive_sql_decode_again, "src/store/sql/decode_again.sql");
EMBED(redrive_sql_import, "src/store/sql/import.sql");
EMBED(redrive_sql_rollup, "src/store/sql/rollup.sql");
EMBED(redrive_sql_rollup_check, "src/store/sql/rollup_check.sql");
EMBED(redrive_sql_rollup_closed, "src/store/sql/rollup_closed.sql");
EMBED(redrive_sql_trend, "src/store/sql/trend.sql");
EMBED(redrive_sql_written, "src/store/sql/written.sql");
EMBED(redrive_sql_texts, "src/store/sql/texts.sql");
EMBED(redrive_sql_watch, "src/store/sql/watch.sql");
EMBED(redrive_sql_alerts, "src/store/sql/alerts.sql");
EMBED(redrive_sql_policies, "src/store/sql/policies.sql");
EMBED(redrive_sql_policy_topics, "src/store/sql/policy_topics.sql");
EMBED(redrive_sql_people, "src/store/sql/people.sql");
EMBED(redrive_sql_marks, "src/store/sql/marks.sql");
EMBED(redrive_sql_recipes, "src/store/sql/recipes.sql");
EMBED(redrive_sql_archive, "src/store/sql/archive.sql");
EMBED(redrive_sql_mapping, "src/store/sql/mapping.sql");
EMBED(redrive_sql_rights, "src/store/sql/rights.sql");

// In this order a table stands before those that refer to it, and a type before the functions that take it.
static const struct {
    const char *name;
    const char *begin, *end;
} files[] = {
    {"install.sql", redrive_sql_install, redrive_sql_install_end},
    {"audit.sql", redrive_sql_audit, redrive_sql_audit_end},
    {"events.sql", redrive_sql_events, redrive_sql_events_end},
    {"revisions.sql", redrive_sql_revisions, redrive_sql_revisions_end},
    {"operations.sql", redrive_sql_operations, redrive_sql_operations_end},
    {"items.sql", redrive_sql_items, redrive_sql_items_end},
    {"batches.sql", redrive_sql_batches, redrive_sql_batches_end},
    {"freeze.sql", redrive_sql_freeze, redrive_sql_freeze_end},
    {"steering.sql", redrive_sql_steering, redrive_sql_steering_end},
    {"workers.sql", redrive_sql_workers, redrive_sql_workers_end},
    {"corrections.sql", redrive_sql_corrections, redrive_sql_corrections_end},
    {"topics.sql", redrive_sql_topics, redrive_sql_topics_end},
    {"slots.sql", redrive_sql_slots, redrive_sql_slots_end},
    {"turns.sql", redrive_sql_turns, redrive_sql_turns_end},
    {"chunks.sql", redrive_sql_chunks, redrive_sql_chunks_end},
    {"doubt.sql", redrive_sql_doubt, redrive_sql_doubt_end},
    {"history.sql", redrive_sql_history, redrive_sql_history_end},
    {"returned.sql", redrive_sql_returned, redrive_sql_returned_end},
    {"taken.sql", redrive_sql_taken, redrive_sql_taken_end},
    {"newer.sql", redrive_sql_newer, redrive_sql_newer_end},
    {"ingest.sql", redrive_sql_ingest, redrive_sql_ingest_end},
    {"new_events.sql", redrive_sql_new_events, redrive_sql_new_events_end},
    {"unfit.sql", redrive_sql_unfit, redrive_sql_unfit_end},
    {"schemas.sql", redrive_sql_schemas, redrive_sql_schemas_end},
    {"originals.sql", redrive_sql_originals, redrive_sql_originals_end},
    {"decode_again.sql", redrive_sql_decode_again, redrive_sql_decode_again_end},
    {"import.sql", redrive_sql_import, redrive_sql_import_end},
    {"rollup.sql", redrive_sql_rollup, redrive_sql_rollup_end},
    {"rollup_check.sql", redrive_sql_rollup_check, redrive_sql_rollup_check_end},
    {"rollup_closed.sql", redrive_sql_rollup_closed, redrive_sql_rollup_closed_end},
    {"trend.sql", redrive_sql_trend, redrive_sql_trend_end},
    {"written.sql", redrive_sql_written, redrive_sql_written_end},
    {"texts.sql", redrive_sql_texts, redrive_sql_texts_end},
    {"watch.sql", redrive_sql_watch, redrive_sql_watch_end},
    {"alerts.sql", redrive_sql_alerts, redrive_sql_alerts_end},
    {"policies.sql", redrive_sql_policies, redrive_sql_policies_end},
    {"policy_topics.sql", redrive_sql_policy_topics, redrive_sql_policy_topics_end},
    {"people.sql", redrive_sql_people, redrive_sql_people_end},
    {"marks.sql", redrive_sql_marks, redrive_sql_marks_end},
    {"recipes.sql", redrive_sql_recipes, redrive_sql_recipes_end},
    {"archive.sql", redrive_sql_archive, redrive_sql_archive_end},
    {"mapping.sql", redrive_sql_mapping, redrive_sql_mapping_end},
    {"rights.sql", redrive_sql_rights, redrive_sql_rights_end},
};

static const struct schema_upgrade upgrades[] = {{0}};

bool
schema_file(size_t i, struct schema_file *file)
{
    static const char line[] = "\n---- functions\n";
    if (i >= sizeof files / sizeof files[0])
        return false;
    struct bytes text = {files[i].begin, (size_t)(files[i].end - files[i].begin)};
    size_t at = bytes_find(text, BYTES(line), 0);
    *file = (struct schema_file){.name = files[i].name, .tables = text};
    if (at < text.len) {
        file->tables.len = at + 1;
        file->functions = (struct bytes){text.data + at + sizeof line - 1, text.len - at - (sizeof line - 1)};
    }
    return true;
}

struct bytes
schema_guard(void)
{
    // cppcheck-suppress comparePointers ; the assembler puts both symbols around one file
    return (struct bytes){redrive_sql_guard, (size_t)(redrive_sql_guard_end - redrive_sql_guard)};
}

const struct schema_upgrade *
schema_upgrades(void)
{
    return upgrades;
}
