# Reading, first without the schema, then with it.

db=(-d "$PG")
run "${db[@]}" groups --json
ok "groups without the schema" all exits 0 ';' json 'sum(r["count"] for r in rows) == 1003'
sql "CREATE ROLE single LOGIN CONNECTION LIMIT 1; GRANT SELECT ON dlq_events TO single" >/dev/null
run -d "$PG user=single" groups --by '$.a' --json
ok "groups --by a path over the only connection that there is" all exits 0 ';' json '{r["value"]: r["count"] for r in rows} == {"missing": 1002, "text": 1}'
sql "REVOKE ALL ON dlq_events FROM single; DROP ROLE single" >/dev/null
run "${db[@]}" events --limit 3 --json
ok "events without the schema" all exits 0 ';' lines 3
run "${db[@]}" show 1 --json
ok "show without the schema" exits 0
run "${db[@]}" stats --json
ok "stats without the schema" exits 0
run "${db[@]}" operations
ok "operations without the schema name the command" all exits 2 ';' one_sentence ';' warns "redrive migrate"
run "${db[@]}" discard --all --yes
ok "discard without the schema names the command" all exits 2 ';' one_sentence ';' warns "redrive migrate"

run migrate --print
ok "migrate --print needs no database" all exits 0 ';' says "CREATE SCHEMA"
run "${db[@]}" --read-only migrate
ok "migrate of a read-only session" all exits 4 ';' one_sentence
before=$(sql "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'dlq_events'::regclass")/$(sql "SELECT count(*) FROM pg_index WHERE indrelid = 'dlq_events'::regclass")
run "${db[@]}" migrate
ok "migrate" exits 0
run "${db[@]}" migrate --json
ok "migrate again does nothing" all exits 0 ';' json 'rows[0]["from"] == rows[0]["to"] and not rows[0]["renewed"]'
ok "migrate leaves the contract table alone" in_table "SELECT (SELECT count(*) FROM pg_trigger WHERE tgrelid = 'dlq_events'::regclass) || '/' || (SELECT count(*) FROM pg_index WHERE indrelid = 'dlq_events'::regclass)" "$before"

run groups "${db[@]}" --json
ok "options may stand behind the command" exits 0
ok "groups: names" names group count error_class error category category_by first_seen last_seen rate_per_minute event_types topics returned resolved discarded reprocessed outcomes_since assignee note snoozed_until
ok "groups: largest first, complete" all json 'rows == sorted(rows, key=lambda r: -r["count"])' ';' json 'sum(r["count"] for r in rows) == 1003' ';' \
    json 'rows[0]["count"] == 500 and rows[0]["error_class"] == "java.lang.IllegalStateException"' ';' \
    json 'sorted(rows[0]["event_types"]) == ["order.created", "order.updated", "payment.failed"] and rows[0]["topics"] == ["orders"]'
key=$(sed -n '1s/.*"group":"\([0-9a-f]*\)".*/\1/p' "$work/out")
for by in type source topic category kind hour; do
    run groups "${db[@]}" --by $by --json
    ok "groups --by $by" all exits 0 ';' json 'sum(r["count"] for r in rows) == 1003'
done
run groups "${db[@]}" --by type --json
ok "groups --by type puts the type into group" json '{r["group"]: r["count"] for r in rows}["payment.failed"] == 333'
run groups "${db[@]}" --by colour
ok "groups --by something else" all exits 2 ';' one_sentence
run groups "${db[@]}" --by '$.a' --json
ok "groups --by a path" all exits 0 ';' names group value filter count error_class error category category_by first_seen last_seen rate_per_minute event_types topics returned resolved discarded reprocessed outcomes_since assignee note snoozed_until ';' \
    json '{r["value"]: r["count"] for r in rows} == {"missing": 1002, "text": 1}' ';' json 'rows[0]["filter"] == "!$.a?" and rows[0]["group"] is None'
