# Changing: choosing, confirming, carrying out, skipped events.

db=(-d "$PG")
result=(operation action state total done refused skipped taken returned)
snapshot() { sql "SELECT md5(string_agg(e::text, '|' ORDER BY id)) FROM dlq_events e"; }

run discard "${db[@]}" --yes
ok "a change of nothing in particular is refused" all exits 2 ';' one_sentence ';' warns "--all"
run discard "${db[@]}" --all --yes --confirm 5
ok "two answers to one question" all exits 2 ';' one_sentence
before=$(snapshot)
run discard "${db[@]}" --group "$key" </dev/null
ok "a pipe is refused without a confirmation" all exits 4 ';' one_sentence ';' warns "--confirm 500"
run discard "${db[@]}" --group "$key" --confirm 499
ok "a confirmation that does not match" all exits 4 ';' one_sentence ';' warns "500"
run discard "${db[@]}" --group "$key" --confirm 501
ok "nor one of more than there are" all exits 4 ';' one_sentence ';' warns "500"
run discard "${db[@]}" --id 1 --confirm 2
ok "of one event, too" all exits 4 ';' one_sentence ';' warns "1 event is chosen; nothing"
run discard "${db[@]}" --id 1 </dev/null
ok "and of one that a pipe asks for" all exits 4 ';' one_sentence ';' warns "1 event is chosen, and"
run discard "${db[@]}" --group "$key" --dry-run --json
ok "--dry-run tells its total" all exits 0 ';' names "${result[@]}" ';' json 'rows[0]["total"] == 500 and rows[0]["done"] == 0'
ok "until here nothing was changed and nothing frozen" all eval '[ "$(snapshot)" = "$before" ]' ';' in_table "SELECT count(*) FROM redrive.operation" 0
run discard "${db[@]}" --read-only --group "$key" --yes
ok "a read-only session" all exits 4 ';' one_sentence
run discard "${db[@]}" --id 99999 --yes
ok "an unknown id" all exits 5 ';' one_sentence
run discard "${db[@]}" --id 1 --id 99999 --yes
ok "an unknown id among others: nothing is done" all exits 5 ';' in_table "SELECT status FROM dlq_events WHERE id = 1" PENDING
run discard "${db[@]}" --id 1004 --yes
ok "an event that is closed already: nothing is frozen" all exits 5 ';' one_sentence ';' warns "already closed" ';' in_table "SELECT count(*) FROM redrive.operation" 0
run discard "${db[@]}" --filter nothingatall --yes
ok "nothing to act on" all exits 5 ';' one_sentence
run discard "${db[@]}" --queue empty_dlq --yes
ok "an empty queue says so" all exits 5 ';' one_sentence ';' warns "in the queue empty_dlq"

run discard "${db[@]}" --group "$key" --confirm 500 --reason 'known, INC-1' --json
ok "discard: the line at the end" all exits 0 ';' names "${result[@]}" ';' json 'rows[0]["action"] == "discard" and rows[0]["state"] == "done" and rows[0]["done"] == 500 == rows[0]["total"]'
ok "discard: status, time and user are written" in_table "SELECT count(*) FROM dlq_events WHERE status = 'DISCARDED' AND resolved_at > now() - interval '1 hour' AND resolved_by = session_user" 500
run discard "${db[@]}" --group "$key" --yes
ok "discard again finds nothing" exits 5
run restore "${db[@]}" --group "$key" --yes --json
ok "restore chooses among the discarded" all exits 0 ';' json 'rows[0]["done"] == 500'
ok "restore sets time and user to null" in_table "SELECT count(*) FROM dlq_events WHERE status = 'PENDING' AND resolved_at IS NULL AND resolved_by IS NULL" 1003

