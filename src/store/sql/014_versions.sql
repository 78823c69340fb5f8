-- Which version of its row an event was counted from, so that a column that somebody changes in a pending row is seen without reading it.

-- The row's xmin: another one once anybody wrote to it. 0: not noted, of the first count; then any that is not older than the mark may be new.
ALTER TABLE redrive.backlog_event ADD COLUMN version xid NOT NULL DEFAULT '0';
ALTER TABLE redrive.backlog_state
    ADD COLUMN mark    xid, -- when the first count began nobody had written anything later; NULL: not known
    ADD COLUMN unswept bigint NOT NULL DEFAULT 0; -- nobody kept the sums for a while: at and below this id all is to be compared; 0: done

DROP FUNCTION IF EXISTS redrive.backlog_claim(text, integer, text, integer);
DROP FUNCTION IF EXISTS redrive.backlog_add(text, bigint[], integer[], integer[], integer[], bigint);
DROP FUNCTION IF EXISTS redrive.backlog_settle(text);
DROP FUNCTION IF EXISTS redrive.backlog_compare(text, bigint, bigint);