run groups "${db[@]}" --by '$.a'
ok "a hostile value is harmless" all says "(missing)" ';' says '\e]0;owned'
run groups "${db[@]}" --by '$.n' --json
ok "groups --by a path that differs in each event" all lines 1000 ';' warns "1,000 largest of 1,001 values; the others have 1 event;"
run groups "${db[@]}" --by '$.n' --json --limit 5
ok "groups --by a path --limit" lines 5
run groups "${db[@]}" --by '$.n' --json --filter 'id:7..9' --group "${key:0:6}"
ok "groups --by a path of a group, with a filter" json 'sorted(r["group"] for r in rows) == ["7"] and rows[0]["filter"] == "$.n?number $.n=7"'
run events "${db[@]}" --json --filter '$.n?number $.n=7'
ok "the filter of a row chooses its events" all lines 1 ';' json 'rows[0]["id"] == 7'
run events "${db[@]}" --filter 'not topic:orders' --json
ok "not: what has another topic, or none" all exits 0 ';' json 'sorted(r["id"] for r in rows) == [1001, 1002]'
run events "${db[@]}" --filter 'not (topic:orders or type:nothing)' --json
ok "not before a bracket" all exits 0 ';' json '[r["id"] for r in rows] == [1002]'
run events "${db[@]}" --filter 'not (topic:orders'
ok "a bracket that nothing closes" all exits 2 ';' one_sentence ';' warns "column 5: expected the ) that closes this bracket"
sql "INSERT INTO redrive.consumer_topic (topic, read_at) VALUES ('orders', now()); INSERT INTO redrive.consumer VALUES ('orders', 'billing', 'Stable', 12, true), ('orders', 'audit', 'Empty', 4711, false)" >/dev/null
run reprocess "${db[@]}" --filter id:10..12 --dry-run
ok "a dry run tells who gets the events again" all exits 0 ';' warns "read by audit (lag 4,711, nobody runs), billing (lag 12): all of them get these again"
sql "DELETE FROM redrive.consumer; DELETE FROM redrive.consumer_topic" >/dev/null
run groups "${db[@]}" --by 'type,error' --json
ok "groups --by two of them counts each pair" all exits 0 ';' json 'sum(r["count"] for r in rows) == 1003' ';' \
    in_table "SELECT count(*) FROM dlq_events WHERE event_type = 'order.updated' AND error_message ~ '^duplicate'" \
    "$(python3 -c 'import json, sys; print(sum(r["count"] for r in map(json.loads, sys.stdin) if r["group"] == "order.updated" and (r["error"] or "").startswith("duplicate")))' <"$work/out")"
run groups "${db[@]}" --by '$.a,error' --json
ok "groups --by a path and the error" all exits 0 ';' names group value second filter count error_class error category category_by first_seen last_seen rate_per_minute event_types topics returned resolved discarded reprocessed outcomes_since assignee note snoozed_until ';' \
    json 'rows[0]["value"] == "missing" and rows[0]["count"] == 500 and rows[0]["error_class"] == "java.lang.IllegalStateException"'
pair=$(python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["filter"])' <"$work/out")
run events "${db[@]}" --json --filter "$pair"
ok "the filter of a pair chooses its events" lines 500
run groups "${db[@]}" --by '$.n,$["a,b"]' --limit 5
ok "two paths, with a comma in one" all exits 0 ';' lines 5 ';' says "(missing)"
run groups "${db[@]}" --by 'type,error,topic'
ok "groups --by three of them" all exits 2 ';' one_sentence
run groups "${db[@]}" --by '$.a[x]'
ok "a path with a mistake" all exits 2 ';' one_sentence ';' warns "column 5"
run apart "${db[@]}" --filter '"timed out"' --json
ok "apart: names" names what field where filter exact here here_of there there_of score same
ok "apart: the partition of the timeouts, counted" all exits 0 ';' \
    json '[(r["where"], r["exact"], r["here"], r["here_of"], r["there"], r["there_of"]) for r in rows][0] == ("partition = 0", True, 250, 250, 0, 753)'
