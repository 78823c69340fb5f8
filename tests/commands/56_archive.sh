# Retention: archive, purge and restore --from-archive, in a database of their own.

psql -XAtq "$server dbname=postgres" -c "CREATE DATABASE ${database}_archive ENCODING 'UTF8' TEMPLATE template0"
archive_pg="$server dbname=${database}_archive"
psql -Xq "$archive_pg" -f "$here/table.sql"
archived=(-d "$archive_pg")
archive_sql() { psql -XAtq -v ON_ERROR_STOP=1 "$archive_pg" -c "$1"; }
archive_is() { [ "$(archive_sql "$1")" = "$2" ]; }

run archive "${archived[@]}" --older-than 90d --yes
ok "archive without the schema names migrate" all exits 2 ';' one_sentence ';' warns "redrive migrate"
run migrate "${archived[@]}" --quiet
archive_sql "UPDATE dlq_events SET status = CASE id % 2 WHEN 0 THEN 'RESOLVED' ELSE 'DISCARDED' END, resolved_at = now()::timestamp - interval '100 days', resolved_by = 'ana' WHERE id BETWEEN 101 AND 400;
             UPDATE dlq_events SET status = 'RESOLVED', resolved_at = now()::timestamp - interval '10 days' WHERE id BETWEEN 401 AND 450;
             UPDATE dlq_events SET resolved_at = now()::timestamp WHERE id > 1003;
             CREATE TABLE was AS SELECT * FROM dlq_events" >/dev/null

run archive "${archived[@]}"
ok "archive needs an age" all exits 2 ';' one_sentence ';' warns "--older-than 90d"
run archive "${archived[@]}" --older-than soon
ok "an age that is none" all exits 2 ';' one_sentence ';' warns "--older-than" ';' warns "7d"
run archive "${archived[@]}" --older-than 90d --status pending --yes
ok "pending events are not archived" all exits 2 ';' one_sentence ';' warns "closed events only"
run archive "${archived[@]}" --older-than 90d --without-archive
ok "archive has no --without-archive" all exits 2 ';' one_sentence
run archive "${archived[@]}" --older-than 90d --dry-run --json
ok "a dry run counts" all exits 0 ';' json 'rows == [{"job": None, "action": "archive", "state": "dry run", "total": 300, "moved": 300, "deleted": 0, "skipped": 0}]'
ok "and moves nothing" archive_is "SELECT count(*) || ' ' || coalesce(to_regclass('archive.dlq_events_archive')::text, 'none') FROM dlq_events" "1005 none"
run archive "${archived[@]}" --older-than 90d </dev/null
ok "a pipe is refused" all exits 4 ';' one_sentence ';' warns "--confirm 300 or --yes"
run archive "${archived[@]}" --older-than 90d --confirm 301
ok "another number is refused" all exits 4 ';' one_sentence ';' warns "300 events are chosen"
run archive "${archived[@]}" --older-than 90d --yes --read-only
ok "--read-only archives nothing" all exits 4 ';' one_sentence

run archive "${archived[@]}" --older-than 90d --filter type:order.created --yes --reason "as every month" --json
ok "archive by filter" all exits 0 ';' json 'rows[0]["moved"] == rows[0]["total"] == 100 and rows[0]["state"] == "done" and rows[0]["skipped"] == 0'
run audit "${archived[@]}" --json
ok "the audit has both ends of the job" json '[(r["action"], r["events"], r["reason"]) for r in rows[:2]] == [("archive", 100, "as every month"), ("archive", 0, "as every month")]'
run archive "${archived[@]}" --older-than 90d --confirm 200
ok "archive the others" all exits 0 ';' says "archive done, total 200, moved 200, deleted 0, skipped 0"
run archive "${archived[@]}" --older-than 90d --yes
ok "nothing left" all exits 5 ';' one_sentence ';' warns "found nothing to act on"
ok "both tables have all events" archive_is "SELECT (SELECT count(*) FROM dlq_events) || ' ' || (SELECT count(*) FROM archive.dlq_events_archive) || ' ' || (SELECT count(*) FROM dlq_events WHERE status = 'PENDING')" "705 300 653"
run doctor "${archived[@]}"
ok "doctor counts the archive" says "the archive holds 300 events"

