# Correcting one event, and many by a recipe: the commands correct, recipe and show, with one_event.c, recipe_use.c, revision_diff.c and
# whole_file.c behind them. A database of its own: what is written here, no other part expects.

corrected=redrive_correct_$$
psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE $corrected ENCODING 'UTF8' TEMPLATE template0"
whole=$PG
PG="$server dbname=$corrected"
psql -Xq "$PG" -f "$here/table.sql"
db=(-d "$PG")
run migrate "${db[@]}"
sql "INSERT INTO redrive.record (dlq_id, topic, partition, \"offset\", key, value, header_names, header_values)
     VALUES (1, 'orders', 1, 1, 'k1', '{ \"n\" : 1,\"amount\": 1.50e0 ,\"t\":\"caf\\\\u00e9\" }', '{trace}', '{abc}')" >/dev/null

# --- one event
run correct "${db[@]}" 1 --set '$.amount=17.90' --reason INC-1 --json
ok "--set changes one value" all exits 0 ';' names id revision bytes changed ';' json 'rows[0]["revision"] == 1 and rows[0]["changed"] == ["$.amount"]'
run show "${db[@]}" 1 --as-sent
ok "and no other byte" all exits 0 ';' [ "$out" = '{ "n" : 1,"amount": 17.90 ,"t":"caf\u00e9" }' ]
run correct "${db[@]}" 1 --set '$.amount=17.90'
ok "the same again changes nothing" all exits 5 ';' one_sentence
run correct "${db[@]}" 1 --set '$.more.x=1'
ok "a path that does not exist" all exits 5 ';' one_sentence ';' warns '$.more'
run correct "${db[@]}" 1 --set '$.amount=abc'
ok "a value that is not JSON" all exits 2 ';' one_sentence ';' warns 'text needs quotes'
run correct "${db[@]}" 1 --set '$.amount'
ok "a path without a value" all exits 2 ';' one_sentence
run correct "${db[@]}" 1 --set '$.a[=1'
ok "a path that is none" all exits 2 ';' one_sentence
run correct "${db[@]}" 1 --set 'amount=1'
ok "one without $ says what a path is" all exits 2 ';' one_sentence ';' warns '--set amount: expected a path such as $.a.b[2]'
run correct "${db[@]}" 1 --unset 'amount'
ok "to be removed as well" all exits 2 ';' one_sentence ';' warns '--unset amount: expected a path such as $.a.b[2]'
run correct "${db[@]}" 1 --set '$["a=b"]="x=y"' --unset '$.n' --dry-run --json
ok "--dry-run writes nothing" all exits 0 ';' json 'rows[0]["revision"] is None and sorted(rows[0]["changed"]) == ["$.n", "$[\"a=b\"]"] or rows[0]["changed"]' ';' in_table "SELECT count(*) FROM redrive.revision" 1
run correct "${db[@]}" 1 --set 'key="k2"' --set 'header:trace={"base64": "AP8="}' --set 'header:new="x"' --set 'topic="orders.fixed"' --set partition=2 --json
ok "key, headers, topic and partition" all exits 0 ';' json 'sorted(rows[0]["changed"]) == ["header:new", "header:trace", "key", "partition", "topic"]'
run show "${db[@]}" 1 --json
ok "are what would be sent" json 'rows[0]["would_send"]["key"] == "k2" and rows[0]["would_send"]["topic"] == "orders.fixed" and rows[0]["would_send"]["partition"] == 2 and rows[0]["would_send"]["headers"][0]["value_base64"] == "AP8="'
run show "${db[@]}" 1 --revisions --json
ok "--revisions lists them" all exits 0 ';' lines 2 ';' json '[r["revision"] for r in rows] == [2, 1] and rows[1]["reason"] == "INC-1" and rows[0]["parent"] == 1'
run show "${db[@]}" 1 --revisions
ok "for people too" all exits 0 ';' says "INC-1"
run show "${db[@]}" 1 --revision 0 --raw
ok "revision 0 is the original" all exits 0 ';' says '"amount": 1.50e0 ,'
run show "${db[@]}" 1 --revision 9
ok "a revision that is not there" all exits 5 ';' one_sentence ';' warns "its newest is 2"
printf '{"whole": [1, 2.0]\n}' >"$work/payload"
run correct "${db[@]}" 1 --file "$work/payload" --json
ok "--file takes the whole payload" all exits 0 ';' json 'rows[0]["bytes"] == 20'
run show "${db[@]}" 1 --as-sent
ok "byte for byte" cmp -s "$work/payload" "$work/out"
printf '{"whole": [1,' >"$work/payload"
run correct "${db[@]}" 1 --file "$work/payload"
ok "--file that is not JSON" all exits 2 ';' one_sentence ';' warns "line 1, column 14"
run correct "${db[@]}" 1 --file "$work/payload" --force
ok "--force saves it" exits 0
run correct "${db[@]}" 1 --file "$work/nothing"
ok "--file that is not there" all exits 2 ';' one_sentence
run correct "${db[@]}" 1 --revert 1 --json
ok "--revert makes a new revision" all exits 0 ';' json 'rows[0]["revision"] == 5'
run show "${db[@]}" 1 --as-sent
ok "equal to that one" says '"amount": 17.90 ,'
run correct "${db[@]}" 1 --revert 0
run show "${db[@]}" 1 --as-sent
ok "--revert 0 is the original" says '"amount": 1.50e0 ,'
run show "${db[@]}" 1 4..2 --diff --json
ok "any two are compared, in either direction" all exits 0 ';' json 'rows[0]["from"] == 4 and rows[0]["to"] == 2 and len(rows[0]["changed"]) > 0'
run show "${db[@]}" 1 0..6 --diff --json
ok "what was reverted to the original is equal to it" all exits 0 ';' json 'rows[0]["changed"] == [] and rows[0]["diff"] == ""'
run correct "${db[@]}" 1 --revert 77
ok "--revert to none" all exits 5 ';' one_sentence
run correct "${db[@]}" 999999 --set '$.a=1'
ok "an unknown id" all exits 5 ';' one_sentence
sql "UPDATE public.dlq_events SET status = 'RESOLVED', resolved_by = 'api' WHERE id = 2" >/dev/null
run correct "${db[@]}" 2 --set '$.amount=1'
ok "a closed event" all exits 1 ';' one_sentence ';' warns "resolved by api"
run correct "${db[@]}" --read-only 3 --set '$.amount=1'
ok "--read-only" all exits 4 ';' one_sentence
run correct "${db[@]}" 3
ok "nothing to do" all exits 2 ';' one_sentence
run correct "${db[@]}" 3 --set '$.a=1' --file "$work/payload"
ok "two ways at once" all exits 2 ';' one_sentence
run correct "${db[@]}" --id 3 --set '$.a=1'
ok "a choice with --set" all exits 2 ';' one_sentence