found=$(sed -n '1s/.*"filter":"\([^"]*\)".*/\1/p' "$work/out")
run events "${db[@]}" --json --filter "$found"
ok "apart: its filter chooses what it counts" lines 250
run apart "${db[@]}" --filter '"timed out"'
ok "apart for people" all exits 0 ';' says "partition = 0" ';' warns "250 events against 753 other"
run apart "${db[@]}" --filter '"timed out"' --against earlier:2026-11-20T04:00 --quiet
ok "apart from what was earlier" exits 0
run apart "${db[@]}" --filter '"timed out"' --against resolved
ok "apart from resolved ones, of which there is one" all exits 0 ';' warns "only 1 resolved event to"
run apart "${db[@]}" --id 1 --id 2
ok "apart of too few" all exits 0 ';' warns "only 2 events chosen"
run apart "${db[@]}" --filter id:..2000
ok "apart of everything" all exits 0 ';' warns "choose fewer"
run apart "${db[@]}"
ok "apart of no choice" all exits 2 ';' one_sentence
run apart "${db[@]}" --filter zzzz
ok "apart of nothing" all exits 5 ';' one_sentence
run apart "${db[@]}" --filter zzzz --against yesterday
ok "apart against something else" all exits 2 ';' one_sentence
# The same words choose the same events in groups, in events, in an action and in SQL.
words='(type:=payment.failed or id:..200) not ("timed out" id:>100)'
matching=$(sql "SELECT count(*) FROM public.dlq_events WHERE status = 'PENDING' AND (event_type = 'payment.failed' OR id <= 200) AND NOT (error_message ~* 'timed out' AND id > 100)")
run groups "${db[@]}" --json --filter "$words"
ok "groups --filter with or, not and brackets" all exits 0 ';' json "sum(r['count'] for r in rows) == $matching > 0"
run events "${db[@]}" --json --filter "$words"
ok "events --filter the same" all exits 0 ';' lines "$matching"
run discard "${db[@]}" --dry-run --json --filter "$words"
ok "an action --filter the same" all exits 0 ';' json "rows[0]['total'] == $matching"
run groups "${db[@]}" --filter 'type:x or'
ok "a mistake has its column" all exits 2 ';' one_sentence ';' warns "column 10: expected a term after or"
run groups "${db[@]}" --json
whole=$(grep "\"group\":\"$key\"" "$work/out")
run groups "${db[@]}" --group "${key:0:8}" --json
ok "groups --group tells of a group what groups does, its life included" all exits 0 ';' lines 1 ';' test "$out" = "$whole"
run groups "${db[@]}" --sort newest --json
ok "groups --sort newest" all exits 0 ';' json 'sorted((r["last_seen"] for r in rows if r["last_seen"]), reverse=True) == [r["last_seen"] for r in rows if r["last_seen"]]' ';' json 'len(rows) > 3'
run groups "${db[@]}" --sort size
ok "groups --sort something else" all exits 2 ';' one_sentence ';' warns "count, newest, rate or first"
# At 80 columns the error has room: other columns leave, and no line wraps.
for list in groups events; do
    ran="at 80 columns: redrive $list --limit 3" status=0 err= out=$(script -qec "stty cols 80 rows 30; '$REDRIVE' -d '$PG' --quiet --no-color $list --limit 3" /dev/null | tr -d '\r')
    ok "$list at 80 columns" all lines 4 ';' not says " last " ';' not says "status" ';' says IllegalState ';' eval '! grep -qE "^.{81}" <<<"$out"'
done
for list in groups events; do
    run $list "${db[@]}" --filter zzzz
    ok "$list: nothing matches" all exits 0 ';' lines 0 ';' one_sentence ';' warns "nothing found: 0 events that match zzzz; only pending ones"
    run $list "${db[@]}" --filter zzzz --status all --json
    ok "$list: nothing matches in any status" all exits 0 ';' lines 0 ';' one_sentence ';' not warns "only pending"
    run $list "${db[@]}" --filter zzzz --quiet
    ok "$list --quiet: nothing matches" all exits 0 ';' lines 0 ';' silent
done
# What only an original record tells is found nowhere before one is kept; a key is the source id then.
for filter in header:x=1 has:raw 'key:zzzz'; do
    run events "${db[@]}" --filter "$filter"
    ok "events: nothing matches $filter" all exits 0 ';' lines 0 ';' one_sentence ';' \
        "$([ "$filter" = key:zzzz ] && echo not || echo all)" warns "no original record is kept"
done
run operations "${db[@]}"
ok "operations: none yet" all exits 0 ';' lines 0 ';' one_sentence ';' warns "no operations yet"
run groups category "${db[@]}"
ok "groups category: none was set" all exits 0 ';' lines 0 ';' one_sentence ';' warns "no category was set by hand"
run groups "${db[@]}" --limit 2 --json
ok "groups --limit gives the largest" all lines 2 ';' json 'rows[0]["count"] == 500'

