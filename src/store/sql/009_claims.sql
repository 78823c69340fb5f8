-- A claim writes its chunk and no longer every item of it: what a chunk has in hand stands in chunk.event_ids alone until it settles. Items
-- that an earlier version claimed say 'claimed' themselves and are settled like the others.

ALTER TABLE redrive.operation_item DROP COLUMN chunk_id;

DROP FUNCTION IF EXISTS redrive._items_pick(bigint, bigint, bigint);
DROP FUNCTION IF EXISTS redrive._items_pick_around(bigint, integer[], integer);
DROP FUNCTION IF EXISTS redrive._items_measure(bigint[], bigint);
