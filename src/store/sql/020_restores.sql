-- From here on every restore says what it takes back, also one that was asked for by command.

COMMENT ON COLUMN redrive.operation.undoes IS 'of a restore: the newest discard of which it leaves nothing discarded';