run events "${db[@]}" --json
ok "events: names" names id event_id event_type status group category error_message retry_count created_at topic partition offset key format consumer dlq_topic edited returned
ok "events: all, newest by time first" all json 'len(rows) == 1003' ';' json '[r["id"] for r in rows if r["created_at"]][:3] == [1, 2, 3]'
run events "${db[@]}" --json --group "$key" --limit 2
ok "events --group --limit" all lines 2 ';' json 'all(r["group"] == "'"$key"'" for r in rows)' ';' json '[r["id"] for r in rows] == [2, 3]'
run events "${db[@]}" --json --sort '$.n' --limit 4 --filter 'id:..1003'
ok "events --sort: the lowest of all, with the value" all json '[(r["id"], r["value"]) for r in rows] == [(i, str(i)) for i in (1, 2, 3, 4)]' ';' \
    names id event_id event_type status group category error_message retry_count created_at topic partition offset key format consumer dlq_topic edited returned value
run events "${db[@]}" --json --sort '-$.n'
ok "events --sort: the highest first, without a value last" json 'len(rows) == 1003 and [r["value"] for r in rows[:2]] == ["1000", "999"] and [r["value"] for r in rows[1000:]] == [None] * 3'
run events "${db[@]}" --sort '$.a' --limit 2
ok "events --sort: a column of the value, harmless" all lines 2 ';' says '\e]0;owned'
run events "${db[@]}" --status all --sort '$.n' --json
ok "events --sort takes closed ones too" json 'len(rows) == 1005 and rows[999]["value"] == "1000"'
run events "${db[@]}" --sort n
ok "events --sort by something else" all exits 2 ';' one_sentence ';' warns 'a path of the payload such as $.amount'
run events "${db[@]}" --sort '-$.a[x]'
ok "events --sort: a mistake has its column" all exits 2 ';' one_sentence ';' warns "--sort, column 6"
run events "${db[@]}" --json --group "${key:0:6}"
ok "the beginning of a group's key is enough" json 'len(rows) == 500'
run events "${db[@]}" --group xyz
ok "a group key that is none" all exits 2 ';' one_sentence
run events "${db[@]}" --json --filter 'type:payment "timed out"'
ok "events --filter" json 'len(rows) == 83 and all("timed out" in r["error_message"] for r in rows)'
run events "${db[@]}" --filter 'type:pay ('
ok "a filter's mistake has its column" all exits 2 ';' one_sentence ';' warns "column"