# --- a recipe
printf '# amounts as text\nto-text $.amount\nexpect $.n number\n' >"$work/recipe"
run correct "${db[@]}" --filter id:3..12 --recipe "$work/recipe" --dry-run --json
ok "a dry run counts" all exits 0 ';' json 'rows[0]["state"] == "dry run" and rows[0]["total"] == 10 and rows[0]["changed"] == 10' ';' in_table "SELECT count(*) FROM redrive.operation" 0
run correct "${db[@]}" --id 11 --id 1001 --id 1003 --recipe "$work/recipe" --dry-run --each --json
ok "--each tells of every event" all exits 0 ';' json '[(r["id"], r["outcome"], r["line"]) for r in rows[:-1]] == [(11, "changed", None), (1001, "not_applicable", 2), (1003, "not_applicable", 2)]'
run correct "${db[@]}" --filter id:3..12 --recipe "$work/recipe"
ok "a recipe asks for confirmation" all exits 4 ';' one_sentence
run correct "${db[@]}" --filter id:3..12 --recipe "$work/recipe" --confirm 9
ok "and for the right number" all exits 4 ';' one_sentence ';' in_table "SELECT count(*) FROM redrive.revision WHERE dlq_id <> 1" 0
run correct "${db[@]}" --filter id:3..12 --recipe "$work/recipe" --confirm 10 --reason INC-2 --json
ok "a recipe is an operation" all exits 0 ';' json 'rows[0]["action"] == "correct" and rows[0]["state"] == "done" and rows[0]["done"] == 10 and rows[0]["changed"] == 10'
recipe=$(operation_of)
run show "${db[@]}" 7 --as-sent
ok "each event is corrected" [ "$out" = '{"n": 7, "amount": "10.5"}' ]
run show "${db[@]}" 7 --revisions --json
ok "by this operation, with its reason" json "rows[0][\"operation\"] == $recipe and rows[0][\"reason\"] == \"INC-2\""
run correct "${db[@]}" --filter id:3..12 --recipe "$work/recipe" --yes --json
ok "twice applied it changes nothing" all exits 0 ';' json 'rows[0]["changed"] == 0 and rows[0]["unchanged"] == 10' ';' in_table "SELECT count(*) FROM redrive.revision WHERE dlq_id = 7" 1
run operation "${db[@]}" "$recipe"
ok "operation N tells what became of it" all exits 0 ';' says "changed 10, unchanged 0, not applicable 0"
ok "the audit has it" in_table "SELECT count(*) FROM redrive.audit WHERE operation_no = $recipe AND action = 'correct' AND reason = 'INC-2'" 1
run correct "${db[@]}" --all --recipe "$work/recipe" --yes --json
ok "events without the path are left alone" all exits 0 ';' json 'rows[0]["not_applicable"] == 3 and rows[0]["unchanged"] == 10 and rows[0]["total"] == rows[0]["done"]' ';' in_table "SELECT count(*) FROM redrive.revision WHERE dlq_id > 1000" 0
printf 'set $.a 1\nfrobnicate $.b\n' >"$work/recipe"
run correct "${db[@]}" --all --recipe "$work/recipe" --yes
ok "a recipe with a mistake" all exits 2 ';' one_sentence ';' warns "$work/recipe:2:1:"
run correct "${db[@]}" 5 --recipe "$work/recipe"
ok "a recipe and an id" all exits 2 ';' one_sentence
run correct "${db[@]}" --recipe "$work/recipe" --yes
ok "a recipe without a choice" all exits 2 ';' one_sentence
printf 'replace $.t /caf/CAF/\n' >"$work/recipe"
run correct "${db[@]}" --id 1 --recipe "$work/recipe" --yes
run show "${db[@]}" 1 --as-sent
ok "no byte outside the match changes" [ "$out" = '{ "n" : 1,"amount": "1.50e0" ,"t":"CAF\u00e9" }' ]

