-- The first count in two strides: the sums first, since they are what people wait for, then backlog_event, whose indexes cost twice as much.

-- What is in the sums already and not in backlog_event yet: a slice of events a row. backlog_fill makes it, backlog_list moves it; ids ascending.
-- The slices are what a keeper that is killed leaves to the next one. first, last, newest: as backlog_event would tell them of each cell.
CREATE UNLOGGED TABLE redrive.backlog_slice (
    low     bigint PRIMARY KEY, -- the slice lies above it
    ids     bigint[] NOT NULL,
    cells   integer[] NOT NULL,
    created integer[] NOT NULL,
    retries integer[] NOT NULL,
    bounded integer[] NOT NULL, -- the cells of it
    first   integer[] NOT NULL, -- the earliest created of each, 0: absent
    last    integer[] NOT NULL,
    newest  bigint[] NOT NULL   -- the highest id of those created last
);
ALTER TABLE redrive.backlog_slice ALTER ids SET STORAGE EXTERNAL, ALTER cells SET STORAGE EXTERNAL,
                                  ALTER created SET STORAGE EXTERNAL, ALTER retries SET STORAGE EXTERNAL;

DROP FUNCTION IF EXISTS redrive.backlog_fill(text, bigint[], integer[], integer[], integer[], integer[], integer[], integer[], bigint, bigint);
