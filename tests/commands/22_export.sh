# Events as text for other programs.

sql "INSERT INTO public.dlq_events (event_id, event_type, event_payload, error_message, stack_trace, created_at, kafka_topic)
     VALUES ('export', 'export', '{\"a\": \"x,\\\"y\\\"\"}', E'one, \"two\"\r\nthree\x1b]0;owned\x07', ' =1+1', '2026-11-19 00:00:02', 'orders')" >/dev/null
exported=$(sql "SELECT id FROM public.dlq_events WHERE event_id = 'export'")
run "${db[@]}" correct "$exported" --set '$.a="mended"' --reason export --quiet
record=(id event_id event_type source_table source_id error_message stack_trace retry_count max_retries status created_at last_retry_at
    resolved_at resolved_by kafka_offset kafka_partition kafka_topic correlation_id payload exact key headers group category returned revisions)
run "${db[@]}" export --filter type:export
ok "export: names" all exits 0 ';' silent ';' names "${record[@]}"
ok "export: the original payload, and beside it what was made of it" json 'json.loads(rows[0]["payload"]) == {"a": "x,\"y\""} and json.loads(rows[0]["revisions"][0]["payload"]) == {"a": "mended"} and rows[0]["revisions"][0]["reason"] == "export"'
ok "export: no control character" all not says $'\x1b' ';' not says $'\x07'

run "${db[@]}" export --status all
total=$(sql "SELECT count(*) FROM public.dlq_events")
ok "export: every event, oldest first" all exits 0 ';' lines "$total" ';' \
    json 'sorted(r["created_at"] or "9" for r in rows) == [r["created_at"] or "9" for r in rows]'
run "${db[@]}" export --group "${key:0:8}" --limit 3 --form ids

ok "export --form ids" all exits 0 ";" lines 3

run "${db[@]}" export --filter type:export -o "$work/new.csv"
ok "export to a file tells how many" all exits 0 ';' lines 0 ';' warns "exported 1 event to $work/new.csv"
ok "its form is that of its name; RFC 4180" "$python" -S - "$work/new.csv" <<'PY'
import csv, sys
text = open(sys.argv[1], newline="").read()
row, = csv.DictReader(open(sys.argv[1], newline=""), strict=True)
assert text.count("\r\n") == 3 and text.endswith("\r\n"), text
assert row["error_message"] == 'one, "two"\r\nthree\x1b]0;owned\x07', row
assert row["stack_trace"] == " =1+1" and row["payload"] == '{"a": "x,\\"y\\""}' and row["revisions"] == "1", row
PY
ok "the file is for its owner alone" [ "$(stat -c %a "$work/new.csv")" = 600 ]
run "${db[@]}" export --id 1 -o "$work/new.csv"
ok "a file that is there stays" all exits 2 ';' one_sentence ';' warns "--force replaces it" ';' grep -q export "$work/new.csv"
run "${db[@]}" export --id 1 -o "$work/new.csv" --force --form ids
ok "unless it is to be replaced" all exits 0 ';' [ "$(cat "$work/new.csv")" = 1 ]
ln -s "$work/new.csv" "$work/link.csv"
run "${db[@]}" export --id 2 -o "$work/link.csv" --force
ok "a link is never written through" all exits 2 ';' one_sentence ';' [ "$(cat "$work/new.csv")" = 1 ]
run "${db[@]}" export --id 1 -o "$work/nowhere/new.csv"
ok "a folder that is missing" all exits 2 ';' one_sentence ';' warns "nowhere"
run "${db[@]}" export --filter type:nobody -o "$work/none.jsonl"
ok "nothing to export leaves no file" all exits 5 ';' one_sentence ';' [ ! -e "$work/none.jsonl" ]
run "${db[@]}" export --queue orders_dlq --form ids
ok "export --queue: the events of that dead letter queue" all exits 0 ';' [ "$out" = 1003 ]
run "${db[@]}" export --queue orders -o "$work/none.jsonl"
ok "export --queue: a name without a suffix of dead letters is refused" all exits 2 ';' one_sentence ';' warns "orders_dlq" ';' [ ! -e "$work/none.jsonl" ]
run "${db[@]}" export --queue empty_dlq -o "$work/none.jsonl"
ok "export --queue: an empty queue says so, and leaves no file" all exits 5 ';' one_sentence ';' warns "in the queue empty_dlq" ';' [ ! -e "$work/none.jsonl" ]
run "${db[@]}" export --id 1 --id 999999 -o "$work/none.jsonl"
ok "an id that nobody has" all exits 5 ';' one_sentence ';' [ ! -e "$work/none.jsonl" ]
run "${db[@]}" export --form xml
ok "a form that nobody knows" all exits 2 ';' one_sentence ';' warns "jsonl, csv or ids"
run "${db[@]}" export 7
ok "an argument too many" all exits 2 ';' one_sentence
ran="redrive export | head -n 1"
"$REDRIVE" "${db[@]}" export --status all 2>"$work/err" | head -n 1 >"$work/out"
out=$(<"$work/out") err=$(<"$work/err")
ok "a reader that has enough ends it without a word" all lines 1 ';' silent
if [ -e /dev/full ]; then
    ran="redrive export >/dev/full"
    status=0
    "$REDRIVE" "${db[@]}" export >/dev/full 2>"$work/err" || status=$?
    err=$(<"$work/err")
    ok "a full disk is told" all not exits 0 ';' one_sentence
fi
ok "nothing else is left" [ -z "$(ls "$work" | grep part-)" ]
at_terminal '' "${db[@]}" export --filter type:export --form csv
ok "a terminal gets no control characters" all says '\e]0;owned\x07' ';' not says $'\x1b]0'
sql "DELETE FROM redrive.revision WHERE dlq_id = $exported" >/dev/null
sql "DELETE FROM public.dlq_events WHERE id = $exported" >/dev/null

# Links of the settings are checked before anything is shown.
mkdir -p "$work/config/redrive"
printf '# two rows\nlinks = { "logs https://x/?q={id}", "bad https://{topic}.x/" }\n' >"$work/config/redrive/config"
run config --check
ok "a link whose host a value would decide" all exits 2 ';' one_sentence ';' warns "config:2: links, row 2" ';' warns "must not decide the host"
printf 'links = { "logs javascript:alert(1)" }\n' >"$work/config/redrive/config"
run config --check
ok "a link that is neither http nor https" all exits 2 ';' warns "config:1: links, row 1"
rm "$work/config/redrive/config"
