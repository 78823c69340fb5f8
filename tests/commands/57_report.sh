# report: the review of a stretch of time and the evidence of one operation, in four forms, compared with SQL of its own.

db=(-d "$PG")
hostile=$'a | <b onclick="x">*bold*</b> & [link](javascript:1) http://evil.example \e]0;owned\a end'
sql "INSERT INTO dlq_events (id, event_id, event_type, source_table, source_id, event_payload, error_message, retry_count, status, created_at)
     SELECT 91000 + n, 'report-' || n, 'Report', 't', 's' || n, '{}', CASE WHEN n <= 6 THEN 'report: ledger <b>closed</b> | now' ELSE 'report: connection timed out' END,
            0, 'PENDING', now() AT TIME ZONE 'UTC' - n * interval '1 min' FROM generate_series(1, 10) AS n" >/dev/null
run discard "${db[@]}" --filter id:91001..91004 --yes --reason "$hostile" --json
discarded=$(operation_of)
run resolve "${db[@]}" --id 91005 --yes --json
sql "INSERT INTO redrive.returned (dlq_id, operation_no, at, times) VALUES (91006, $discarded, now(), 2)" >/dev/null
run reprocess "${db[@]}" --id 91007 --yes --detach --rate 0 --json
open=$(operation_of)

run report "${db[@]}" --since 2h --json
ok "the review as JSON" all exits 0 ';' lines 1 ';' json 'set("since until arrived resolved discarded pending days by_category error_types groups new returned reprocess operations people follow_up".split()) <= set(rows[0])'
bounds="BETWEEN ('$("$python" -c 'import json; print(json.load(open("'"$work/out"'"))["since"])')'::timestamptz AT TIME ZONE 'UTC') AND ('$("$python" -c 'import json; print(json.load(open("'"$work/out"'"))["until"])')'::timestamptz AT TIME ZONE 'UTC')"
counted() { json "rows[0][\"$1\"] == $(sql "SELECT count(*) FROM dlq_events WHERE $2")"; }
ok "arrived is what a second SQL counts" counted arrived "created_at $bounds"
ok "and resolved" counted resolved "status = 'RESOLVED' AND resolved_at $bounds"
ok "and discarded" counted discarded "status = 'DISCARDED' AND resolved_at $bounds"
ok "and pending" counted pending "status = 'PENDING'"
ok "the days add up" json 'all(sum(d[k] for d in rows[0]["days"]) == rows[0][k] for k in ("arrived", "resolved", "discarded"))'
ok "and the categories" json 'sum(rows[0]["by_category"].values()) == rows[0]["arrived"]'
ok "and the types of error, in events and in percent" json 'sum(t["events"] for t in rows[0]["error_types"]) == rows[0]["arrived"] and abs(sum(t["percent"] for t in rows[0]["error_types"]) - 100) < 0.1'
ok "groups have what closed meanwhile too" json 'max(g["events"] for g in rows[0]["groups"] if g["error"].startswith("report:")) == 6'
ok "what returned" json 'sum(g["events"] for g in rows[0]["returned"]) == '"$(sql "SELECT count(*) FROM redrive.returned WHERE at > now() - interval '2 h'")"
ok "decisions with who and why" json "any(o['operation'] == $discarded and o['done'] == 4 and o['requested_by'] == '$(sql 'SELECT session_user')' and 'bold' in o['reason'] for o in rows[0]['operations'])"
ok "as many as there are" json "len(rows[0]['operations']) == $(sql "SELECT count(*) FROM redrive.operation WHERE created_at > now() - interval '2 h'")"
ok "people add up" json 'sum(p["operations"] for p in rows[0]["people"]) == len(rows[0]["operations"])'
ok "what is open is to be followed up" json "any(o['operation'] == $open for o in rows[0]['follow_up']) and len(rows[0]['follow_up']) == $(sql "SELECT count(*) FROM redrive.operation WHERE state NOT IN ('done', 'cancelled')")"
ok "reprocesses in sums" json "rows[0]['reprocess']['sent'] == $(sql "SELECT coalesce(sum(done), 0) FROM redrive.operation WHERE action = 'reprocess' AND started_at > now() - interval '2 h'")"
whole=$("$python" -c 'import json; print(json.load(open("'"$work/out"'"))["arrived"])')
run report "${db[@]}" --since 3m --json
ok "--since narrows it" all exits 0 ';' json "1 <= rows[0]['arrived'] <= $whole - 6" # of the ten, those of three minutes

