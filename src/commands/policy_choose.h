// policy_choose: which events a policy matches, by the same search as commands use, and how its runs are made
// by the settings of a call.
#ifndef REDRIVE_COMMANDS_POLICY_CHOOSE_H
#define REDRIVE_COMMANDS_POLICY_CHOOSE_H

#include "commands/cli/command.h"
#include "search/choose.h"
#include "settings/policies_file.h"
#include "watch/policies.h"

// For the policies of a file, which it borrows, as the settings.
struct policy_plan policy_choose_plan(const struct call *call, const struct policies_file *file);
// Events with one of these statuses (set of 1 << enum event_status).
struct choice policy_choice(const struct policy *policy, unsigned statuses);

#endif