# --- what changed, and the edit as a recipe
run correct "${db[@]}" 20 --set '$.amount="31,50"' --set '$.note="x"' --json
run show "${db[@]}" 20 --diff
ok "--diff shows what changed" all exits 0 ';' says '+  "amount": "31,50"' ';' says '-  "amount": 30.0' ';' warns "1 value changed, 1 key added"
run show "${db[@]}" 20 1..2 --diff --json
ok "--diff as JSON" all exits 0 ';' names id from to changed diff ';' json 'rows[0]["from"] == 1 and rows[0]["to"] == 2 and sorted(rows[0]["changed"]) == ["$.amount", "$.note"]'
run show "${db[@]}" 20 --diff 7..
ok "--diff of a revision that is not there" all exits 5 ';' one_sentence
run show "${db[@]}" 20 --diff newest
ok "--diff of no range" all exits 2 ';' one_sentence
run recipe "${db[@]}" from 20
ok "recipe from: the edit as a recipe" all exits 0 ';' says 'set $.amount "31,50"'
"$REDRIVE" recipe "${db[@]}" from 20 >"$work/recipe" 2>/dev/null
run recipe check "$work/recipe" --json
ok "recipe check: well formed" all exits 0 ';' json '[o["operation"] for o in rows[0]["operations"]] == ["set", "default"]'
run correct "${db[@]}" --id 20 --recipe "$work/recipe" --dry-run --json
ok "the recipe of an edit changes its event no more" json 'rows[0]["unchanged"] == 1'
run recipe "${db[@]}" from 1003
ok "recipe from: never corrected" all exits 5 ';' one_sentence
printf 'set $.a\n' >"$work/recipe"
run recipe check "$work/recipe"
ok "recipe check: a mistake" all exits 2 ';' one_sentence ';' warns "$work/recipe:1:"
run recipe
ok "recipe without a word" all exits 2 ';' one_sentence

PG=$whole
psql -XAtq "$server dbname=postgres" -c "DROP DATABASE IF EXISTS $corrected WITH (FORCE)" >/dev/null 2>&1
