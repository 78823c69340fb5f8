-- The backlog in sums: what the list of groups is made of, so that nobody counts a million events to see forty groups.
--
-- backlog_event says for each pending event which cell it is counted in; a cell is group × event type × source table × topic. Sums per cell are
-- only ever appended to (a slice of arrivals: +n, a slice of closed ones: -n) and folded now and then, so no two writers meet at a row. What is
-- derived from the contract table is not logged: after a crash of the server it is empty and counted anew, standbys are spared it.
--
-- Times are whole seconds, hours, or slots of 10 s since 2000-01-01 UTC; 0: absent.

CREATE TABLE redrive.backlog_group (
    key         bigint PRIMARY KEY, -- the fingerprint, its 64 bits
    error_class text,
    pattern     text NOT NULL,
    sample      text NOT NULL,
    frame       text,
    known_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE redrive.backlog_cell (
    no           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    group_key    bigint NOT NULL,
    event_type   text NOT NULL, -- '' where absent, as below
    source_table text NOT NULL,
    topic        text NOT NULL,
    UNIQUE (group_key, event_type, source_table, topic)
);

CREATE UNLOGGED TABLE redrive.backlog_event (
    id      bigint PRIMARY KEY,
    cell    integer NOT NULL,
    created integer NOT NULL,
    retries smallint NOT NULL
);
CREATE INDEX backlog_event_cell ON redrive.backlog_event (cell, created, id);

CREATE UNLOGGED TABLE redrive.backlog_total (cell integer NOT NULL, retries smallint NOT NULL, n bigint NOT NULL);
CREATE UNLOGGED TABLE redrive.backlog_hour (cell integer NOT NULL, hour integer NOT NULL, n bigint NOT NULL);
CREATE UNLOGGED TABLE redrive.backlog_slot (cell integer NOT NULL, slot integer NOT NULL, n bigint NOT NULL); -- of the last hour only

-- Events whose status we changed ourselves, in the transaction that did: still in the sums until the keeper has looked at them; readers take
-- them into account.
CREATE UNLOGGED TABLE redrive.backlog_due (ids bigint[] NOT NULL);

-- One row, of whoever keeps the sums; only keepers lock it.
CREATE UNLOGGED TABLE redrive.backlog_state (
    one          boolean PRIMARY KEY DEFAULT true CHECK (one),
    version      integer NOT NULL,  -- of the fingerprint
    zone         text NOT NULL,
    low          bigint NOT NULL,   -- ids above it, up to high, were looked at; 0: all up to high
    high         bigint NOT NULL,
    slots_from   integer NOT NULL,  -- arrivals since this slot are counted by slot
    keeper       text,
    keeper_until timestamptz NOT NULL DEFAULT '-infinity',
    behind       bigint NOT NULL DEFAULT 0, -- pending events that were not counted yet when it was checked last
    checked_at   timestamptz,
    exact_at     timestamptz,       -- when sums and table were last seen to agree
    changed      bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);
