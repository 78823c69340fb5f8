-- Which operation a restore takes back, so that nobody is offered to undo what is undone.

ALTER TABLE redrive.operation ADD COLUMN undoes bigint;
CREATE INDEX operation_undoes ON redrive.operation (undoes) WHERE undoes IS NOT NULL;

-- Earlier ones say so in their scope alone.
UPDATE redrive.operation r SET undoes = o.no
  FROM redrive.operation o
 WHERE r.action = 'restore' AND o.action = 'discard' AND o.no::text = substring(r.scope FROM ' of operation ([0-9]+)$');