# Saved filters, and how one is searched for.
run filter --save slow 'type:payment "timed out"'
ok "a filter is saved" all exits 0 ';' silent
run events "${db[@]}" --json --filter '@slow id:1..500'
ok "@name stands for it" json 'len(rows) == 42 and all("timed out" in r["error_message"] for r in rows)'
run events "${db[@]}" --filter 'id:1 @fast'
ok "a name that is not saved is a mistake, not a text that nothing matches" all exits 2 ';' one_sentence ';' warns "no saved filter @fast"
run events "${db[@]}" --json --filter '"@slow"'
ok "in quotes it is text" all exits 0 ';' lines 0
run filter --json
ok "filters are listed" all exits 0 ';' names name filter ';' json 'rows == [{"name": "slow", "filter": "type:payment \"timed out\""}]'
run filter 'topic:x @slow' --json
ok "filter says what each term is answered from" json '[(r["term"], r["answered_from"]) for r in rows] == [("topic", "short columns"), ("type", "short columns"), ("error", "error message")]'
run filter "${db[@]}" --explain '@slow' --json
ok "filter --explain: the plan by measure" all exits 0 ';' json 'rows[-1]["plan"] in ("column", "server literal", "rows") and rows[-1]["pending"] == 1003 and rows[-1]["sample"] == 1003'
run filter "${db[@]}" --explain '@slow'
ok "filter --explain in words" all exits 0 ';' says "by a command: " ';' says "1,003 pending"
run filter "${db[@]}" --explain 'error:="out of disk"' --json
ok "an exact text is its own literal" all exits 0 ';' json 'rows[0]["holds"] == "out of disk" and rows[-1]["literal"] == "out of disk" and rows[-1]["sample"] == 1003'
run filter --save broken 'type:pay ('
ok "what cannot be read is not saved" all exits 2 ';' one_sentence ';' warns "column 11"
run filter --save Slow x
ok "a name that is none" all exits 2 ';' one_sentence
run filter --forget slow
ok "a filter is forgotten" exits 0
run filter --forget slow
ok "and no longer there" all exits 5 ';' one_sentence
run events "${db[@]}" --json --queue orders_dlq
ok "events --queue" json '[r["id"] for r in rows] == [1003]'
run events "${db[@]}" --queue orders
ok "a queue that is none" all exits 2 ';' one_sentence
run events "${db[@]}" --json --status all
ok "events --status all" json 'len(rows) == 1005'
run events "${db[@]}" --json --status discarded
ok "events --status discarded" json '[r["id"] for r in rows] == [1005]'
run events "${db[@]}" --json --filter status:resolved
ok "a status: term chooses among all" json '[r["id"] for r in rows] == [1004]'
run events "${db[@]}" --status lost
ok "a status that is none" all exits 2 ';' one_sentence
run events "${db[@]}" --json --id 5 --id 3
ok "events --id" json '[r["id"] for r in rows] == [3, 5]'
run events "${db[@]}" --json --id - <<<$'7\n8, 9\n'
ok "events --id - reads standard input" json '[r["id"] for r in rows] == [7, 8, 9]'
run events "${db[@]}" --id 5 --id 99999
ok "an unknown id" all exits 5 ';' one_sentence ';' warns 99999
run events "${db[@]}" --json --id 1001
ok "NULL stays null" json 'rows[0]["created_at"] is None and rows[0]["topic"] is None and rows[0]["offset"] is None and rows[0]["key"] is None'
ok "a row that is no dead letter of a topic has none of its columns" json 'rows[0]["format"] is None and rows[0]["consumer"] is None and rows[0]["dlq_topic"] is None'
run events "${db[@]}" --json --limit 1 --filter id:1
ok "times carry an offset" json 'rows[0]["created_at"].endswith(("Z", "+00:00"))'
run events "${db[@]}" --json --zone America/Sao_Paulo --id 1
ok "the table's zone is a setting" json 'rows[0]["created_at"] == "2026-11-20T11:59:00-03:00"'
run events "${db[@]}" --json --filter nothingatall
ok "nothing found is no error for reading" all exits 0 ';' lines 0

run events "${db[@]}" --id 1002
ok "text into a pipe: one event, one line, no escapes" all lines 1 ';' not says $'\033' ';' says '\e[31m' ';' says '\n'
run events "${db[@]}" --limit 2
ok "text into a pipe has no header" all lines 2 ';' not says "created "
at_terminal '' events "${db[@]}" --id 1002
ok "a hostile text at a terminal is harmless" all not says $'\033[31m' ';' not says $'\033]' ';' not says $'\u202e' ';' says '\e[31m'
ok "a table at a terminal has a header, in bold" all says "created" ';' says $'\033[1m'
at_terminal '' events "${db[@]}" --limit 5 --no-color
ok "--no-color" not says $'\033[1m'

run show "${db[@]}" 1 --json
ok "show: names" names id event_id event_type source_table source_id error_message stack_trace retry_count max_retries status created_at \
    last_retry_at resolved_at resolved_by kafka_offset kafka_partition kafka_topic correlation_id payload group category error_class key \
    edited returned returned_from attempts headers original revisions decisions dead_letter decoded would_send
