# Operations that begin later: frozen now, called back until then, begun by any worker that lives.

db=(-d "$PG")
for wrong in "--at 25:00" "--at 2am" "--at 0200" "--at 02:60" "--at 30m" "--at 02:00x" "--at 2026-11-20T02:00" "--at 2026-11-20" "--at 2026-13-40T02:00" \
    "--after 02:00" "--after soon" "--after -5m" "--after 900d"; do
    # shellcheck disable=SC2086
    run discard "${db[@]}" --id 401 --yes $wrong
    ok "$wrong is refused" all exits 2 ';' one_sentence
done
run discard "${db[@]}" --id 401 --yes --at 02:61
ok "a mistake has its column" warns '--at: column 4: minutes are 00 to 59'
run discard "${db[@]}" --id 401 --yes --at 2:30pm
ok "and what was meant" warns "did you mean 14:30?"
run discard "${db[@]}" --id 401 --yes --at 30m
ok "also where it is of the other option" warns "did you mean --after 30m?"
run discard "${db[@]}" --id 401 --yes --after 02:00
ok "or the other way round" warns "did you mean --at 02:00?"
run discard "${db[@]}" --id 401 --yes --at 02:00 --after 30m
ok "both are one too many" all exits 2 ';' warns "not both"
run correct "${db[@]}" 401 --set '$.later=1' --at 02:00
ok "one event is corrected at once" all exits 2 ';' warns "at once"
ok "nothing of all this was frozen" in_table "SELECT count(*) FROM dlq_events WHERE id = 401 AND status = 'PENDING'" 1

REDRIVE_NOW=2026-11-23T22:10:00Z run discard "${db[@]}" --id 401 --dry-run --at 02:00
ok "a time of day is the next such time, with its date and zone" all exits 0 ';' warns "begins at 02:00 on Tue 2026-11-24 UTC"
TZ=Europe/Berlin REDRIVE_NOW=2026-11-23T22:10:00Z run discard "${db[@]}" --id 401 --dry-run --at 23:30
ok "in the operator's zone, today where it is not past" all exits 0 ';' warns "begins at 23:30 on Mon 2026-11-23 CET"
TZ=Europe/Berlin REDRIVE_NOW=2027-03-27T22:00:00Z run discard "${db[@]}" --id 401 --dry-run --at 2027-03-28T02:30
ok "a time that the clocks skip is told" all exits 2 ';' warns "does not exist"
TZ=Europe/Berlin REDRIVE_NOW=2027-03-27T22:00:00Z run discard "${db[@]}" --id 401 --dry-run --at 02:30
ok "of a time of day it is the next day" all exits 0 ';' warns "begins at 02:30 on Mon 2027-03-29 CEST"

run discard "${db[@]}" --filter id:401..405 --yes --after 30m --reason "after the backup" --json
ok "an operation begins later" all exits 0 ';' json 'rows[0]["state"] == "frozen" and rows[0]["total"] == 5'
later=$(operation_of)
ok "the sentence has the time, and how to call it back" all warns "operation $later: begins at " ';' warns "UTC; redrive operation $later cancel calls it back"
ok "and says that nobody is there to begin it" warns "no worker is running"
run operation "${db[@]}" "$later"
ok "its page says so" all exits 0 ';' says "discard frozen, begins at " ';' warns "no worker is running"
run operation "${db[@]}" "$later" --json
ok "in JSON as a time" json 'rows[0]["begins_at"] > rows[0]["created_at"]'
run operations "${db[@]}" --limit 1
ok "and so does the list" says "begins at "
ok "the audit has it" in_table "SELECT count(*) FROM redrive.audit WHERE operation_no = $later AND detail LIKE '%; begins 2%UTC'" 1
began=$SECONDS
run work "${db[@]}" --once --quiet
ok "a worker does not begin it before, nor waits for it" all exits 0 ';' [ $((SECONDS - began)) -lt 30 ]
ok "its events stay as they are" in_table "SELECT count(*) FROM dlq_events WHERE id BETWEEN 401 AND 405 AND status = 'PENDING'" 5
run resolve "${db[@]}" --id 403 --yes
ok "and belong to it" all exits 5 ';' warns "operation $later"
run operation "${db[@]}" "$later" pause
run operation "${db[@]}" "$later" resume
ok "a pause does not begin it" all exits 0 ';' says "begins at "
run operation "${db[@]}" "$later" cancel
ok "until then it is called back" all exits 0 ';' says "cancelled"
ok "with nothing done" in_table "SELECT done || ' ' || cancelled FROM redrive.operation WHERE no = $later" "0 5"

"$REDRIVE" work "${db[@]}" --quiet >/dev/null 2>&1 &
worker=$!
until [ "$(sql "SELECT count(*) FROM redrive.worker")" = 1 ] || ! kill -0 "$worker" 2>/dev/null; do sleep 0.1; done
run discard "${db[@]}" --filter id:401..405 --yes --after 3s --json
later=$(operation_of)
ok "while a worker lives nothing is missing" not warns "no worker"
run operation "${db[@]}" "$later" wait --json
ok "it begins by itself" all exits 0 ';' json 'rows[0]["state"] == "done" and rows[0]["done"] == 5'
ok "not before its time, by PostgreSQL's clock" in_table "SELECT started_at >= begins_at FROM redrive.operation WHERE no = $later" t
kill "$worker"
wait "$worker"

# Its time comes, and nobody is there.
run discard "${db[@]}" --id 406 --yes --after 1s --json
later=$(operation_of)
sleep 1.5
run operation "${db[@]}" "$later"
ok "after its time the missing worker is told" all says "discard frozen, 0%" ';' warns "no worker is running"
run work "${db[@]}" --once --quiet
ok "the next one begins it" in_table "SELECT state FROM redrive.operation WHERE no = $later" "done"

# A second person approves after its time: it begins then.
sql "CREATE ROLE redrive_eve_$$ LOGIN" >/dev/null
sql "SELECT redrive.grants('redrive_eve_$$')" | psql -XAtq "$PG" >/dev/null
REDRIVE_APPROVE_ABOVE=2 run discard "${db[@]}" --filter id:407..410 --yes --after 1s --json
later=$(operation_of)
ok "a large one awaits approval as ever" all exits 4 ';' json 'rows[0]["state"] == "awaiting approval"'
sleep 1.5
run work "${db[@]}" --once --quiet
ok "its time alone does not begin it" in_table "SELECT done FROM redrive.operation WHERE no = $later" 0
run operation -d "$PG user=redrive_eve_$$" "$later" approve
run work "${db[@]}" --once --quiet
ok "approved after its time, it begins" in_table "SELECT done FROM redrive.operation WHERE no = $later" 4
REDRIVE_APPROVE_ABOVE=2 run discard "${db[@]}" --filter id:411..414 --yes --after 1h --json
later=$(operation_of)
run operation -d "$PG user=redrive_eve_$$" "$later" approve
run work "${db[@]}" --once --quiet
ok "approved before its time, it waits for that" in_table "SELECT state || ' ' || done FROM redrive.operation WHERE no = $later" "frozen 0"
run operation "${db[@]}" "$later" cancel
sql "DROP OWNED BY redrive_eve_$$" >/dev/null
sql "DROP ROLE redrive_eve_$$" >/dev/null
