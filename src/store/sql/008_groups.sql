-- What people decided about single groups, and what became of the events of each.

-- The category that somebody gave to a group; NULL: taken back, the rules decide again. Who decided what before is in the audit.
CREATE TABLE redrive.group_category (
    group_key bigint PRIMARY KEY, -- the fingerprint, its 64 bits
    category  text CHECK (category IN ('transient', 'data', 'system', 'permanent', 'unknown')),
    who       name NOT NULL,
    at        timestamptz NOT NULL,
    reason    text,
    changed   bigint NOT NULL -- of redrive.change: the sum of them all is another one after each decision, in whatever order they commit
);

-- How events of a group left the sums of the backlog, counted since the sums are kept. Appended to and folded as the sums are, but logged: nobody
-- could count it anew.
CREATE TABLE redrive.backlog_outcome (
    group_key bigint NOT NULL,
    outcome   text NOT NULL CHECK (outcome IN ('resolved', 'discarded', 'reprocessed')),
    n         bigint NOT NULL,
    since     timestamptz NOT NULL DEFAULT clock_timestamp() -- of the first that is in n
);
