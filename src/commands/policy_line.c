#include "commands/policy_line.h"

#include <string.h>
#include "base/clock.h"
#include "commands/cli/json.h"
#include "store/watch/policies.h"

static bool
is_known(const struct policy_row *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

bool
policy_line_rows(struct store *store, const struct policies_file *file, struct arena *arena,
                 struct policy_row **rows, size_t *count, struct err *err)
{
    struct policy_row *known;
    size_t known_count;
    if (!policies_list(store, arena, &known, &known_count, err))
        return false;
    *rows = arena_array(arena, known_count + file->count, sizeof **rows);
    for (*count = 0; *count < known_count; ++*count)
        (*rows)[*count] = known[*count];
    for (size_t i = 0; i < file->count; i++) {
        const struct policy *policy = &file->policies[i];
        if (!is_known(known, known_count, policy->name))
            (*rows)[(*count)++] =
                (struct policy_row){.name = policy->name,
                                    .words = policy->words,
                                    .action = policy_action_name(policy->action),
                                    .state = policy->is_enabled ? POLICY_ENABLED : POLICY_DISABLED,
                                    .switched_at = TIME_ABSENT,
                                    .halted_at = TIME_ABSENT,
                                    .ran_at = TIME_ABSENT,
                                    .next_at = TIME_ABSENT};
    }
    return true;
}

bool
policy_line_json(const struct policy_row *row, int64_t zone_us, struct err *err)
{
    struct value *object = value_object();
    bool is_on = row->state == POLICY_ENABLED;
    value_add_text(object, "policy", row->name);
    value_add_text(object, "action", row->action);
    value_add_text(object, "state", policy_state_name(row->state));
    value_add_text(object, "words", row->words);
    value_add_int_or_null(object, "matched", row->ran_at != TIME_ABSENT, row->matched);
    value_add_int(object, "runs", row->runs);
    value_add_int(object, "acted", row->acted);
    value_add_int(object, "returned", row->returned);
    value_add_int(object, "refused", row->refused);
    value_add_int(object, "today", row->today);
    value_add_int_or_null(object, "operation", row->operation != 0, row->operation);
    value_add_time(object, "last_run", row->ran_at, zone_us);
    value_add_time(object, "next_run", is_on ? row->next_at : TIME_ABSENT, zone_us);
    value_add_text(object, "note", row->note);
    value_add_text(object, "halted_why", row->halted_why);
    value_add_time(object, "halted_at", row->halted_at, zone_us);
    value_add_text(object, "switched_by", row->switched_by);
    value_add_time(object, "switched_at", row->switched_at, zone_us);
    return json_print(object, err);
}
