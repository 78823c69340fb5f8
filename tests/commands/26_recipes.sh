# Recipes as operations: what the team's own check refuses, steps, undo, what follows them, and what ends them. A database of its own.

recipes=redrive_recipes_$$
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $recipes ENCODING 'UTF8' TEMPLATE template0"
whole=$PG
PG="$server dbname=$recipes"
psql -Xq "$PG" -f "$here/table.sql"
db=(-d "$PG")
run migrate "${db[@]}"
mkdir -p "$work/config/redrive"
cat >"$work/check" <<'CHECK'
#!/bin/bash
while IFS= read -r line; do
    if [[ $line =~ \"n\":[0-9]*0, ]]; then
        echo "n is round"
    elif [[ $line =~ \"n\":999, ]]; then
        touch "$0.thinks"
        exec sleep 600
    elif [[ $line =~ \"n\":998, ]]; then
        exit 7
    else
        echo ok
    fi
done
CHECK
chmod +x "$work/check"
printf 'checks = { "type order.* %s" }\n' "$work/check" >"$work/config/redrive/config"
printf 'add $.late true\n' >"$work/add"
printf 'to-text $.amount\n' >"$work/text"
# Two thirds of the events are orders. Of these the check refuses those whose n is round.

# --- the check, and force
run correct "${db[@]}" --filter id:31..60 --recipe "$work/add" --dry-run --json
ok "a dry run asks the check" all exits 1 ';' json 'rows[0]["refused_by_check"] == 2 and rows[0]["changed"] == 28 and rows[0]["invalid"] == 0 and rows[0]["forced"] == 0'
run correct "${db[@]}" --filter id:31..60 --recipe "$work/add" --dry-run --force
ok "--force says what it takes along" all exits 0 ';' warns "2 would change although the check refuses them"
run correct "${db[@]}" --filter id:31..60 --recipe "$work/add" --yes --json
ok "what the check refuses is left alone" all exits 1 ';' json 'rows[0]["changed"] == 28 and rows[0]["refused_by_check"] == 2 and rows[0]["refused"] == 2' ';' in_table "SELECT count(*) FROM redrive.revision WHERE dlq_id = 40" 0
run correct "${db[@]}" --id 40 --recipe "$work/add" --yes --force
ok "--force needs a reason" all exits 2 ';' one_sentence ';' warns "--reason" ';' in_table "SELECT count(*) FROM redrive.revision WHERE dlq_id = 40" 0
run correct "${db[@]}" --id 40 --id 41 --recipe "$work/add" --yes --force --reason "the check is wrong" --json
forced=$(operation_of)
ok "--force corrects it" all exits 0 ';' json 'rows[0]["changed"] == 1 and rows[0]["not_applicable"] == 1 and rows[0]["forced"] == 1 and rows[0]["refused"] == 0' ';' in_table "SELECT count(*) FROM redrive.revision WHERE dlq_id = 40" 1
ok "the audit says that it was forced" all in_table "SELECT count(*) FROM redrive.audit WHERE operation_no = $forced AND action = 'correct' AND detail LIKE '%forced%' AND reason = 'the check is wrong'" 1 ';' in_table "SELECT count(*) FROM redrive.audit WHERE operation_no = $forced AND action = 'apply' AND detail LIKE '%1 of the changed ones forced%'" 1
ok "and so does the event" in_table "SELECT detail FROM redrive.item WHERE operation_no = $forced AND dlq_id = 40" "forced: n is round"

# --- a check without an answer, which is not one to be overruled
sql "UPDATE public.dlq_events SET event_type = 'order.silent' WHERE id = 998" >/dev/null
run correct "${db[@]}" --id 998 --recipe "$work/add" --yes --force --reason "the check is wrong" --json
ok "--force does not stand for an answer that the check never gave" all exits 1 ';' json 'rows[0]["failed"] == 1 and rows[0]["changed"] == 0 and rows[0]["forced"] == 0' ';' in_table "SELECT count(*) FROM redrive.revision WHERE dlq_id = 998" 0
run correct "${db[@]}" 998 --set '$.seen=true' --force --reason "the check is wrong"
ok "nor for one event" all exits 1 ';' one_sentence ';' warns "ended with status 7" ';' in_table "SELECT count(*) FROM redrive.revision WHERE dlq_id = 998" 0

# --- one event
run correct "${db[@]}" 70 --set '$.seen=true'
ok "a correction that the check refuses is not saved" all exits 1 ';' one_sentence ';' warns "the check refuses it: n is round" ';' in_table "SELECT count(*) FROM redrive.revision WHERE dlq_id = 70" 0
run correct "${db[@]}" 70 --set '$.seen=true' --dry-run
ok "nor would it be" all exits 1 ';' warns "n is round"
run correct "${db[@]}" 70 --set '$.seen=true' --force
ok "force needs a reason" all exits 1 ';' warns "--reason" ';' in_table "SELECT count(*) FROM redrive.revision WHERE dlq_id = 70" 0
run correct "${db[@]}" 70 --set '$.seen=true' --force --reason "the check is wrong"
ok "and then saves it" all exits 0 ';' warns "the check refuses it: n is round" ';' in_table "SELECT reason FROM redrive.revision WHERE dlq_id = 70" "the check is wrong"
run correct "${db[@]}" 70 --set '$.n=71' --reason mended
ok "what the check takes is saved" all exits 0 ';' in_table "SELECT max(no) FROM redrive.revision WHERE dlq_id = 70" 2

# --- reprocess --check
run reprocess "${db[@]}" --filter id:100..129 --check --dry-run --json
ok "reprocess --check asks about untouched events" all exits 1 ';' json 'rows[0]["refused_by_check"] == 2 and rows[0]["total"] == 30 and rows[0]["forced"] == 0' ';' warns "left out 2 that the check refuses: n is round (event 100)"
run reprocess "${db[@]}" --id 100 --id 101 --check --dry-run --each --json
ok "--each tells of every event" json '[(r["id"], r["outcome"], r["reason"]) for r in rows[:-1]] == [(100, "refused_by_check", "n is round"), (101, "unchanged", None)]'
run reprocess "${db[@]}" --filter id:100..129 --check --detach --confirm 30
ok "--confirm counts what is left" all exits 4 ';' warns "28 events are chosen"
run reprocess "${db[@]}" --filter id:100..129 --check --detach --yes --rate 0 --json
left=$(operation_of)
ok "what is refused is left out" all exits 1 ';' json 'rows[0]["total"] == 28' ';' in_table "SELECT count(*) FROM redrive.item WHERE operation_no = $left AND dlq_id IN (100, 120)" 0
run reprocess "${db[@]}" --id 100 --check --detach --yes
ok "nothing is left" all exits 5 ';' warns "the check refuses every chosen event"
run reprocess "${db[@]}" --id 100 --check --force --detach --yes
ok "--force needs a reason here too" all exits 2 ';' one_sentence
run reprocess "${db[@]}" --id 100 --force --detach --yes --reason x
ok "and --check" all exits 2 ';' one_sentence
run reprocess "${db[@]}" --id 100 --check --force --detach --yes --rate 0 --reason "fixed there" --json
sent=$(operation_of)
ok "--force sends it" all exits 0 ';' json 'rows[0]["total"] == 1' ';' in_table "SELECT count(*) FROM redrive.audit WHERE operation_no = $sent AND action = 'reprocess' AND detail LIKE '%forced%'" 1
run operation "${db[@]}" "$left" cancel
run operation "${db[@]}" "$sent" cancel

# --- what fails is a count of its own
printf 'jq .n/0\n' >"$work/fails"
run correct "${db[@]}" --filter id:200..204 --recipe "$work/fails" --dry-run --json
ok "a program that fails is not an invalid payload" all exits 1 ';' json 'rows[0]["failed"] == 5 and rows[0]["invalid"] == 0 and rows[0]["refused"] == 5'
run correct "${db[@]}" --filter id:200..204 --recipe "$work/fails" --yes --json
ok "nor in the operation" all exits 1 ';' json 'rows[0]["failed"] == 5 and rows[0]["invalid"] == 0'

# --- applied twice
run correct "${db[@]}" --filter id:201..209 --recipe <(printf 'jq .n+=1\n') --dry-run --json
ok "a dry run tells what a second application would change" json 'rows[0]["changed_again"] == 9 or rows[0]["refused_by_check"] > 0 and rows[0]["changed_again"] >= 5'
run correct "${db[@]}" --filter id:201..209 --recipe <(printf 'jq .n+=1\n') --dry-run
ok "in words, with the line" warns "a second application would change"
run correct "${db[@]}" --filter id:201..209 --recipe "$work/text" --dry-run --json
ok "and where it would not" json 'rows[0]["changed_again"] == 0'

# --- one value for all
run correct "${db[@]}" --filter id:301..303 --recipe <(printf 'set $.n 7\n') --dry-run
ok "a dry run tells that different values become one" all exits 0 ';' warns "set gives 3 events one value where they have different ones"
run correct "${db[@]}" --id 301 --recipe <(printf 'set $.n 7\n') --dry-run
ok "which one event cannot" all exits 0 ';' not warns "set gives"

# --- the shape of the type
run correct "${db[@]}" --id 301 --id 304 --recipe "$work/text" --dry-run --json
ok "a result that departs from its type's shape is counted" all exits 0 ';' json 'rows[0]["departs"] == 2 and rows[0]["changed"] == 2'
run correct "${db[@]}" --id 301 --id 304 --recipe "$work/text" --dry-run --each --json
ok "--each says where" json 'all("amount" in r["departs"] for r in rows[:-1])'
run correct "${db[@]}" --filter id:301 --recipe "$work/text" --dry-run
ok "in words" all warns "would correct 1 event that matches id:301" ';' warns "1 would depart from the shape of its type"
run correct "${db[@]}" --id 301 --recipe <(printf 'set $.amount 4\n') --dry-run --json
ok "one that does not is none" json 'rows[0]["departs"] == 0 and rows[0]["changed"] == 1'

# --- in steps
run correct "${db[@]}" --filter id:401..409 --recipe "$work/add" --canary 2 --yes --json
steps=$(operation_of)
ok "--canary corrects the first and halts" all exits 1 ';' json 'rows[0]["state"] == "halted" and rows[0]["changed"] == 2' ';' warns "then resume" ';' in_table "SELECT string_agg(dlq_id::text, ',' ORDER BY dlq_id) FROM redrive.revision WHERE operation_no = $steps" 401,402
run work "${db[@]}" --once
ok "no worker goes on by itself" in_table "SELECT done FROM redrive.operation WHERE no = $steps" 2
run operation "${db[@]}" "$steps"
ok "operation N tells its steps" says "2, rest; step 1 of 2; each when somebody resumes it"
run operation "${db[@]}" "$steps" resume
run work "${db[@]}" --once
ok "resume corrects the rest" in_table "SELECT state || ' ' || done FROM redrive.operation WHERE no = $steps" "done 9"
run correct "${db[@]}" --filter id:411..419 --recipe "$work/add" --canary 2 --ramp 3 --yes --json
ramp=$(operation_of)
run operation "${db[@]}" "$ramp" resume
run work "${db[@]}" --once
ok "--ramp halts again" in_table "SELECT state || ' ' || done FROM redrive.operation WHERE no = $ramp" "halted 5"
run operation "${db[@]}" "$ramp" cancel
ok "what was corrected stays after a cancel" in_table "SELECT state || ' ' || done || ' ' || cancelled FROM redrive.operation WHERE no = $ramp" "cancelled 5 4"

# --- undo
sql "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_by = 'api' WHERE id = 403" >/dev/null
run correct "${db[@]}" 404 --set '$.n=1' --reason "by hand"
run correct "${db[@]}" --undo "$steps" --dry-run --json
ok "--undo counts what still holds" all exits 0 ';' json 'rows[0]["total"] == 7' ';' warns "would revert 7 events to what they were before operation $steps"
run correct "${db[@]}" --undo "$steps" --reason "wrong recipe"
ok "--undo asks for confirmation" all exits 4 ';' one_sentence
run correct "${db[@]}" --undo "$steps" --confirm 7 --reason "wrong recipe" --json
undo=$(operation_of)
ok "--undo is an operation" all exits 0 ';' json 'rows[0]["state"] == "done" and rows[0]["changed"] == 7'
run show "${db[@]}" 401 --as-sent
ok "the event is as before" [ "$out" = '{"n": 401, "amount": 601.5}' ]
run show "${db[@]}" 401 --revisions --json
ok "its history stays" all lines 2 ';' json "[r['operation'] for r in rows] == [$undo, $steps] and rows[0]['reason'] == 'wrong recipe'"
ok "what was corrected or closed since is not touched" in_table "SELECT string_agg(dlq_id || ':' || no, ',' ORDER BY dlq_id) FROM redrive.revision WHERE dlq_id IN (403, 404)" 403:1,404:1,404:2
run correct "${db[@]}" --undo "$steps" --yes
ok "undone twice changes nothing" all exits 5 ';' one_sentence ';' warns "nothing left to undo"
run operation "${db[@]}" "$steps"
ok "operation N tells that it is undone" says "by operation $undo"
run correct "${db[@]}" --undo "$undo" --yes
ok "an undo is not undone" all exits 2 ';' one_sentence
run correct "${db[@]}" --undo 9999 --yes
ok "there is no such operation" all exits 5 ';' one_sentence
run correct "${db[@]}" --undo "$steps" --id 5 --yes
ok "--undo chooses its events itself" all exits 2 ';' one_sentence
run correct "${db[@]}" --undo "$ramp" --yes --json
ok "one that was cancelled can be undone" all exits 0 ';' json 'rows[0]["changed"] == 5'

# --- and reprocess
run correct "${db[@]}" --filter id:501..504 --recipe "$work/add" --rate 5 --yes
ok "a rate is that of the sending" all exits 2 ';' one_sentence ';' warns "--reprocess"
run correct "${db[@]}" --filter id:501..504 --recipe "$work/add" --reprocess --canary 1 --rate 1200 --dry-run
ok "--dry-run says how it would be sent" all exits 0 ';' warns "then reprocess what changed, at most 1,200/s, in steps of 1, rest, halting above 5%"
run correct "${db[@]}" --filter id:501..504 --recipe "$work/add" --reprocess --canary 1 --rate 0 --yes --detach --reason INC-9 --json
before=$(operation_of)
run correct "${db[@]}" 504 --set '$.n=7'
ok "an event waits for its recipe" exits 1
sql "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_by = 'api' WHERE id = 503" >/dev/null
run work "${db[@]}" --once
run operations "${db[@]}" --json
ok "what was corrected is sent as an operation of its own" json "[(r['action'], r['state'], r['total'], r['reason']) for r in rows][:2] == [('reprocess', 'frozen', 3, 'INC-9'), ('correct', 'done', 4, 'INC-9')]"
ok "exactly that" in_table "SELECT string_agg(i.dlq_id::text, ',' ORDER BY i.dlq_id) FROM redrive.item i JOIN redrive.operation o ON o.followed_by = i.operation_no WHERE o.no = $before" 501,502,504
run operation "${db[@]}" "$before"
ok "operation N names what follows" says "operation $(sql "SELECT followed_by FROM redrive.operation WHERE no = $before"): reprocess what it corrected, paused at first, in steps of 1, rest, halting above 5%"
run work "${db[@]}" --once
ok "once" in_table "SELECT count(*) FROM redrive.operation WHERE scope = 'what operation $before corrected'" 1
ok "its rate, steps and halt are those of the sending" in_table "SELECT o.done || ' ' || f.rate || ' ' || f.steps::text || ' ' || f.halt_above FROM redrive.operation o JOIN redrive.operation f ON f.no = o.followed_by WHERE o.no = $before" "3 0 {1} 5"

# --- an interrupt while a check thinks
# run_interrupted ARGUMENT…: an interrupt as soon as the check thinks; $took: ms until the program ended.
run_interrupted()
{
    local pid began
    ran="interrupted: redrive $*"
    rm -f "$work/check.thinks"
    "$REDRIVE" "$@" >"$work/out" 2>"$work/err" &
    pid=$!
    until [ -e "$work/check.thinks" ] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    began=$(date +%s%N)
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    took=$((($(date +%s%N) - began) / 1000000))
    out=$(cat "$work/out")
    err=$(cat "$work/err")
}
sql "UPDATE public.dlq_events SET event_type = 'order.slow' WHERE id = 999" >/dev/null
run_interrupted correct "${db[@]}" --id 999 --recipe "$work/add" --dry-run
ok "C-c ends a dry run while a check thinks" all exits 130 ';' [ "$took" -lt 3000 ]
run_interrupted correct "${db[@]}" --id 999 --recipe "$work/add" --yes --json
slow=$(operation_of)
ok "and an operation, which says how it goes on" all exits 130 ';' [ "$took" -lt 3000 ] ';' warns "operation $slow waits for the next worker" ';' warns "redrive work" ';' in_table "SELECT queued || ' ' || refused FROM redrive.operation WHERE no = $slow" "1 0"
run operation "${db[@]}" "$slow" cancel
sql "INSERT INTO redrive.worker (name, publishes, seen_at) VALUES ('elsewhere/1/1', false, clock_timestamp() + interval '1 minute')" >/dev/null
run_interrupted correct "${db[@]}" --id 999 --recipe "$work/add" --yes --json
ok "which another worker does" all exits 130 ';' warns "operation $(operation_of) continues: another worker is running" ';' not warns "waits for"
run operation "${db[@]}" "$(operation_of)" cancel
sql "DELETE FROM redrive.worker" >/dev/null

# --- rows of checks that cannot work
run config --check
ok "config --check takes rows that can work" exits 0
run doctor "${db[@]}"
ok "doctor starts each check and asks it nothing" says "starts and ends as it should; nothing was asked"
printf '# two rows\nchecks = { "type order.* %s", "topic x /there/is/none --strict" }\n' "$work/check" >"$work/config/redrive/config"
run config --check
ok "a program that is not there" all exits 2 ';' one_sentence ';' warns "config:2: checks, row 2" ';' warns "no program /there/is/none"
run doctor "${db[@]}"
ok "doctor says so too" all exits 1 ';' says "row 2 (topic x /there/is/none --strict): there is no program"
printf 'checks = { "type order.* %s" }\n' "$work/add" >"$work/config/redrive/config"
run config --check
ok "a file that cannot be executed" all exits 2 ';' warns "cannot be executed"
printf 'checks = { "type Order* %s", "type order.* exec sh -c \\"echo lost >&2; exit 3\\"" }\n' "$work/check" >"$work/config/redrive/config"
run doctor "${db[@]}"
ok "a pattern that no type matches, a program that fails at once" all exits 1 ';' says "no type of the newest events matches Order*" ';' says "ended with status 3: lost"
printf 'checks = { "kind order.* x" }\n' >"$work/config/redrive/config"
run config --check
ok "a row that is none" all exits 2 ';' warns "the first word must be type or topic"

rm "$work/config/redrive/config"
PG=$whole
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS $recipes WITH (FORCE)" >/dev/null 2>&1
