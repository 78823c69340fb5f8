# Steering: steps, halting, approval, quarantine; and two who want the same events in the same second.

db=(-d "$PG")
for wrong in "--canary 0" "--canary ten" "--ramp 10,,5" "--ramp rest,5" "--settle-for soon" "--halt-above 101%" "--halt-above -1"; do
    # shellcheck disable=SC2086
    run reprocess "${db[@]}" --id 501 --yes --detach $wrong
    ok "$wrong is refused" all exits 2 ';' one_sentence
done
run discard "${db[@]}" --id 501 --yes --canary 10
ok "a discard has no steps" all exits 2 ';' one_sentence
run reprocess "${db[@]}" --filter id:501..560 --dry-run --canary 10 --ramp 20,rest
ok "--dry-run says how it would be sent" all exits 0 ';' warns "in steps of 10, 20, rest, halting above 5%"
run reprocess "${db[@]}" --filter id:501..560 --yes --detach --canary 10 --settle-for 90s --ramp 20,rest --halt-above 20% --json
ok "a canary and a ramp" all exits 0 ';' json 'rows[0]["state"] == "frozen" and rows[0]["total"] == 60'
canary=$(operation_of)
run operation "${db[@]}" "$canary"
ok "operation N tells its steps" all exits 0 ';' says "10, 20, rest; step 1 of 3" ';' says "more than 20% are refused or return" ';' says "0 of 0 sent"
run operation "${db[@]}" "$canary" ramp 5,rest
ok "they can be changed" all exits 0 ';' says "5, rest; step 1 of 2"
run operation "${db[@]}" "$canary" settle-for 2m
ok "and how long they are watched" all exits 0 ';' says "watching 2m after each"
run operation "${db[@]}" "$canary" halt-above 7.5%
ok "and when it halts" all exits 0 ';' says "more than 7.5%"
run operation "${db[@]}" "$canary" halt-above none
ok "or that it does not" all exits 0 ';' not says "halts if"
run operation "${db[@]}" "$canary" ramp 5,six
ok "steps that are none" all exits 2 ';' one_sentence
ok "each change is in the audit" in_table "SELECT count(*) FROM redrive.audit WHERE operation_no = $canary AND action IN ('steps', 'settle', 'halt')" 4

# As a worker leaves it that halted by itself.
sql "UPDATE redrive.operation SET state = 'halted', state_note = '3 of 10 returned, more than 20%' WHERE no = $canary" >/dev/null
run operation "${db[@]}" "$canary"
ok "a halted one says why" all exits 1 ';' says HALTED ';' says "3 of 10 returned, more than 20%"
run operation "${db[@]}" "$canary" wait --json
ok "who waits for it learns it" all exits 1 ';' json 'rows[0]["state"] == "halted"'
run operation "${db[@]}" "$canary" resume --reason "the returns came from a test"
ok "a person lets it go on, and says why" all exits 0 ';' says "reprocess frozen" ';' says ", was halted: the returns came from a test"
REDRIVE_REASON_REQUIRED=on run operation "${db[@]}" "$canary" pause
ok "settings may want a reason" all exits 2 ';' one_sentence ';' warns "redrive operation N pause needs --reason TEXT (reason_required is on"
run operation "${db[@]}" "$canary" rate 50 --reason "slowly now"
ok "a rate has one too" all exits 0 ';' says "was no limit; is 50/s: slowly now"
run operation "${db[@]}" "$canary" halt-above 30% --reason "tests return"
ok "and so has a part of the plan" all exits 0 ';' says ": tests return"
run operation "${db[@]}" "$canary" wait --reason "no hurry"
ok "waiting changes nothing, so it takes none" all exits 2 ';' one_sentence ';' warns "wait changes nothing"
run operation "${db[@]}" "$canary" --reason "no hurry"
ok "nor does a look" all exits 2 ';' one_sentence
run operation "${db[@]}" "$canary" cancel --reason "INC-9, gateway down" --json
ok "and stops it" all exits 0 ';' json 'rows[0]["timeline"][-2]["action"] == "cancel" and rows[0]["timeline"][-2]["reason"] == "INC-9, gateway down" and rows[0]["timeline"][0]["action"] == "reprocess"'
run audit "${db[@]}"
ok "the audit has each reason" all says "INC-9, gateway down" ';' says "slowly now"
run report "${db[@]}" --operation "$canary"
ok "and so has the evidence" all exits 0 ';' says "INC-9, gateway down" ';' says "the returns came from a test"

