-- Steering: canary and ramp, halting by itself, approval, a moment in which an operation can be called back, and what came back.

ALTER TABLE redrive.operation
    ADD COLUMN steps integer[] NOT NULL DEFAULT '{}', -- events of the canary and of each step after it; then the rest
    ADD COLUMN step integer NOT NULL DEFAULT 1 CHECK (step >= 1), -- the one at work; above the number of steps: the rest
    ADD COLUMN settle_for interval NOT NULL DEFAULT '60 s' CHECK (settle_for >= '0 s'), -- what has not come back by then is quiet
    ADD COLUMN settle_until timestamptz, -- the end of the wait after a step
    ADD COLUMN halt_above real CHECK (halt_above BETWEEN 0 AND 100), -- percent refused or back; NULL: never
    ADD COLUMN pardoned bigint NOT NULL DEFAULT 0, -- refused or back when a person let it go on after it had halted
    ADD COLUMN pardoned_of bigint NOT NULL DEFAULT 0, -- out of so many
    ADD COLUMN undo_for interval NOT NULL DEFAULT '0 s', -- from the confirmation to the first send
    ADD COLUMN send_after timestamptz, -- nothing is sent before
    ADD COLUMN approve_above bigint, -- as the asker's settings had it
    DROP CONSTRAINT operation_state_check,
    ADD CONSTRAINT operation_state_check CHECK (state IN ('freezing', 'awaiting approval', 'frozen', 'running', 'waiting', 'paused', 'done',
                                                          'cancelled', 'halted')),
    ADD CONSTRAINT operation_steps_check CHECK (cardinality(steps) <= 16 AND 0 < ALL (steps));

-- Operations above so many events need a second person, whatever the asker's own settings say. Its owner sets it:
--     UPDATE redrive.install SET approve_above = 1000;
ALTER TABLE redrive.install ADD COLUMN approve_above bigint CHECK (approve_above >= 0);

-- By these an event that failed again under another event id is known. Only of what is to be republished, only where the source has them.
ALTER TABLE redrive.operation_item ADD COLUMN correlation uuid;
CREATE INDEX operation_item_correlation ON redrive.operation_item (correlation) WHERE NOT is_live AND correlation IS NOT NULL;
CREATE INDEX operation_item_origin ON redrive.operation_item (source, source_offset) WHERE NOT is_live AND event_key IS NOT NULL AND source <> 0;

CREATE INDEX chunk_decided ON redrive.chunk (operation_no, decided_at) WHERE state = 'committed';

ALTER TABLE redrive.comeback
    ADD COLUMN sent_id bigint, -- the row that was republished
    ADD COLUMN sent_at timestamptz,
    ADD COLUMN times integer NOT NULL DEFAULT 1, -- how often the event has come back by now
    ADD COLUMN known_by text NOT NULL DEFAULT 'event id';
CREATE INDEX comeback_sent ON redrive.comeback (sent_id);
CREATE INDEX comeback_operation ON redrive.comeback (operation_no, sent_at);

DROP FUNCTION IF EXISTS redrive.work_next(text, boolean, bigint[]);
DROP FUNCTION IF EXISTS redrive._items_published(redrive.operation, bigint[]);
DROP FUNCTION IF EXISTS redrive.comebacks_note(bigint);