ok "show: what would be sent" json 'set(rows[0]["would_send"]) >= {"topic", "key", "headers", "exact", "why"} and rows[0]["would_send"]["topic"] == "orders"'
ok "show: the payload is a string" json 'rows[0]["payload"] == "{\"n\": 1, \"amount\": 1.5}" and rows[0]["attempts"][0]["error_message"] == rows[0]["error_message"]'
run show "${db[@]}" 1 --raw
ok "show --raw" all exits 0 ';' eval '[ "$out" = "{\"n\": 1, \"amount\": 1.5}" ]'
run show "${db[@]}" 1 --as-sent
ok "show --as-sent" all exits 0 ';' eval '[ "$out" = "{\"n\": 1, \"amount\": 1.5}" ]' ';' warns "not byte for byte"
run show "${db[@]}" 1003 --json
ok "show: no dead letter" json 'rows[0]["dead_letter"] is None and rows[0]["would_send"]["format"] is None'
run show "${db[@]}" 1002
ok "show of a hostile event" all exits 0 ';' not says $'\033'
sql "INSERT INTO redrive.revision (dlq_id, no, payload, reason) VALUES (1, 1, '{\"n\": 2}', 'test')" >/dev/null
run show "${db[@]}" 1 --raw
ok "show --raw of a corrected event: as it came" all exits 0 ';' eval '[ "$out" = "{\"n\": 1, \"amount\": 1.5}" ]'
run show "${db[@]}" 1 --as-sent
ok "and --as-sent: as corrected" all exits 0 ';' eval '[ "$out" = "{\"n\": 2}" ]'
sql "DELETE FROM redrive.revision" >/dev/null
at_terminal '' show "${db[@]}" 1002 --raw
ok "show --raw at a terminal is harmless" all not says $'\033]' ';' not says $'\007'
run show "${db[@]}" 99999
ok "show of an unknown id" all exits 5 ';' one_sentence
run show "${db[@]}" abc
ok "show of no id" all exits 2 ';' one_sentence

run stats "${db[@]}" --json
ok "stats: five objects, and the share of dead letters" all lines 6 ';' json 'len({r["analysis"] for r in rows}) == 6' ';' \
    json '[r for r in rows if r["analysis"] == "pending"][0]["pending"] == 1003' ';' \
    json '{t["event_type"]: t["total"] for t in [r for r in rows if r["analysis"] == "event_types"][0]["event_types"]}["payment.failed"] == 333' ';' \
    json '[t for t in [r for r in rows if r["analysis"] == "resolution_time"][0]["event_types"] if t["event_type"] == "order.created"][0]["mean_seconds"] == 3600'
run stats "${db[@]}"
ok "stats for people" all exits 0 ';' says "Most common errors" ';' says "Mean time to resolution" ';' \
    says "errors, one per message" ';' warns "nobody keeps the counts of groups"
# Equal as far as a person reads, which is characters and not bytes.
sql "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message) SELECT 'tail-' || n, 'tail', '{}', repeat('é', 500) || n FROM generate_series(1, 900) AS n" >/dev/null
run stats "${db[@]}" --json
ok "stats: messages are one where their first 500 characters are" all \
    json '[r for r in rows if r["analysis"] == "errors"][0]["by"] == "message"' ';' \
    json '[r for r in rows if r["analysis"] == "errors"][0]["errors"][0]["count"] == 900'
sql "DELETE FROM dlq_events WHERE event_type = 'tail'" >/dev/null

# Six groups that differ in one word, in two topics.
sql "INSERT INTO dlq_events (event_id, event_type, event_payload, error_message, kafka_topic) SELECT 'city-' || c || i, 'route', '{}', 'no route to ' || c || ' today', 'routes.' || n % 2 FROM unnest('{Sintra,Jeju,Cuenca,Tavira,Ulsan,Mafra}'::text[]) WITH ORDINALITY AS t (c, n), generate_series(1, 3) AS i" >/dev/null
run groups "${db[@]}" --merged --json --filter type:route
ok "groups --merged: one row, with all the keys of it" all exits 0 ';' lines 1 ';' json 'rows[0]["count"] == 18 and len(rows[0]["groups"]) == 6' ';' \
    json 'rows[0]["group"] == min(rows[0]["groups"]) and "no route to <word> today" in rows[0]["error"] and rows[0]["topics"] == ["routes.0", "routes.1"]'
keys=$(sed 's/.*"groups":\["\([^]]*\)"\].*/\1/; s/","/,/g' "$work/out")
run events "${db[@]}" --filter "group:$keys" --json
ok "and its keys are a filter" all exits 0 ';' lines 18
run groups "${db[@]}" --merged --filter type:route
ok "groups --merged for people" all exits 0 ';' says "6 groups: " ';' warns "smallest of their keys"
run groups "${db[@]}" --merged --by type
ok "only groups by error are merged" all exits 2 ';' one_sentence
sql "DELETE FROM dlq_events WHERE event_type = 'route'" >/dev/null