run discard "${db[@]}" --filter 'id:1..1000' --yes --json --quiet
ok "1,000 events discarded" all exits 0 ';' silent ';' json 'rows[0]["done"] == 1000' ';' in_table "SELECT count(*) FROM dlq_events WHERE status = 'DISCARDED'" 1001
run restore "${db[@]}" --filter 'id:1..1000' --yes --json
ok "and brought back" all json 'rows[0]["done"] == 1000' ';' in_table "SELECT count(*) FROM dlq_events WHERE status = 'PENDING'" 1003
ok "the round trip left every event as it was" eval '[ "$(snapshot)" = "$before" ]'

run groups category "${db[@]}" "$key" permanent --reason 'no way back' --json
ok "a category given to a group" all exits 0 ';' names group category who at reason ';' json 'rows[0]["category"] == "permanent" and rows[0]["reason"] == "no way back"'
run groups "${db[@]}" --json
ok "groups: it goes before the rules" json '[(r["category"], r["category_by"] != None) for r in rows if r["group"] == "'"$key"'"] == [("permanent", True)]'
run events "${db[@]}" --filter "kind:permanent group:$key" --json
ok "filters and events follow it" json 'len(rows) == 500 and all(r["category"] == "permanent" for r in rows)'
run groups category "${db[@]}" "$key" rules --json
ok "and it is taken back" all exits 0 ';' lines 0
run groups "${db[@]}" --json
ok "then the rules decide again" json 'all(r["category_by"] == None and r["category"] != "permanent" for r in rows)'
ok "who gave it and who took it is in the audit" in_table "SELECT string_agg(coalesce(reason, '-') || ' ' || detail, '; ' ORDER BY no) FROM redrive.audit WHERE action = 'category'" "no way back group $key: permanent, before: by the rules; - group $key: by the rules, before: permanent"
run groups category "${db[@]}" "$key" awkward
ok "a category that is none" all exits 2 ';' one_sentence ';' warns permanent
run groups category "${db[@]}" "${key:0:6}" data
ok "a part of a key is not enough to decide by" all exits 2 ';' one_sentence
run groups category "${db[@]}" "$key" data --read-only
ok "a category in a read-only session" all exits 4 ';' one_sentence

run mark "${db[@]}" deploy 1.8
ok "a mark" all exits 0 ';' warns "deploy 1.8" ';' in_table "SELECT string_agg(text, ',') FROM redrive.mark" "deploy 1.8"
run stats "${db[@]}" --trend 15m
ok "the mark is in the backlog over time" all exits 0 ';' says "deploy 1.8"
total=$(sql "SELECT total FROM redrive.operation WHERE no = 1")
sql "UPDATE redrive.operation SET total = 12345 WHERE no = 1" >/dev/null
run stats "${db[@]}" --trend 24h
ok "with operations, whose events are grouped by thousands" says " 12,345"
sql "UPDATE redrive.operation SET total = $total WHERE no = 1" >/dev/null
run stats "${db[@]}" --trend 24h --json
ok "times at which nobody looked are null" all exits 0 ';' json 'len(rows[0]["points"]) == 96' ';' \
    json 'rows[0]["points"][0]["in"] is None and rows[0]["points"][0]["pending"] is None' ';' \
    json '[m["text"] for m in rows[0]["marks"] if m["operation"] is None] == ["deploy 1.8"]'
run stats "${db[@]}" --trend 2h
ok "a span that is not known" all exits 2 ';' one_sentence ';' warns "15m, 6h, 24h or 7d"
run mark "${db[@]}"
ok "a mark without a text" all exits 2 ';' one_sentence
run mark "${db[@]}" deploy --read-only
ok "a mark in a read-only session" all exits 4 ';' one_sentence

run resolve "${db[@]}" --filter 'type:payment' --limit 2 --yes --json
ok "--limit takes the oldest" all exits 0 ';' json 'rows[0]["done"] == 2' ';' in_table "SELECT string_agg(id::text, ',' ORDER BY id) FROM dlq_events WHERE status = 'RESOLVED' AND id <= 1000" 995,998
run resolve "${db[@]}" --id - --yes --json <<<$'1\n1\n2'
ok "ids from standard input, doubles once" json 'rows[0]["total"] == 2'

