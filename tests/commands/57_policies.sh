# Policies: what a file may say, what is listed, a rehearsal, who may switch, runs by hand and by a watcher, and what may be undone.

policies_db=redrive_policies_$$
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $policies_db ENCODING 'UTF8' TEMPLATE template0"
policed="$server dbname=$policies_db"
policed_sql() { psql -XAtq -v ON_ERROR_STOP=1 "$policed" -c "$1"; }
psql -Xq "$policed" -f "$here/table.sql"
# The 750 events of the last three days end now, so that a rehearsal has the same days whenever it runs.
policed_sql "UPDATE dlq_events SET created_at = created_at + (now() AT TIME ZONE 'UTC' - timestamp '2026-11-20 12:00:00')"

run policies -d "$policed"
ok "policies without the schema name the command" all not exits 0 ';' one_sentence ';' warns "redrive migrate"
run migrate -d "$policed"
run policies -d "$policed"
ok "there are none by default" all exits 0 ';' lines 0 ';' warns "there are no policies"
run policies --check "$here/../../monitoring/policies.conf"
ok "the shipped example is sound, and nothing in it is on" all exits 0 ';' warns "6 policies, 0 of them enabled"

"$REDRIVE" policy --from-yaml "$here/../cases/policies_yaml/whole.yaml" >"$work/from_yaml.conf"
run policies --check "$work/from_yaml.conf"
ok "a policy of YAML becomes a sound file" all exits 0 ';' warns "2 policies, 2 of them enabled"
run policy --from-yaml "$here/../cases/policies_yaml/unknown.yaml"
ok "and its mistakes have line and column" all exits 2 ';' one_sentence ';' warns 'unknown.yaml:3:5: retry has no "max_atempts"'

cat >"$work/policies.conf" <<'CONF'
policy "timeouts" {
    category = "transient"    filter = "topic:orders"
    action = "reprocess"      schedule = "every 1s"
    limit = 200               rate = 50
}
policy "duplicates" {
    category = "data"    action = "discard"    schedule = "every 1s"    limit = 100
}
policy "closed orders" { class = "IllegalStateException"  action = "MANUAL_REVIEW"  schedule = "every 1s"  enabled = "yes" }
CONF
sed 's/every 1s"  enabled/hourly"  enabled/' "$work/policies.conf" >"$work/wrong_policies.conf"
run policies --check "$work/wrong_policies.conf"
ok "a mistake has file and line" all exits 2 ';' one_sentence ';' warns "wrong_policies.conf:9: policy \"closed orders\": \"hourly\" is no schedule"
printf 'policies = "%s/policies.conf"\npolicies_every = "200ms"\nwatch_every = "200ms"\n' "$work" >"$work/policies.config"
export REDRIVE_CONFIG=$work/policies.config

run policies -d "$policed" --json
ok "what the file says is listed before anything ran" all exits 0 ';' names policy action state words matched runs acted returned refused today operation last_run \
    next_run note halted_why halted_at switched_by switched_at ';' \
    json "[(r['policy'], r['state'], r['last_run']) for r in rows] == [('timeouts', 'disabled', None), ('duplicates', 'disabled', None), ('closed orders', 'enabled', None)]"
run policy nobody -d "$policed"
ok "a policy that is not there" all exits 5 ';' one_sentence ';' warns "no policy \"nobody\""
run policy timeouts off on -d "$policed"
ok "a wrong call" all exits 2 ';' one_sentence ';' warns "on, off, rehearse or run"

before=$(policed_sql "SELECT md5(string_agg(e::text, '' ORDER BY id)) FROM dlq_events e")
run policy timeouts rehearse -d "$policed" --json
ok "a rehearsal says what would have been done a day" all exits 0 ';' lines 7 ';' names policy from until due would_act_on left returned ';' \
    json "sum(r['due'] for r in rows) == 250 and rows[6]['due'] == 250 and rows[6]['would_act_on'] == 200 and rows[6]['left'] == 50"
run policy timeouts rehearse -d "$policed"
ok "for people too" all exits 0 ';' lines 7
ok "and it writes nothing" [ "$(policed_sql "SELECT md5(string_agg(e::text, '' ORDER BY id)) FROM dlq_events e")/$(policed_sql "SELECT count(*) FROM redrive.policy")" = "$before/0" ]

run policy duplicates run -d "$policed" --json
ok "a run by hand begins an operation within its limit" all exits 0 ';' json "rows[0]['action'] == 'discard' and rows[0]['total'] == 100 and rows[0]['state'] == 'frozen'"
discarding=$(operation_of)
run operation "$discarding" -d "$policed" --json
ok "which a policy asked for" json "rows[0]['requested_by'] == 'policy duplicates'"
run policy duplicates run -d "$policed"
ok "and no second one before the first has ended" all not exits 0 ';' one_sentence ';' warns "has not ended"
run work --once -d "$policed"
ok "a worker carries it out" [ "$(policed_sql "SELECT count(*) || resolved_by FROM dlq_events WHERE status = 'DISCARDED' AND resolved_by <> 'api' GROUP BY resolved_by")" = "100policy duplicates" ]
run policy duplicates run -d "$policed"
ok "its limit is for 24 hours" all exits 5 ';' warns "its limit of 100 events a day is reached"
run restore --operation "$discarding" --yes -d "$policed" --json
ok "what it did can be undone" all exits 0 ';' json "rows[0]['done'] == 100"