# Sums that a worker keeps: the same groups, without a look at the events.
run groups "${db[@]}" --json
sed 's/"rate_per_minute.*"event_types"/"event_types"/; s/,"resolved".*//' "$work/out" | sort >"$work/looked_at"
"$REDRIVE" work "${db[@]}" >/dev/null 2>&1 &
worker=$!
for _ in $(seq 150); do
    run groups "${db[@]}" --json
    case $err in *"from the rollup"*) break ;; esac
    sleep 0.2
done
sed 's/"rate_per_minute.*"event_types"/"event_types"/; s/,"resolved".*//' "$work/out" | sort >"$work/summed"
ok "groups out of the sums that a worker keeps" all exits 0 ';' warns "pending events as of 20" ';' warns ", from the rollup, which equalled the table " ';' cmp "$work/looked_at" "$work/summed" ';' \
    json 'all(r["resolved"] == 0 and r["returned"] == 0 for r in rows)'
for _ in $(seq 150); do
    run stats "${db[@]}" --trend 15m --json
    json 'rows[0]["points"][-1]["pending"] is not None or rows[0]["points"][-2]["pending"] is not None' && break
    sleep 0.2
done
ok "the backlog over time, as a worker writes it" all exits 0 ';' lines 1 ';' json 'len(rows[0]["points"]) == 15' ';' \
    json "max(p['pending'] or 0 for p in rows[0]['points']) == $(sql "SELECT count(*) FROM dlq_events WHERE status = 'PENDING'")" ';' \
    json 'all(p["in"] is None or p["in"] == p["arrived"] + p["restored"] for p in rows[0]["points"])'
run stats "${db[@]}" --json
ok "stats: the largest groups out of the sums" all exits 0 ';' warns "from the rollup" ';' not warns "single messages" ';' \
    json '[r for r in rows if r["analysis"] == "errors"][0]["by"] == "group"' ';' \
    json '[r for r in rows if r["analysis"] == "errors"][0]["errors"][0]["group"] == "'"$key"'"' ';' \
    json '[r for r in rows if r["analysis"] == "errors"][0]["errors"][0]["count"] == 500'
kill "$worker"
wait "$worker" 2>/dev/null || true
# Nobody keeps them for a while: groups catches up, where it may.
sql "UPDATE redrive.rollup_state SET lease_until = now() - interval '1 h', exact_at = now() - interval '1 h'; UPDATE dlq_events SET status = 'RESOLVED' WHERE id = 3" >/dev/null
run groups "${db[@]}" --json --read-only
ok "groups looks at the events where the sums are old and it may not keep them" all exits 0 ';' not warns "from the rollup" ';' \
    json 'sum(r["count"] for r in rows) == 1002'
run groups "${db[@]}" --json
ok "else it brings the sums up to date" all exits 0 ';' warns "from the rollup" ';' json 'sum(r["count"] for r in rows) == 1002'
# As it was, for the parts that follow: sums count as exact for some seconds, and this change went past redrive.
sql "UPDATE dlq_events SET status = 'PENDING' WHERE id = 3; UPDATE redrive.rollup_state SET lease_until = now() - interval '1 h', exact_at = now() - interval '1 h'" >/dev/null
run groups "${db[@]}" --json
ok "and once more when the event is pending again" all exits 0 ';' json 'sum(r["count"] for r in rows) == 1003'

run doctor "${db[@]}"
ok "doctor looks at host, PostgreSQL and Kafka" all says postgresql ';' says kafka ';' says "may carry operations out"
ok "doctor says nothing twice" test -z "$(grep -E '^(ok|note|WRONG) ' "$work/out" | sort | uniq -d)"
sql "INSERT INTO redrive.original (dlq_id, cluster, topic, partition, \"offset\", tries, why) SELECT min(id), 'c', 'orders.events', 0, 7, 3, 'the broker refuses to let it be read' FROM dlq_events"
run doctor "${db[@]}"
ok "doctor: an original that cannot be read" all exits 1 ';' says "1 dead letter waits for its original in orders.events: the broker refuses to let it be read"
sql "DELETE FROM redrive.original"
run doctor "${db[@]}" --json
ok "doctor: names" names part verdict finding remedy
run doctor -d 'host=/nowhere'
ok "doctor without PostgreSQL goes on and says so" all exits 3 ';' says kafka

at_prompt 'Password' $'not shown\n' groups "${db[@]}" -W --limit 1
ok "-W asks, and shows nothing of the answer" all exits 0 ';' says "Password" ';' not says "not shown"