# At a terminal.
at_terminal $'y\n' discard "${db[@]}" --id 3
ok "a terminal is asked: yes" all exits 0 ';' says "discard 1 event" ';' in_table "SELECT status FROM dlq_events WHERE id = 3" DISCARDED
at_terminal $'\n' discard "${db[@]}" --id 4
ok "a terminal is asked: Enter is no" all exits 4 ';' in_table "SELECT status FROM dlq_events WHERE id = 4" PENDING
at_prompt 'Go on' $'\003' discard "${db[@]}" --id 4
ok "a terminal is asked: an interrupt is no" all exits 130 ';' in_table "SELECT status FROM dlq_events WHERE id = 4" PENDING
at_terminal $'y\n' discard "${db[@]}" --filter 'type:order.updated'
ok "much at stake: y is not enough" all exits 4 ';' says "to confirm" ';' in_table "SELECT count(*) FROM dlq_events WHERE status = 'DISCARDED' AND event_type = 'order.updated'" 0
at_terminal $'12\n' discard "${db[@]}" --filter 'id:5..16'
ok "few at stake: the number is not asked" all exits 4 ';' not says "to confirm"
REDRIVE_CONFIRM_ABOVE=5 at_terminal $'12\n' discard "${db[@]}" --filter 'id:5..16'
ok "the count typed confirms" all exits 0 ';' in_table "SELECT count(*) FROM dlq_events WHERE status = 'DISCARDED' AND id BETWEEN 5 AND 16" 12
REDRIVE_PROTECT=count run discard "${db[@]}" --id 20 --yes
ok "a protected profile wants the count, not --yes" all exits 4 ';' one_sentence
REDRIVE_PROTECT=count run discard "${db[@]}" --id 20 --confirm 1
ok "a protected profile takes the count" exits 0
REDRIVE_REASON_REQUIRED=on run discard "${db[@]}" --id 21 --yes
ok "a reason is required" all exits 2 ';' one_sentence ';' warns "--reason"
REDRIVE_REASON_REQUIRED=on run discard "${db[@]}" --id 21 --yes --reason because
ok "a reason is given" exits 0

# Detached, skipped events, steering.
run resolve "${db[@]}" --filter 'id:100..102' --detach --yes --json
ok "--detach freezes and ends" all exits 0 ';' json 'rows[0]["state"] == "frozen" and rows[0]["total"] == 3 and rows[0]["done"] == 0'
waiting=$(operation_of)
run discard "${db[@]}" --filter 'id:100..104' --yes --json
ok "what another operation holds is skipped, and named" all exits 1 ';' json 'rows[0]["total"] == 5 and rows[0]["skipped"] == 3 and rows[0]["done"] == 2' ';' warns "operation $waiting"
ok "done + refused + skipped = total" json 'rows[0]["done"] + rows[0]["refused"] + rows[0]["skipped"] == rows[0]["total"]'
run resolve "${db[@]}" --filter 'id:110..112' --detach --yes --json
held=$(operation_of)
run operation "${db[@]}" "$held" pause
ok "an operation is paused" all exits 0 ';' says paused
run discard "${db[@]}" --filter 'id:110..112' --yes --json
ok "nothing but skipped events" all exits 5 ';' json 'rows[0]["skipped"] == 3' ';' warns "operation $held"
ok "a paused operation is left alone" in_table "SELECT count(*) FROM dlq_events WHERE id BETWEEN 110 AND 112 AND status = 'PENDING'" 3
run operation "${db[@]}" "$held" --json
ok "operation: names" names operation action state requested_by reason note outcome total done refused skipped taken returned rate created_at begins_at finished_at timeline
run operation "${db[@]}" "$held" resume
ok "an operation is resumed" exits 0
run work "${db[@]}" --once --quiet
ok "work --once carries out what is there" all exits 0 ';' in_table "SELECT count(*) FROM dlq_events WHERE id BETWEEN 110 AND 112 AND status = 'RESOLVED'" 3
run operation "${db[@]}" "$held" wait --json
ok "operation N wait tells how it ended" all exits 0 ';' names "${result[@]}" ';' json 'rows[0]["state"] == "done"'
run operation "${db[@]}" "$held"
ok "operation N says how it ended" all exits 0 ';' says "resolve done, 3 resolved"
run events "${db[@]}" --filter "operation:$held outcome:sent" --status all --json
ok "a filter names the events of an operation" json 'sorted(r["id"] for r in rows) == [110, 111, 112]'
run restore "${db[@]}" --filter 'id:110..112' --yes
ok "restore leaves resolved events alone, unless it is told" exits 5
sql "UPDATE redrive.operation SET action = 'reprocess' WHERE no = $held" >/dev/null
run restore "${db[@]}" --filter 'id:110..112' --status resolved --yes --json
ok "an event that was sent is not restored" all exits 5 ';' json 'rows[0]["skipped"] == 3' ';' warns "its consumer may have it"
sql "UPDATE redrive.operation SET action = 'resolve' WHERE no = $held" >/dev/null
run restore "${db[@]}" --operation "$held" --id 110 --yes
ok "--operation chooses by itself" all exits 2 ';' one_sentence
run restore "${db[@]}" --operation "$held" --yes --json
ok "a resolve is undone" all exits 0 ';' json 'rows[0]["done"] == 3' ';' \
    in_table "SELECT count(*) FROM dlq_events WHERE id BETWEEN 110 AND 112 AND status = 'PENDING' AND resolved_at IS NULL AND resolved_by IS NULL" 3
