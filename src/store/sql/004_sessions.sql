-- By which server process a slot's holder is known to be alive: a lost session ends its lease at once.

ALTER TABLE redrive.slot
    ADD COLUMN holder_pid integer, -- NULL: the lease alone tells
    ADD COLUMN holder_since timestamptz; -- backend_start of that process; NULL where the owner may not see it

DROP FUNCTION IF EXISTS redrive.slot_acquire(text, text, integer[], boolean);
