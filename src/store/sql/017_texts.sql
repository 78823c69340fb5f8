-- The error messages of the pending events once more, compressed by whoever keeps the sums: a screen that searches them reads a sixtieth of the
-- bytes and leaves the contract table alone. Derived, so not logged (007_backlog.sql).

-- A pack holds the messages of all events with ids low … high that are pending, but for those that are stale. core/column_pack.c says how; the database does not look inside.
CREATE UNLOGGED TABLE redrive.backlog_text (
    low   bigint PRIMARY KEY,
    high  bigint NOT NULL,
    n     integer NOT NULL, -- events
    stale bigint[] NOT NULL DEFAULT '{}', -- of these it is not true any more, or never told
    pack  bytea NOT NULL
);
ALTER TABLE redrive.backlog_text ALTER pack SET STORAGE EXTERNAL;

-- Packs are true of what was written before texts_mark (store/event_texts.h, store_change_mark); texts_changes was the count of changes then. NULL:
-- not known yet.
ALTER TABLE redrive.backlog_state
    ADD COLUMN texts_mark    bigint,
    ADD COLUMN texts_changes bigint;