run restore "${db[@]}" --operation "$held" --yes --json
ok "once" all exits 5 ';' json 'rows[0]["skipped"] == 3'
run resolve "${db[@]}" --filter 'id:110..112' --yes --json
ok "and done again" exits 0
run operation "${db[@]}" "$held" cancel
ok "what is done cannot be cancelled" all exits 1 ';' one_sentence
run resolve "${db[@]}" --id 120 --detach --yes --json
gone=$(operation_of)
run operation "${db[@]}" "$gone" cancel
ok "an operation is cancelled" all exits 0 ';' says CANCELLED
run operation "${db[@]}" "$gone" wait
ok "waiting for a cancelled one" exits 1
run operation "${db[@]}" 99999
ok "an unknown operation" all exits 5 ';' one_sentence ';' warns "there is no operation 99999; redrive operations lists them"
run operation "${db[@]}" 99999 cancel
ok "to be steered as well" all exits 5 ';' one_sentence ';' warns "there is no operation 99999; redrive operations lists them"
run operation "${db[@]}" 1 paus
ok "an unknown word to an operation" all exits 2 ';' one_sentence ';' warns "pause"
run operation "${db[@]}" 1 rate
ok "a rate without its number" all exits 2 ';' one_sentence

run reprocess "${db[@]}" --id 200 --yes
ok "reprocess without brokers is refused before anything is frozen" all exits 2 ';' one_sentence ';' warns "brokers"
run reprocess "${db[@]}" --filter id:200..204 --yes --detach --rate 0 --json
ok "reprocess --detach is left to a worker" all exits 0 ';' json 'rows[0]["state"] == "frozen" and rows[0]["total"] == 5'
later=$(operation_of)
run operation "${db[@]}" "$later" rate 7 --json
ok "its rate can be changed" json 'rows[0]["rate"] == 7'
run work "${db[@]}" --once --quiet
ok "a worker without brokers leaves it" in_table "SELECT queued FROM redrive.operation WHERE no = $later" 5
run operation "${db[@]}" "$later" cancel
ok "and it can be cancelled" in_table "SELECT count(*) FROM redrive.item WHERE operation_no = $later AND state = 'cancelled'" 5

