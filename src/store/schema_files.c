#include "store/schema_files.h"

#include <stddef.h>
#include "base/embed.h"

EMBED(redrive_sql_003, "src/store/sql/003_tables.sql");
EMBED(redrive_sql_004, "src/store/sql/004_sessions.sql");
EMBED(redrive_sql_005, "src/store/sql/005_steering.sql");
EMBED(redrive_sql_006, "src/store/sql/006_rights.sql");
EMBED(redrive_sql_007, "src/store/sql/007_backlog.sql");
EMBED(redrive_sql_008, "src/store/sql/008_groups.sql");
EMBED(redrive_sql_009, "src/store/sql/009_claims.sql");
EMBED(redrive_sql_011, "src/store/sql/011_slices.sql");
EMBED(redrive_sql_012, "src/store/sql/012_blocks.sql");
EMBED(redrive_sql_014, "src/store/sql/014_versions.sql");
EMBED(redrive_sql_015, "src/store/sql/015_pieces.sql");
EMBED(redrive_sql_017, "src/store/sql/017_texts.sql");
EMBED(redrive_sql_018, "src/store/sql/018_undo.sql");
EMBED(redrive_sql_019, "src/store/sql/019_marks.sql");
EMBED(redrive_sql_020, "src/store/sql/020_restores.sql");
EMBED(redrive_sql_common, "src/store/sql/common.sql");
EMBED(redrive_sql_blocks, "src/store/sql/blocks.sql");
EMBED(redrive_sql_operations, "src/store/sql/operations.sql");
EMBED(redrive_sql_steering, "src/store/sql/steering.sql");
EMBED(redrive_sql_ledger, "src/store/sql/ledger.sql");
EMBED(redrive_sql_doubt, "src/store/sql/doubt.sql");
EMBED(redrive_sql_texts, "src/store/sql/texts.sql");
EMBED(redrive_sql_backlog, "src/store/sql/backlog.sql");
EMBED(redrive_sql_groups, "src/store/sql/groups.sql");
EMBED(redrive_sql_rights, "src/store/sql/rights.sql");

static const struct {
    const char *name;
    int version;
    const char *begin, *end;
} files[] = {
    {"003_tables.sql", 3, redrive_sql_003, redrive_sql_003_end},
    {"004_sessions.sql", 4, redrive_sql_004, redrive_sql_004_end},
    {"005_steering.sql", 5, redrive_sql_005, redrive_sql_005_end},
    {"006_rights.sql", 6, redrive_sql_006, redrive_sql_006_end},
    {"007_backlog.sql", 7, redrive_sql_007, redrive_sql_007_end},
    {"008_groups.sql", 8, redrive_sql_008, redrive_sql_008_end},
    {"009_claims.sql", 9, redrive_sql_009, redrive_sql_009_end},
    {"011_slices.sql", 11, redrive_sql_011, redrive_sql_011_end},
    {"012_blocks.sql", 12, redrive_sql_012, redrive_sql_012_end},
    {"014_versions.sql", 14, redrive_sql_014, redrive_sql_014_end},
    {"015_pieces.sql", 15, redrive_sql_015, redrive_sql_015_end},
    {"017_texts.sql", 17, redrive_sql_017, redrive_sql_017_end},
    {"018_undo.sql", 18, redrive_sql_018, redrive_sql_018_end},
    {"019_marks.sql", 19, redrive_sql_019, redrive_sql_019_end},
    {"020_restores.sql", 20, redrive_sql_020, redrive_sql_020_end},
    {"common.sql", 0, redrive_sql_common, redrive_sql_common_end},
    {"blocks.sql", 0, redrive_sql_blocks, redrive_sql_blocks_end},
    {"operations.sql", 0, redrive_sql_operations, redrive_sql_operations_end},
    {"steering.sql", 0, redrive_sql_steering, redrive_sql_steering_end},
    {"ledger.sql", 0, redrive_sql_ledger, redrive_sql_ledger_end},
    {"doubt.sql", 0, redrive_sql_doubt, redrive_sql_doubt_end},
    {"texts.sql", 0, redrive_sql_texts, redrive_sql_texts_end},
    {"backlog.sql", 0, redrive_sql_backlog, redrive_sql_backlog_end},
    {"groups.sql", 0, redrive_sql_groups, redrive_sql_groups_end},
    {"rights.sql", 0, redrive_sql_rights, redrive_sql_rights_end},
};

bool
schema_file(size_t i, struct schema_file *file)
{
    if (i >= sizeof files / sizeof files[0])
        return false;
    *file = (struct schema_file){
        files[i].name, files[i].version, {files[i].begin, (size_t)(files[i].end - files[i].begin)}};
    return true;
}
