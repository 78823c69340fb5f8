-- What a reprocess is frozen as, until it is confirmed in the same transaction: nobody else sees it, and no crash leaves it behind. The events
-- of one source in one slice, in the order of work. Slices come by id, which is nearly always the order of their offsets as well: then pieces
-- only need to be put side by side.
CREATE UNLOGGED TABLE redrive.operation_piece (
    operation_no   bigint NOT NULL,
    source         integer NOT NULL,
    slice          bigint NOT NULL, -- its lowest id
    first_offset   bigint NOT NULL,
    last_offset    bigint NOT NULL,
    is_tangled     boolean NOT NULL, -- an offset is there twice
    events         integer NOT NULL,
    event_ids      bigint[] NOT NULL,
    attempts       integer[], -- NULL: none was tried
    source_offsets bigint[] NOT NULL,
    event_keys     text[] NOT NULL,
    correlations   uuid[] NOT NULL,
    PRIMARY KEY (operation_no, source, slice)
);
ALTER TABLE redrive.operation_piece
    ALTER event_ids SET STORAGE EXTERNAL, ALTER source_offsets SET STORAGE EXTERNAL, ALTER event_keys SET STORAGE EXTERNAL,
    ALTER correlations SET STORAGE EXTERNAL;

-- Nothing is ever left in it: a freeze and its confirmation are one transaction.
DROP TABLE redrive.operation_slice;
DROP FUNCTION IF EXISTS redrive._blocks_sort(bigint);