started=$SECONDS
run reprocess "${db[@]}" -b 127.0.0.1:9 --id 210 --yes --json
ok "Kafka that cannot be reached: 3, in time, and the operation stays" all exits 3 ';' eval '[ $((SECONDS - started)) -le 25 ]' ';' json 'rows[0]["total"] == 1 and rows[0]["done"] == 0'
run operation "${db[@]}" "$(sql 'SELECT max(no) FROM redrive.operation')" cancel
ok "and can be cancelled" exits 0

# Nobody is there who could carry it out.
sql "DELETE FROM redrive.worker" >/dev/null
run resolve "${db[@]}" --id 221 --detach --yes
ok "--detach without a worker says how to start one" all exits 0 ';' warns "no worker is running" ';' warns "redrive work"
alone=$(sql 'SELECT max(no) FROM redrive.operation')
run operation "${db[@]}" "$alone"
ok "operation N says that nobody works" all exits 0 ';' says "resolve frozen" ';' warns "no worker is running"
# wait_and_say ID WORDS: waits for an operation until it has said WORDS, or for five seconds.
wait_and_say()
{
    ran="redrive operation $1 wait, until it says $2"
    : >"$work/err" # of the command before, which may have said it too
    "$REDRIVE" operation "${db[@]}" "$1" wait >"$work/out" 2>"$work/err" &
    local waiter=$!
    for _ in {1..50}; do
        ! grep -q "$2" "$work/err" || break
        sleep 0.1
    done
    kill -INT $waiter
    status=0
    wait $waiter || status=$?
    out=$(<"$work/out") err=$(<"$work/err")
    grep -q "$2" "$work/err"
}
ok "operation N wait says so within five seconds" wait_and_say "$alone" "no worker is running"
sql "SELECT redrive.worker_beat('gone/1/1', false, 'idle', 0); UPDATE redrive.worker SET seen_at = clock_timestamp() - interval '6 s'" >/dev/null
ok "and that its worker gives no sign" wait_and_say "$alone" "no sign of the worker for [6-9]s"
run reprocess "${db[@]}" --id 222 --yes --detach
ok "a worker without brokers does not send" warns "no running worker has Kafka brokers"
sql "DELETE FROM redrive.worker" >/dev/null
run operation "${db[@]}" "$alone" pause
ok "and that it is paused" wait_and_say "$alone" "resume"
run operation "${db[@]}" "$alone" cancel
run operation "${db[@]}" "$(sql 'SELECT max(no) FROM redrive.operation')" cancel

# Interrupted while a worker elsewhere would carry it out.
run resolve "${db[@]}" --id 220 --detach --yes --json
waited=$(operation_of)
run operation "${db[@]}" "$waited" pause
ran="redrive operation $waited wait, interrupted"
"$REDRIVE" operation "${db[@]}" "$waited" wait >"$work/out" 2>"$work/err" &
waiter=$!
until [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'redrive/operation/%'")" != 0 ] || ! kill -0 $waiter 2>/dev/null; do sleep 0.05; done
sleep 0.3
kill -INT $waiter
status=0
wait $waiter || status=$?
out=$(<"$work/out") err=$(<"$work/err")
ok "an interrupt ends the waiting, not the operation" all exits 130 ';' in_table "SELECT state FROM redrive.operation WHERE no = $waited" paused
run operation "${db[@]}" "$waited" cancel

run operations "${db[@]}" --json
ok "operations: names, newest first" all names operation action state requested_by reason note outcome total done refused skipped taken returned rate created_at begins_at finished_at ';' \
    json 'rows == sorted(rows, key=lambda r: -r["operation"])' ';' json 'any(r["reason"] == "known, INC-1" for r in rows)'
run operations "${db[@]}" --limit 2
ok "operations --limit" lines 2
run audit "${db[@]}" --json
ok "audit: who did what" all json 'all(set(r) >= {"at", "who", "host", "action", "operation", "events", "reason"} for r in rows)' ';' \
    json 'any(r["action"] == "discard" and r["events"] == 500 and r["reason"] == "known, INC-1" for r in rows)' ';' json 'any(r["action"] == "migrate" for r in rows)'