# Approval: by the asker's settings, and by the install's.
sql "CREATE ROLE redrive_bea_$$ LOGIN" >/dev/null
sql "SELECT redrive.grants('redrive_bea_$$')" | psql -XAtq "$PG" >/dev/null
REDRIVE_APPROVE_ABOVE=5 run discard "${db[@]}" --filter id:561..566 --yes --json
ok "a large one awaits approval" all exits 4 ';' json 'rows[0]["state"] == "awaiting approval" and rows[0]["done"] == 0' ';' warns "approve"
large=$(operation_of)
run operation "${db[@]}" "$large" approve
ok "not by whoever asked for it" all exits 4 ';' one_sentence ';' warns "somebody else"
run work "${db[@]}" --once --quiet
ok "until then nobody carries it out" in_table "SELECT count(*) FROM dlq_events WHERE id BETWEEN 561 AND 566 AND status = 'PENDING'" 6
run operation -d "$PG user=redrive_bea_$$" "$large" approve
ok "by another operator" all exits 0 ';' says "approved by redrive_bea_$$"
run work "${db[@]}" --once --quiet
ok "then it is done" in_table "SELECT count(*) FROM dlq_events WHERE id BETWEEN 561 AND 566 AND status = 'DISCARDED'" 6
ok "in the asker's name" in_table "SELECT DISTINCT resolved_by FROM dlq_events WHERE id BETWEEN 561 AND 566" "$(sql 'SELECT session_user')"
sql "UPDATE redrive.install SET approve_above = 2" >/dev/null
run discard -d "$PG user=redrive_bea_$$" --filter id:571..573 --yes --json
ok "the install's own limit holds whatever somebody's settings say" all exits 4 ';' json 'rows[0]["state"] == "awaiting approval"'
run operation "${db[@]}" "$(operation_of)" cancel
sql "UPDATE redrive.install SET approve_above = NULL" >/dev/null

# Quarantine.
sql "INSERT INTO redrive.returned (dlq_id, operation_no, times) VALUES (581, $canary, 3), (582, $canary, 2)" >/dev/null
run reprocess "${db[@]}" --filter id:580..582 --dry-run --json
ok "a bulk reprocess leaves out what is in quarantine" all exits 0 ';' json 'rows[0]["total"] == 2' ';' warns "left out 1 in quarantine"
run reprocess "${db[@]}" --filter 'id:580..582 is:quarantined' --dry-run --json
ok "unless the filter names it" all exits 0 ';' json 'rows[0]["total"] == 1' ';' not warns "left out"
run reprocess "${db[@]}" --id 581 --dry-run --json
ok "or its id" all exits 0 ';' json 'rows[0]["total"] == 1'
run reprocess "${db[@]}" --filter id:581 --dry-run
ok "nothing else is nothing to act on" all exits 5 ';' warns "in quarantine"
run discard "${db[@]}" --filter id:580..582 --dry-run --json
ok "a discard takes it like any other" json 'rows[0]["total"] == 3'
REDRIVE_MAX_REPLAYS=2 run reprocess "${db[@]}" --filter id:580..582 --dry-run --json
ok "max_replays says after how many times" json 'rows[0]["total"] == 1'
run show "${db[@]}" 581
ok "show says so" says "3 times, from operation $canary; in quarantine"
sql "UPDATE redrive.returned SET sent_id = 480 WHERE dlq_id = 581" >/dev/null
run show "${db[@]}" 581
ok "show names the event that it was" says "from operation $canary, which sent it as event 480"
run show "${db[@]}" 581 --json
ok "in JSON too" json "rows[0]['returned_from'] == {'operation': $canary, 'event': 480}"
sql "DELETE FROM redrive.returned" >/dev/null

# Two operators, the same events, the same second: both have chosen before either has an operation.
sql "DO \$\$ BEGIN
    LOCK TABLE redrive.operation IN EXCLUSIVE MODE;
    FOR i IN 1..400 LOOP
        EXIT WHEN 2 <= (SELECT count(DISTINCT pid) FROM pg_locks WHERE relation = 'redrive.operation'::regclass AND NOT granted);
        PERFORM pg_sleep(0.05);
    END LOOP;
END \$\$" >/dev/null &
gate=$!
until [ "$(sql "SELECT count(*) FROM pg_locks WHERE relation = 'redrive.operation'::regclass AND mode = 'ExclusiveLock' AND granted")" = 1 ]; do
    kill -0 $gate 2>/dev/null || break
    sleep 0.05
done
"$REDRIVE" discard "${db[@]}" --filter id:601..640 --yes --json >"$work/left" 2>"$work/left.err" &
left=$!
"$REDRIVE" resolve -d "$PG user=redrive_bea_$$" --filter id:601..640 --yes --json >"$work/right" 2>"$work/right.err" &
right=$!
wait $gate
wait $left
wait $right
ran="discard and resolve of the same 40 events at once"
out=$(cat "$work/left" "$work/right") err=$(cat "$work/left.err" "$work/right.err")
ok "each event is decided once" in_table "SELECT count(DISTINCT dlq_id) || ' ' || count(*) FROM redrive.item i JOIN redrive.operation o ON o.no = operation_no WHERE filter_text = 'id:601..640' AND i.state = 'done'" "40 40"
ok "the other one's are skipped" in_table "SELECT sum(done) || ' ' || sum(skipped) FROM redrive.operation WHERE filter_text = 'id:601..640'" "40 40"
ok "and it is said who has them, or closed them" eval '[[ $err == *"s operation "* || $err == *" by "* ]]'
sql "DROP OWNED BY redrive_bea_$$" >/dev/null
sql "DROP ROLE redrive_bea_$$" >/dev/null
