-- Revisions: events as somebody corrected them, kept beside the contract table. The original is never changed.

CREATE TABLE redrive.revision (
    dlq_id        bigint NOT NULL,
    no            integer NOT NULL, -- from 1; the original is 0 and not kept here
    parent        integer NOT NULL DEFAULT 0, -- the revision it was made from
    -- Whole parts. One that is NULL is as in the original.
    payload       bytea,
    has_key       boolean NOT NULL DEFAULT false, -- the key is set, to `key`: NULL is a null key
    key           bytea,
    header_names  text[],
    header_values bytea[],
    topic         text,
    partition     integer,
    author        name NOT NULL DEFAULT session_user,
    at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    reason        text,
    operation_no  bigint, -- whose recipe wrote it; NULL: a person wrote it
    PRIMARY KEY (dlq_id, no),
    CHECK (no > parent AND parent >= 0),
    CHECK (cardinality(header_names) = cardinality(header_values))
);

---- functions

-- Writes a revision of one pending event, made from revision p_parent, and returns its number. It is refused where somebody else corrected or closed
-- the event meanwhile, and while the event is in an operation that has not ended: what was confirmed there is what was seen there.
CREATE OR REPLACE FUNCTION redrive.event_correct(p_id bigint, p_parent integer, p_payload bytea, p_has_key boolean, p_key bytea,
                                                 p_header_names text[], p_header_values bytea[], p_topic text, p_partition integer, p_reason text)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v record;
    v_busy text;
    v_newest redrive.revision;
    v_no integer;
BEGIN
    PERFORM set_config('synchronous_commit', 'on', true);
    PERFORM FROM redrive.freeze_turn FOR SHARE; -- no freeze runs now (_freeze_lock)
    SELECT e.status, e.resolved_by, e.resolved_at INTO v FROM :"events" e WHERE e.id = p_id LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no event has the id %', p_id USING ERRCODE = 'RD002';
    ELSIF v.status IS DISTINCT FROM 'PENDING' THEN
        RAISE EXCEPTION 'event % is not pending any more (%): only a pending event is corrected', p_id,
            redrive._closed(v.status, v.resolved_by, v.resolved_at) USING ERRCODE = 'RD001';
    END IF;
    SELECT format('%s''s operation %s', redrive._asked_by(o.policy, o.requested_by), o.no) INTO v_busy
      FROM redrive.items_live(ARRAY[p_id]) l JOIN redrive.operation o ON o.no = l.operation_no LIMIT 1;
    IF v_busy IS NOT NULL THEN
        RAISE EXCEPTION 'event % is in %: cancel that operation, or wait until it has ended', p_id, v_busy USING ERRCODE = 'RD001';
    END IF;
    SELECT * INTO v_newest FROM redrive.revision r WHERE r.dlq_id = p_id ORDER BY r.no DESC LIMIT 1;
    v_no := coalesce(v_newest.no, 0) + 1;
    IF v_no <> p_parent + 1 THEN
        RAISE EXCEPTION 'event % was corrected meanwhile: revision % is by %', p_id, v_newest.no, v_newest.author USING ERRCODE = 'RD001';
    END IF;
    INSERT INTO redrive.revision (dlq_id, no, parent, payload, has_key, key, header_names, header_values, topic, partition, reason)
    VALUES (p_id, v_no, p_parent, p_payload, p_has_key, p_key, p_header_names, p_header_values, p_topic, p_partition, p_reason);
    PERFORM redrive._audit('correct', NULL, 1, p_reason,
        format('event %s: revision %s of %s; %s', p_id, v_no, p_parent, redrive._revision_text(p_id, v_no)));
    RETURN v_no;
EXCEPTION WHEN unique_violation THEN -- two at the same moment
    RAISE EXCEPTION 'event % was corrected meanwhile', p_id USING ERRCODE = 'RD001';
END $$;

-- An event that was corrected, sent and returned in another row: the row gets the revisions of the one that was sent, so that the history goes on and
-- the exact bytes are sent again. Not where the row has another payload than what was sent: then it is a new original.
CREATE OR REPLACE FUNCTION redrive._revisions_carry(p_from bigint, p_to bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_sent bytea := (SELECT r.payload FROM redrive.revision r WHERE r.dlq_id = p_from ORDER BY r.no DESC LIMIT 1);
    v_is_same boolean;
BEGIN
    IF v_sent IS NULL THEN
        v_is_same := (SELECT e.event_payload FROM :"events" e WHERE e.id = p_to) = (SELECT e.event_payload FROM :"events" e WHERE e.id = p_from);
    ELSE
        v_is_same := (redrive.same_json(ARRAY[p_to], ARRAY[v_sent]))[1];
    END IF;
    IF v_is_same AND NOT EXISTS (SELECT FROM redrive.revision r WHERE r.dlq_id = p_to) THEN
        INSERT INTO redrive.revision (dlq_id, no, parent, payload, has_key, key, header_names, header_values, topic, partition, author, at, reason,
                                      operation_no)
        SELECT p_to, r.no, r.parent, r.payload, r.has_key, r.key, r.header_names, r.header_values, r.topic, r.partition, r.author, r.at, r.reason,
               r.operation_no
          FROM redrive.revision r WHERE r.dlq_id = p_from
        ON CONFLICT DO NOTHING;
    END IF;
END $$;

-- What a revision replaces, for the audit.
CREATE OR REPLACE FUNCTION redrive._revision_text(p_id bigint, p_no integer) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT coalesce(nullif(concat_ws(', ', format('payload of %s bytes', octet_length(r.payload)) || CASE WHEN r.payload IS NULL THEN NULL ELSE '' END,
                                     CASE WHEN r.has_key THEN 'key' END,
                                     format('%s headers', cardinality(r.header_names)) || CASE WHEN r.header_names IS NULL THEN NULL ELSE '' END,
                                     'topic ' || r.topic, 'partition ' || r.partition), ''), 'as the original')
      FROM redrive.revision r WHERE r.dlq_id = p_id AND r.no = p_no;
$$;