run restore "${archived[@]}" --from-archive --yes
ok "restore needs a choice" all exits 2 ';' one_sentence ';' warns "--from-archive needs a choice"
run restore "${archived[@]}" --from-archive --id 1 --yes
ok "an event that is not archived" all exits 5 ';' one_sentence ';' warns "no event has the id 1"
run restore "${archived[@]}" --from-archive --filter 'error:timed type:order.updated' --yes --json
ok "restore chooses in the archive" all exits 0 ';' json 'rows[0]["action"] == "restore" and rows[0]["moved"] == 25'
run restore "${archived[@]}" --from-archive --id 101 --id 102 --confirm 2 --json
ok "restore by id" all exits 0 ';' json 'rows[0]["moved"] == 2'
run restore "${archived[@]}" --from-archive --all --yes
ok "restore all" all exits 0 ';' says "moved 273"
ok "rows are what they were" archive_is "SELECT count(*) FROM (TABLE was EXCEPT TABLE dlq_events) w" 0
run restore "${archived[@]}" --from-archive --all --yes
ok "the archive is empty" all exits 5 ';' one_sentence ';' warns "the archive is empty"
run restore "${archived[@]}" --id 101 --yes --json
ok "what came back can be reopened" all exits 0 ';' json 'rows[0]["done"] == 1'

run archive "${archived[@]}" --older-than 90d --yes
run purge "${archived[@]}" --older-than 400d --yes
ok "purge: nothing is so old" all exits 5 ';' one_sentence ';' warns "no archived event was closed 400d ago"
run purge "${archived[@]}" --older-than 90d </dev/null
ok "purge asks" all exits 4 ';' one_sentence ';' warns "--confirm 299"
at_terminal $'y\n' purge "${archived[@]}" --older-than 90d
ok "purge wants the number at a terminal" all exits 4 ';' says "type 299 to confirm" ';' says "nothing was changed"
at_terminal $'299\n' purge "${archived[@]}" --older-than 90d
ok "and takes it" all exits 0 ';' says "deleted 299"
run purge "${archived[@]}" --older-than 5d --without-archive --dry-run --json
ok "purge without archive, dry" all exits 0 ';' json 'rows[0]["deleted"] == rows[0]["total"] == 50'
run purge "${archived[@]}" --older-than 5d --without-archive --yes --json
ok "purge without archive" all exits 0 ';' json 'rows[0]["deleted"] == 50 and rows[0]["action"] == "purge"'
ok "only closed events are gone" archive_is "SELECT string_agg(status || ' ' || n, ', ' ORDER BY status) FROM (SELECT status, count(*) AS n FROM dlq_events GROUP BY status) s" "DISCARDED 1, PENDING 654, RESOLVED 1"

# A further table has an archive of its own.
archive_sql "CREATE TABLE pay (LIKE dlq_events INCLUDING ALL); INSERT INTO pay (id, event_id, event_type, event_payload, error_message, status, resolved_at) SELECT i, 'p' || i, 't', '{}', 'e', 'RESOLVED', '2020-01-01' FROM generate_series(1, 10) i"
run migrate "${archived[@]}" --table pay --quiet
run archive "${archived[@]}" --table pay --older-than 90d --yes --json
ok "a further table's archive" all exits 0 ';' json 'rows[0]["moved"] == 10' ';' archive_is "SELECT (SELECT count(*) FROM archive.redrive_pay) || ' ' || (SELECT count(*) FROM archive.dlq_events_archive)" "10 0"
run restore "${archived[@]}" --table pay --from-archive --filter id:..3 --yes --json
ok "comes back into that table" all exits 0 ';' json 'rows[0]["moved"] == 3' ';' archive_is "SELECT count(*) FROM pay" 3

psql -XAtq "$server dbname=postgres" -c "DROP DATABASE ${database}_archive WITH (FORCE)"
