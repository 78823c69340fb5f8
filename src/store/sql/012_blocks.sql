-- Most events of an operation have nothing happen to them that does not happen to their neighbours as well: they are queued, claimed, and done.
-- So they stand many to a row, in the order they are worked off in, and what becomes of all of them is written once. When something happens to
-- one alone (a conflict, a refusal, a chunk smaller than its block), its block is written out as rows of operation_item first. Items of earlier
-- versions are rows already and stay so.
--
-- A source that has many events has blocks of its own; events of small sources share one, which then has all of each. So no two blocks share a
-- source but those of a large one, and order within a source is the order of the blocks.

CREATE TABLE redrive.operation_block (
    operation_no bigint NOT NULL,
    no           integer NOT NULL, -- order of work
    state        text NOT NULL CHECK (state IN ('queued', 'claimed', 'done', 'cancelled')),
    tries        integer NOT NULL DEFAULT 0, -- attempts since the freeze
    at           timestamptz NOT NULL, -- of the last change
    events       integer NOT NULL,
    event_ids    bigint[] NOT NULL,
    busy         integer[] NOT NULL DEFAULT '{}', -- its sources, each once, without 0
    -- Of each event, as in operation_item; NULL: of none.
    attempts       integer[],
    sources        integer[],
    source_offsets bigint[],
    event_keys     text[],
    correlations   uuid[],
    PRIMARY KEY (operation_no, no)
) WITH (fillfactor = 50);
ALTER TABLE redrive.operation_block
    ALTER event_ids SET STORAGE EXTERNAL, ALTER sources SET STORAGE EXTERNAL, ALTER source_offsets SET STORAGE EXTERNAL,
    ALTER event_keys SET STORAGE EXTERNAL, ALTER correlations SET STORAGE EXTERNAL;
-- A block comes with its keys side by side, which is why a list of those that are not sorted in yet would only cost those who search.
CREATE INDEX operation_block_events ON redrive.operation_block USING gin (event_ids) WITH (fastupdate = off);

-- By which the events of a block that was published are found again (_marks). Not in the block itself: no index has a column of that which ever
-- changes, so what becomes of it is written beside it and no index hears of it.
CREATE TABLE redrive.operation_mark (
    operation_no bigint NOT NULL,
    no           integer NOT NULL,
    marks        integer[] NOT NULL,
    PRIMARY KEY (operation_no, no),
    FOREIGN KEY (operation_no, no) REFERENCES redrive.operation_block ON DELETE CASCADE
);
ALTER TABLE redrive.operation_mark ALTER marks SET STORAGE EXTERNAL;
CREATE INDEX operation_mark_marks ON redrive.operation_mark USING gin (marks) WITH (fastupdate = off);

-- What a reprocess is frozen as, until it is confirmed in the same transaction: nobody else sees it, and no crash leaves it behind.
CREATE UNLOGGED TABLE redrive.operation_slice (
    operation_no   bigint NOT NULL,
    event_ids      bigint[] NOT NULL,
    attempts       integer[],
    sources        integer[] NOT NULL,
    source_offsets bigint[] NOT NULL,
    event_keys     text[] NOT NULL,
    correlations   uuid[] NOT NULL
);
ALTER TABLE redrive.operation_slice
    ALTER event_ids SET STORAGE EXTERNAL, ALTER sources SET STORAGE EXTERNAL, ALTER source_offsets SET STORAGE EXTERNAL,
    ALTER event_keys SET STORAGE EXTERNAL, ALTER correlations SET STORAGE EXTERNAL;

ALTER TABLE redrive.chunk ADD COLUMN blocks integer[]; -- it has these in hand, whole; NULL: rows of operation_item
ALTER TABLE redrive.operation ADD COLUMN frozen_to bigint; -- while it is frozen: the highest id so far

-- All items, wherever they stand: to look through an operation with. By event: items_live, items_sent, items_of.
CREATE VIEW redrive.item AS
    SELECT event_id, operation_no, source, source_offset, at, attempt, state, is_live, event_key::text AS event_key, correlation, detail
      FROM redrive.operation_item
    UNION ALL
    SELECT w.event_id, b.operation_no, coalesce(w.source, 0), coalesce(w.source_offset, 0), b.at, b.tries + coalesce(w.attempt, 0), b.state,
           b.state IN ('queued', 'claimed'), w.event_key, w.correlation, NULL
      FROM redrive.operation_block b
     CROSS JOIN LATERAL unnest(b.event_ids, b.attempts, b.sources, b.source_offsets, b.event_keys, b.correlations)
                        AS w (event_id, attempt, source, source_offset, event_key, correlation);

DROP FUNCTION IF EXISTS redrive._items_doubled(bigint);
DROP FUNCTION IF EXISTS redrive._items_published(redrive.operation, bigint[], timestamptz);
DROP FUNCTION IF EXISTS redrive._last_done(bigint);