run show "${db[@]}" 1 --json
ok "show: the decisions about an event" json 'rows[0]["decisions"][0]["action"] == "resolve" and rows[0]["decisions"][0]["operation"] > 0 and rows[0]["status"] == "RESOLVED"'

# What people write is told like everything else: harmlessly, wherever it stands.
run discard "${db[@]}" --id 230 --yes --reason $'\033]0;owned\007 \033[2J because'
spoken=$(sql 'SELECT max(no) FROM redrive.operation')
run groups category "${db[@]}" "$key" data --reason $'\033]0;owned\007 also'
for words in "operation $spoken" operations audit "show 230" "show 1002" groups "groups --by type" events stats; do
    # shellcheck disable=SC2086
    at_terminal '' $words "${db[@]}" --no-color
    ok "at a terminal, $words lets nothing through" all exits 0 ';' not says $'\033]' ';' not says $'\007' ';' not says $'\033[2J' ';' not says $'\033[31m' ';' not says $'\u202e'
done
at_terminal '' operation "$spoken" "${db[@]}"
ok "and the reason can be read" says '\e]0;owned\x07'
run fingerprint --explain <<<$'IllegalState: \033]0;owned\007 \033[2J'
ok "fingerprint --explain lets nothing through" all exits 0 ';' not says $'\033' ';' not says $'\007' ';' says '\e]0;owned\x07'
run groups category "${db[@]}" "$key" rules

# Rights.
sql "CREATE ROLE redrive_poor_$$ LOGIN" >/dev/null
poor=(-d "$PG user=redrive_poor_$$")
run groups "${poor[@]}"
ok "a missing right is told with its GRANT" all exits 4 ';' one_sentence ';' warns "GRANT "
sql "SELECT redrive.grants('redrive_poor_$$', 'viewer')" | psql -XAtq "$PG" >/dev/null
run groups "${poor[@]}" --json
ok "with a viewer's rights reading works" all exits 0 ';' json 'len(rows) > 0'
run discard "${poor[@]}" --id 300 --yes
ok "deciding needs more, and says what" all exits 4 ';' one_sentence ';' warns "GRANT"
run doctor "${poor[@]}"
ok "doctor says what a viewer may not, and what would let them" all says "looks only: asks for no operations" ';' says "GRANT redrive_operator TO redrive_poor_$$"
run operation "${poor[@]}" 1 decide 0 again
ok "a decision about what is in doubt needs its reason" all exits 2 ';' one_sentence ';' warns "--reason"
run operation "${poor[@]}" 1 decide 0 again --reason "seen by nobody"
ok "and an admin's right" all exits 4 ';' one_sentence ';' warns "GRANT"
sql "CREATE ROLE redrive_ana_$$ LOGIN" >/dev/null
sql "SELECT redrive.grants('redrive_ana_$$')" | psql -XAtq "$PG" >/dev/null
run discard -d "$PG user=redrive_ana_$$" --id 300 --yes
ok "redrive.grants is all that an operator needs" all exits 0 ';' in_table "SELECT resolved_by FROM dlq_events WHERE id = 300" "redrive_ana_$$"
run operation "${db[@]}" 1 decide 0 again --reason "seen by nobody"
ok "where nothing is in doubt there is nothing to decide" all exits 5 ';' one_sentence ';' warns "0 chunks in doubt"
sql "REVOKE EXECUTE ON FUNCTION redrive.operation_steer FROM redrive_ana_$$" >/dev/null
run doctor -d "$PG user=redrive_ana_$$"
ok "doctor says what a migration forgot to grant" all exits 4 ';' says "redrive.operation_steer"
run migrate "${db[@]}" --print --roles
ok "migrate prints the roles as well" all exits 0 ';' says "redrive._roles_make()"
sql "DROP OWNED BY redrive_poor_$$, redrive_ana_$$" >/dev/null