psql -XAtq "$policed" -c "CREATE ROLE redrive_policy_look_$$ LOGIN" >/dev/null
policed_sql "SELECT statement FROM redrive.grants('redrive_policy_look_$$', 'worker') AS statement" | psql -XAtq "$policed" >/dev/null
run policies -d "$policed user=redrive_policy_look_$$"
ok "a worker's rights are enough to look" all exits 0 ';' lines 3
run policy timeouts on -d "$policed user=redrive_policy_look_$$"
ok "and too few to switch" all exits 4 ';' one_sentence
printf 'policies = "%s"\n' "$work/no_timeouts.conf" >"$work/no_timeouts.config"
printf 'policy "else" { category = "transient" action = "alert" schedule = "every 1h" }\n' >"$work/no_timeouts.conf"
REDRIVE_CONFIG=$work/no_timeouts.config run policy timeouts on -d "$policed" --reason "timeouts pass"
ok "nobody switches one on that is not in their file" all exits 5 ';' one_sentence ';' warns 'no policy "timeouts" is in'
run policy timeouts on -d "$policed" --reason "timeouts pass"
ok "somebody switches one on" all exits 0 ';' warns "redrive watch runs it"
run audit -d "$policed" --json
ok "which the audit has" json "any(r['action'] == 'policy on' and r['reason'] == 'timeouts pass' for r in rows)"

# policies_say EXPRESSION: `redrive policies` gets there, in some seconds.
policies_say()
{
    for _ in {1..300}; do
        run policies -d "$policed" --json
        ! json "$1" >/dev/null || return 0
        sleep 0.1
    done
    return 1
}
# Two watchers with the same file, of which one is killed at once.
"$REDRIVE" watch -d "$policed" --listen 127.0.0.1:0 --json 2>>"$work/policies.log" &
policing_one=$!
"$REDRIVE" watch -d "$policed" --listen 127.0.0.1:0 --json 2>>"$work/policies.log" &
policing_two=$!
ok "a watcher runs it" policies_say "[r['today'] for r in rows if r['policy'] == 'timeouts'] == [200]"
kill -9 "$policing_one"
wait "$policing_one" 2>/dev/null
ok "one of two watchers did" [ "$(policed_sql "SELECT count(*) FROM redrive.operation WHERE policy = 'timeouts'")" = 1 ]
ok "and what is for people to review is counted" policies_say "[r['matched'] for r in rows if r['policy'] == 'closed orders'] == [500]"
ok "no event is in two of them" [ "$(policed_sql "SELECT count(*) FROM (SELECT dlq_id FROM redrive.item i JOIN redrive.operation o ON o.no = i.operation_no WHERE o.policy = 'timeouts' GROUP BY 1 HAVING count(*) > 1) x")" = 0 ]
sending=$(policed_sql "SELECT max(no) FROM redrive.operation WHERE policy = 'timeouts'")
run operation "$sending" cancel -d "$policed"
ok "somebody cancels what it began, and it halts" policies_say "[r['state'] for r in rows if r['policy'] == 'timeouts'] == ['halted']"
run policies -d "$policed"
ok "which says why, and has a status for scripts" all exits 1 ';' says "operation $sending was cancelled"
run policy timeouts -d "$policed"
ok "as does the policy itself" all exits 1 ';' says "was cancelled" ';' says "switched"
run policy timeouts off -d "$policed"
ok "and it is switched off" all exits 0 ';' policies_say "[r['state'] for r in rows if r['policy'] == 'timeouts'] == ['disabled']"
kill "$policing_two"
wait "$policing_two" 2>/dev/null
ok "the watcher ends as told" [ $? = 0 ]

# Retention by a watcher: what is closed leaves for the archive.
policed_sql "UPDATE dlq_events SET status = 'RESOLVED', resolved_at = now() AT TIME ZONE 'UTC' - interval '100 days' WHERE id <= 40"
echo 'policy "retention" { older_than = "90d"    action = "archive"    schedule = "every 1s" }' >"$work/policies.conf"
run policy retention rehearse -d "$policed"
ok "retention is rehearsed by a dry run" all exits 2 ';' one_sentence ';' warns "redrive archive --older-than with --dry-run"
run policy retention on -d "$policed" --reason "as agreed"
due=$(policed_sql "SELECT count(*) FROM dlq_events WHERE status <> 'PENDING' AND resolved_at < now() AT TIME ZONE 'UTC' - interval '90 days'")
"$REDRIVE" watch -d "$policed" --listen 127.0.0.1:0 2>"$work/retaining.log" &
retaining=$!
ok "a watcher archives what is due" policies_say "[(r['acted'], r['operation']) for r in rows if r['policy'] == 'retention'] == [($due, None)]"
kill "$retaining"
wait "$retaining" 2>/dev/null
ok "and nothing else" [ "$(policed_sql "SELECT count(*) || ' ' || count(*) FILTER (WHERE status = 'PENDING') FROM archive.dlq_events_archive")" = "$due 0" ]
run audit -d "$policed"
ok "the audit has the policy's name" says "policy retention"

unset REDRIVE_CONFIG
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS $policies_db WITH (FORCE)" -c "DROP ROLE redrive_policy_look_$$" >/dev/null 2>&1