run report "${db[@]}" --since 2h
ok "as text, with the header also into a pipe" all exits 0 ';' says "Dead letters of the last 2 hours, times in UTC" ';' says "In and out by day" ';' says "pending now" ';' says "To follow up"
ok "control characters are harmless" all not says $'\e' ';' not says $'\a' ';' says '\e]0;owned\x07'
run report "${db[@]}" --since 24h
ok "of a day" all exits 0 ';' says "Dead letters of the last day, times in UTC"
run report "${db[@]}" --since 2h --form markdown
ok "Markdown: its own characters are escaped" all exits 0 ';' says '## Decisions' ';' says 'a \| \<b onclick="x"\>\*bold\*\</b\> \& \[link\]\(javascript:1\) http\://evil.example' ';' not says $'\e'
ok "each row has as many cells as its header" "$python" -S - "$work/out" <<'PY'
import re, sys
width = None
for line in open(sys.argv[1], encoding="utf-8"):
    cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else None
    assert cells is None or width is None or cells == width, line
    width = cells
PY
run report "${db[@]}" --since 2h --form html
ok "HTML: tags and quotes are escaped" all exits 0 ';' says '<!DOCTYPE html>' ';' says 'a | &lt;b onclick=&quot;x&quot;&gt;*bold*&lt;/b&gt; &amp;' ';' not says '<b onclick' ';' not says '<b>closed' ';' not says $'\e'
printf '%s' "$out" >"$work/report.html"
ok "and it is well formed" "$python" -S - "$work/report.html" <<'PY'
import sys
from html.parser import HTMLParser
class Tags(HTMLParser):
    stack, seen = [], set()
    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in ("meta",):
            self.stack.append(tag)
    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, tag
tags = Tags()
tags.feed(open(sys.argv[1], encoding="utf-8").read())
assert not tags.stack and tags.seen <= set("html head meta title style body h1 h2 p table tr th td".split()), tags.seen
PY

run report "${db[@]}" --operation "$discarded" --json
ok "the evidence of one operation" all exits 0 ';' json "rows[0]['operation'] == $discarded and rows[0]['action'] == 'discard' and rows[0]['counts']['total'] == 4 and rows[0]['counts']['done'] == 4"
ok "its events are counted one by one" json "{o['state']: o['events'] for o in rows[0]['outcomes']} == {'done': $(sql "SELECT count(*) FROM redrive.item WHERE operation_no = $discarded AND state = 'done'")}"
ok "the ranges of its ids" json 'rows[0]["ids"] == [{"first_id": 91001, "last_id": 91004, "events": 4}]'
ok "a timeline, which is the audit's" json "[t['action'] for t in rows[0]['timeline']] == '$(sql "SELECT string_agg(action, ' ' ORDER BY no) FROM redrive.audit WHERE operation_no = $discarded AND action NOT IN ('apply', 'finish')")'.split()"
ok "who and when" json 'rows[0]["requested_by"] == rows[0]["timeline"][0]["who"] and rows[0]["created_at"] <= rows[0]["started_at"] <= rows[0]["finished_at"]'
for form in text markdown html; do
    run report "${db[@]}" --operation "$discarded" --form $form
    ok "the evidence as $form" all exits 0 ';' says "Operation $discarded" ';' says 91004 ';' not says $'\e'
done
run report "${db[@]}" --operation 999999
ok "an operation that is not there" all exits 5 ';' one_sentence
for wrong in "--since soon" "--since 0s" "--since 9999d" "--form pdf" "--operation 1 --since 1h" "extra"; do
    # shellcheck disable=SC2086
    run report "${db[@]}" $wrong
    ok "report $wrong is refused" all exits 2 ';' one_sentence
done
run report "${db[@]}" --form markdwon
ok "with a suggestion" warns "did you mean markdown?"
run operation "${db[@]}" "$open" cancel
sql "DELETE FROM redrive.returned WHERE dlq_id = 91006; DELETE FROM dlq_events WHERE id BETWEEN 91001 AND 91010" >/dev/null
