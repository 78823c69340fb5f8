-- Tables, as the first installed version had them: the schema, who this install is, the audit, operations, slots.
--
-- Everything redrive needs lives here. Nothing refers to the contract table but bodies of functions, which PostgreSQL binds when they run:
-- no trigger, foreign key or index on it, so its owner may alter it, partition it or rename it back and forth.
--
-- Words: what the program puts in before it runs this: the contract table's quoted name, the same as plain text, and the time zone
-- that its `timestamp` columns are written in.
--
-- Rights: all changes go through functions that run with the rights of the schema's owner (SECURITY DEFINER). The owner needs
--     GRANT USAGE ON SCHEMA <its schema> TO <owner>;
--     GRANT SELECT, UPDATE ON <contract table> TO <owner>;
-- and nobody else needs UPDATE on it. What a person or a worker needs: redrive.grants(<role>) prints it.

CREATE SCHEMA IF NOT EXISTS redrive;

CREATE TABLE redrive.schema_version (
    version integer PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    who     name NOT NULL DEFAULT session_user
);

-- One row. Its id and the server's system identifier stand for this database in every Kafka name, so that a restored copy cannot fence
-- the original by accident.
CREATE TABLE redrive.install (
    one               boolean PRIMARY KEY DEFAULT true CHECK (one),
    id                uuid NOT NULL DEFAULT gen_random_uuid(),
    system_identifier bigint, -- NULL: the server does not tell it to this owner
    source_table      text NOT NULL,
    zone              text NOT NULL CHECK ((timestamptz '2000-01-01 00:00:00Z' AT TIME ZONE zone) IS NOT NULL),
    created_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE redrive.audit (
    no           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    who          name NOT NULL DEFAULT session_user,
    host         text NOT NULL DEFAULT coalesce(host(inet_client_addr()), 'local'),
    program      text DEFAULT current_setting('application_name', true),
    pid          integer NOT NULL DEFAULT pg_backend_pid(),
    action       text NOT NULL,
    operation_no bigint,
    events       bigint NOT NULL DEFAULT 0,
    reason       text,
    detail       text
);
CREATE INDEX audit_operation ON redrive.audit (operation_no, no) WHERE operation_no IS NOT NULL;

CREATE FUNCTION redrive._audit_is_final() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the audit is written once: % is refused', TG_OP USING ERRCODE = 'RD003';
END $$;
CREATE TRIGGER audit_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON redrive.audit
    FOR EACH STATEMENT EXECUTE FUNCTION redrive._audit_is_final();
ALTER TABLE redrive.audit ENABLE ALWAYS TRIGGER audit_is_final;

CREATE SEQUENCE redrive.change; -- a new number for each change of an operation

CREATE TABLE redrive.operation (
    no            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key           uuid NOT NULL UNIQUE, -- made by the asker: asked twice, made once
    action        text NOT NULL CHECK (action IN ('reprocess', 'resolve', 'discard', 'restore', 'correct')),
    state         text NOT NULL DEFAULT 'freezing' CHECK (state IN ('freezing', 'awaiting approval', 'frozen', 'running',
                                                                    'paused', 'done', 'cancelled', 'halted')),
    is_cancelling boolean NOT NULL DEFAULT false, -- the rest is cancelled; what is in hand is settled first
    requested_by  name NOT NULL DEFAULT session_user,
    host          text NOT NULL DEFAULT coalesce(host(inet_client_addr()), 'local'),
    approved_by   name,
    scope         text NOT NULL,
    filter_text   text,
    group_key     text,
    reason        text,
    target_topic  text,
    rate          integer NOT NULL DEFAULT -1 CHECK (rate >= -1), -- events/s; 0 paused; -1 without limit
    total         bigint NOT NULL DEFAULT 0,
    queued        bigint NOT NULL DEFAULT 0 CHECK (queued >= 0),
    claimed       bigint NOT NULL DEFAULT 0 CHECK (claimed >= 0),
    held          bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
    done          bigint NOT NULL DEFAULT 0,
    refused       bigint NOT NULL DEFAULT 0,
    conflict      bigint NOT NULL DEFAULT 0,
    cancelled     bigint NOT NULL DEFAULT 0,
    came_back     bigint NOT NULL DEFAULT 0,
    worker        text,
    state_note    text,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at    timestamptz,
    finished_at   timestamptz,
    changed       bigint NOT NULL DEFAULT nextval('redrive.change')
) WITH (fillfactor = 50);
CREATE INDEX operation_live ON redrive.operation (no) WHERE state NOT IN ('done', 'cancelled');

-- One row for each event of an operation: what was confirmed, and what became of it. Written by functions only, so it has no foreign key
-- (a check per row would cost as much as the row). No index looks at what a claim changes, so a claim rewrites the row in its page and
-- nothing else; that is what the free half of each page is for.
CREATE TABLE redrive.operation_item (
    event_id      bigint NOT NULL, -- id in the contract table
    operation_no  bigint NOT NULL,
    source_offset bigint NOT NULL DEFAULT 0, -- order within the source
    at            timestamptz NOT NULL DEFAULT clock_timestamp(), -- of the last change
    source        integer NOT NULL DEFAULT 0, -- hash of topic and partition; 0: no order to keep
    attempt       integer NOT NULL DEFAULT 0, -- of this event over all operations
    chunk_id      uuid, -- the chunk that claimed it last
    is_live       boolean GENERATED ALWAYS AS (state IN ('queued', 'claimed', 'held')) STORED,
    is_due        boolean GENERATED ALWAYS AS (state IN ('queued', 'claimed', 'held')) STORED, -- the same, for the work list
    state         text NOT NULL DEFAULT 'queued',
    event_key     varchar(50), -- event_id of the contract table; only where the event is to be republished
    detail        text,
    PRIMARY KEY (event_id, operation_no),
    CHECK (state IN ('queued', 'claimed', 'held', 'done', 'refused', 'conflict', 'cancelled'))
) WITH (fillfactor = 60);
-- An event is in at most one live operation. (The work list has a column of its own for its predicate: else the planner looks up an event in
-- it, from end to end, whenever it remembers it as empty.)
CREATE UNIQUE INDEX operation_item_live ON redrive.operation_item (event_id) WHERE is_live;
CREATE INDEX operation_item_work ON redrive.operation_item (operation_no, source, source_offset, event_id) WHERE is_due;
CREATE INDEX operation_item_published ON redrive.operation_item (event_key) WHERE NOT is_live AND event_key IS NOT NULL;
-- Items of an operation lie together: a block range index costs nothing to keep and finds them.
CREATE INDEX operation_item_operation ON redrive.operation_item USING brin (operation_no) WITH (pages_per_range = 32);

CREATE TABLE redrive.cluster (
    name       text PRIMARY KEY,
    promise    text NOT NULL,
    words      text NOT NULL,
    evidence   text NOT NULL,
    checked_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A slot owns a transactional id and the marker group of the same name. Its fence moves at every acquisition.
CREATE TABLE redrive.slot (
    cluster        text NOT NULL,
    no             integer NOT NULL,
    generation     integer NOT NULL DEFAULT 1,
    txn_id         text NOT NULL UNIQUE,
    fence          bigint NOT NULL DEFAULT 0,
    holder         text,
    lease_until    timestamptz NOT NULL DEFAULT '-infinity',
    next_seq       bigint NOT NULL DEFAULT 0, -- last number given out
    settled_seq    bigint NOT NULL DEFAULT 0, -- 0: the provisioning marker
    settled_id     uuid NOT NULL,             -- chunk that settled_seq's marker names; the install id for 0
    is_provisioned boolean NOT NULL DEFAULT false,
    quarantined    boolean NOT NULL DEFAULT false,
    note           text,
    marker_at      timestamptz,
    PRIMARY KEY (cluster, no)
);

CREATE TABLE redrive.chunk (
    id           uuid PRIMARY KEY,
    cluster      text NOT NULL,
    slot         integer NOT NULL,
    seq          bigint NOT NULL,
    fence        bigint NOT NULL,
    operation_no bigint NOT NULL REFERENCES redrive.operation,
    state        text NOT NULL DEFAULT 'claimed' CHECK (state IN ('claimed', 'committed', 'aborted', 'in doubt')),
    events       integer NOT NULL,
    event_ids    bigint[] NOT NULL,  -- what it claimed, ascending
    sources      integer[] NOT NULL, -- whose order it is busy with
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_at   timestamptz,
    evidence     text,
    UNIQUE (cluster, slot, seq),
    FOREIGN KEY (cluster, slot) REFERENCES redrive.slot
);
-- A slot has at most one unfinished chunk, ever.
CREATE UNIQUE INDEX chunk_unfinished ON redrive.chunk (cluster, slot) WHERE state IN ('claimed', 'in doubt');
CREATE INDEX chunk_claimed ON redrive.chunk (operation_no) WHERE state = 'claimed';

CREATE TABLE redrive.revision (
    event_id bigint NOT NULL,
    no       integer NOT NULL,
    payload  bytea NOT NULL,
    author   name NOT NULL DEFAULT session_user,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    reason   text,
    PRIMARY KEY (event_id, no)
);

-- The record an event came from, byte for byte, where redrive read it itself.
CREATE TABLE redrive.record (
    event_id      bigint PRIMARY KEY,
    topic         text NOT NULL,
    partition     integer NOT NULL,
    "offset"      bigint NOT NULL,
    "timestamp"   timestamptz,
    key           bytea,
    value         bytea,
    header_names  text[] NOT NULL DEFAULT '{}',
    header_values bytea[] NOT NULL DEFAULT '{}',
    crc32c        bigint
);

-- Events that returned after they were republished, joined to the operation that did it.
CREATE TABLE redrive.comeback (
    event_id     bigint PRIMARY KEY, -- the row that returned
    operation_no bigint NOT NULL,
    at           timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- How far the contract table was looked through for them. `sure` trails `seen` by ten seconds, for rows that commit out of order.
CREATE TABLE redrive.comeback_watch (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    sure    bigint NOT NULL DEFAULT 0,
    seen    bigint NOT NULL DEFAULT 0,
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO redrive.comeback_watch DEFAULT VALUES;

CREATE TABLE redrive.worker (
    name       text PRIMARY KEY, -- <host>/<pid>/<start>
    publishes  boolean NOT NULL,
    note       text,
    rate       double precision NOT NULL DEFAULT 0,
    who        name NOT NULL DEFAULT session_user,
    host       text NOT NULL DEFAULT coalesce(host(inet_client_addr()), 'local'),
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
