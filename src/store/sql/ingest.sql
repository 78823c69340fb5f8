-- Dead letters that `redrive ingest` takes in from topics of Kafka: who reads which partition, how far, and what could not be read.
--
-- PostgreSQL decides. The records of a chunk, their events and the partitions' new positions are one transaction (ingest_take, or ingest_take_new). A
-- position is moved by its holder alone, and only from where the chunk began: an ingester that was frozen, and whose partitions another one has taken
-- meanwhile, writes nothing. The same record twice would need the same position twice; the unique index of redrive.record is the second lock on that
-- door.
--
-- A topic that was deleted and made anew begins at offset 0 again. Its partitions get another generation each, so that an offset may occur again.

-- Ingesters that live. A row goes when its ingester ends, or when another one finds that it has not been seen for 15 s.
CREATE TABLE redrive.ingester (
    no         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fence      bigint NOT NULL, -- known to nobody else
    cluster    text NOT NULL,
    who        name NOT NULL DEFAULT session_user,
    host       text NOT NULL,
    pid        integer NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    topics     text[] NOT NULL DEFAULT '{}' -- that it reads, alone or with others; none before its first ingest_claim
) WITH (fillfactor = 50);

CREATE TABLE redrive.ingest_position (
    cluster     text NOT NULL,
    topic       text NOT NULL,
    partition   integer NOT NULL,
    generation  integer NOT NULL DEFAULT 0,
    next_offset bigint, -- NULL: nothing was read yet; begins where the partition begins
    last_offset bigint, -- of the record that was taken in last; NULL: none since the topic was made
    last_crc32c bigint, -- its redrive.record.crc32c
    end_offset  bigint, -- where the partition ended when Kafka told last; NULL: not known
    taken_at    timestamptz, -- when a record was taken in last
    holder      bigint, -- ingester.no; NULL: free
    PRIMARY KEY (cluster, topic, partition)
) WITH (fillfactor = 50);

-- Further dead letters of an event that has its row and its redrive.record already: it was seen on a retry topic and in the end on the dead letter
-- topic, or was written twice. The columns are those of redrive.record, and what the row of the contract table has for the first one.
CREATE TABLE redrive.attempt (
    dlq_id        bigint NOT NULL,
    cluster       text NOT NULL,
    topic         text NOT NULL,
    partition     integer NOT NULL,
    generation    integer NOT NULL,
    "offset"      bigint NOT NULL,
    "timestamp"   timestamptz,
    key           bytea,
    value         bytea,
    header_names  text[] NOT NULL DEFAULT '{}',
    header_values bytea[] NOT NULL DEFAULT '{}',
    crc32c        bigint NOT NULL,
    format        text NOT NULL,
    consumer      text,
    failed_at     timestamptz,
    error_message text NOT NULL,
    stack_trace   text,
    PRIMARY KEY (cluster, topic, generation, partition, "offset")
);
CREATE INDEX attempt_event ON redrive.attempt (dlq_id);

-- What an operator has to know of, because records may be missing.
CREATE TABLE redrive.alarm (
    no           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    what         text NOT NULL CHECK (what IN ('hole', 'topic made anew', 'end fell back', 'unfit')),
    cluster      text NOT NULL,
    topic        text NOT NULL,
    partition    integer NOT NULL,
    generation   integer NOT NULL, -- that the offsets are of
    first_offset bigint NOT NULL,  -- the records from here
    last_offset  bigint,           -- to here were never seen, or are in redrive.unfit; NULL: nobody knows how many they were
    sentence     text NOT NULL
);
CREATE INDEX alarm_at ON redrive.alarm (at);

---- functions

-- One row. Its lock and that of the table are taken by whoever makes events of letters (_ingest_is_alone, _ingest_exclude). Only our own functions may
-- take them: an advisory lock could be taken and kept by any login, and then nobody would ingest.
CREATE TABLE IF NOT EXISTS redrive.ingest_turn (one boolean PRIMARY KEY DEFAULT true CHECK (one));
INSERT INTO redrive.ingest_turn DEFAULT VALUES ON CONFLICT DO NOTHING;

-- Registers an ingester. The fence goes with each of its calls.
CREATE OR REPLACE FUNCTION redrive.ingest_begin(p_cluster text, p_host text, p_pid integer, OUT no bigint, OUT fence bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._mapped_refuse('dead letters of topics go into another table');
    IF coalesce(p_cluster, '') !~ '^[A-Za-z0-9_-]{1,63}$' THEN
        RAISE EXCEPTION 'an ingester reads one cluster, whose id has letters, digits, _ and -' USING ERRCODE = 'RD004';
    END IF;
    INSERT INTO redrive.ingester AS i (fence, cluster, host, pid)
    VALUES (('x' || left(replace(gen_random_uuid()::text, '-', ''), 12))::bit(48)::bigint, p_cluster, left(p_host, 255), p_pid)
    RETURNING i.no, i.fence INTO no, fence;
END $$;

-- Lets no other session take the partitions of this ingester until the transaction ends. Fails where they are taken already. Nothing else of this
-- ingester runs meanwhile.
CREATE OR REPLACE FUNCTION redrive._ingest_hold(p_no bigint, p_fence bigint) RETURNS redrive.ingester
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.ingester;
BEGIN
    SELECT * INTO v FROM redrive.ingester i WHERE i.no = p_no AND i.fence = p_fence AND i.who = session_user FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'this ingester was away for too long, and another one may read its partitions now' USING ERRCODE = 'RD001';
    END IF;
    RETURN v;
END $$;

-- The same for what writes letters of some of the partitions: other partitions of this ingester may be written by another of its sessions meanwhile,
-- since each moves its own rows of ingest_position.
CREATE OR REPLACE FUNCTION redrive._ingest_hold_beside(p_no bigint, p_fence bigint) RETURNS redrive.ingester
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v redrive.ingester;
BEGIN
    SELECT * INTO v FROM redrive.ingester i WHERE i.no = p_no AND i.fence = p_fence AND i.who = session_user FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'this ingester was away for too long, and another one may read its partitions now' USING ERRCODE = 'RD001';
    END IF;
    RETURN v;
END $$;

-- Does no other ingester live? None begins to read until the transaction ends (ingest_claim), and no letters are imported (import_take).
-- A program that stands still before its commit is in the way of both for ten seconds.
CREATE OR REPLACE FUNCTION redrive._ingest_is_alone(p_no bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM set_config('idle_in_transaction_session_timeout', '10s', true);
    LOCK TABLE redrive.ingest_turn IN ROW EXCLUSIVE MODE;
    RETURN NOT EXISTS (SELECT FROM redrive.ingester i WHERE i.no <> p_no);
END $$;

-- Lets no other ingester make events until the transaction ends. Two that have letters of one event, each in a partition of its own, would each find
-- that there is no such event yet, and make one.
CREATE OR REPLACE FUNCTION redrive._ingest_exclude() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM FROM redrive.ingest_turn FOR UPDATE;
END $$;

-- To be called before letters are compared with the events that are there.
CREATE OR REPLACE FUNCTION redrive._ingest_exclude_others(p_no bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF NOT redrive._ingest_is_alone(p_no) THEN
        PERFORM redrive._ingest_exclude();
    END IF;
END $$;

-- A sign of life at the end of what was long. Where another session of this ingester writes too, it is given with the next claim: to wait for that
-- one, which may wait for us, would be a deadlock.
CREATE OR REPLACE FUNCTION redrive._ingest_seen(p_no bigint) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, redrive, pg_temp AS $$
    UPDATE redrive.ingester i SET seen_at = clock_timestamp()
     WHERE i.no = (SELECT k.no FROM redrive.ingester k WHERE k.no = p_no FOR UPDATE SKIP LOCKED);
$$;

-- Frees what ingesters hold that have not been seen for 15 s. One that is in a transaction of its own is left to it.
CREATE OR REPLACE FUNCTION redrive._ingest_bury(p_but bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_dead bigint[];
BEGIN
    WITH dead AS (SELECT i.no FROM redrive.ingester i WHERE i.no <> p_but AND i.seen_at < clock_timestamp() - interval '15 s'
                   ORDER BY i.no FOR UPDATE SKIP LOCKED),
    gone AS (DELETE FROM redrive.ingester i USING dead d WHERE i.no = d.no RETURNING i.no)
    SELECT array_agg(g.no) INTO v_dead FROM gone g;
    IF v_dead IS NOT NULL THEN
        UPDATE redrive.ingest_position p SET holder = NULL WHERE p.holder = ANY (v_dead);
    END IF;
END $$;

-- Shows that this ingester lives, and returns the partitions that it reads from now on: of these topics, with so many partitions each, its share
-- among the ingesters that read the same topics. What it had and does not get again, another one may read at once.
CREATE OR REPLACE FUNCTION redrive.ingest_claim(p_no bigint, p_fence bigint, p_topics text[], p_partitions integer[])
RETURNS TABLE (topic text, partition integer, generation integer, next_offset bigint, last_offset bigint, last_crc32c bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.ingester := redrive._ingest_hold(p_no, p_fence);
    v_shared record; -- topics with the same readers, and how many of their partitions are each reader's share
    v_mine bigint;
BEGIN
    IF v.topics = '{}' THEN -- letters that are being written were begun by whoever did not know of this ingester (_ingest_is_alone)
        LOCK TABLE redrive.ingest_turn IN SHARE ROW EXCLUSIVE MODE;
    END IF;
    UPDATE redrive.ingester i SET seen_at = clock_timestamp() WHERE i.no = p_no;
    UPDATE redrive.ingester i SET topics = p_topics WHERE i.no = p_no AND i.topics <> p_topics;
    PERFORM redrive._ingest_bury(p_no);
    INSERT INTO redrive.ingest_position (cluster, topic, partition)
    SELECT v.cluster, w.topic, n FROM unnest(p_topics, p_partitions) AS w (topic, partitions), generate_series(0, least(w.partitions, 100000) - 1) AS n
     WHERE w.topic ~ '^[A-Za-z0-9._-]{1,249}$'
       AND NOT EXISTS (SELECT FROM redrive.ingest_position p WHERE p.cluster = v.cluster AND p.topic = w.topic AND p.partition = n)
    ON CONFLICT DO NOTHING;
    UPDATE redrive.ingest_position p SET holder = NULL -- its topic was deleted, or is none of ours any more
     WHERE p.holder = p_no AND NOT EXISTS (SELECT FROM unnest(p_topics, p_partitions) AS w (topic, partitions)
                                            WHERE w.topic = p.topic AND w.partitions > p.partition);
    -- Shares are of topics with the same readers: whoever does not read a topic must not be left a share of it, which nobody would read.
    FOR v_shared IN
        SELECT array_agg(w.topic) AS topics, ceil(sum(w.partitions)::numeric / cardinality(w.readers))::bigint AS fair
          FROM (SELECT u.topic, u.partitions,
                       ARRAY(SELECT i.no FROM redrive.ingester i WHERE i.cluster = v.cluster AND u.topic = ANY (i.topics) ORDER BY i.no) AS readers
                  FROM unnest(p_topics, p_partitions) AS u (topic, partitions)) w
         GROUP BY w.readers
    LOOP
        SELECT count(*) INTO v_mine FROM redrive.ingest_position p WHERE p.holder = p_no AND p.topic = ANY (v_shared.topics);
        IF v_mine > v_shared.fair THEN
            UPDATE redrive.ingest_position p SET holder = NULL
             WHERE (p.cluster, p.topic, p.partition) IN (SELECT q.cluster, q.topic, q.partition FROM redrive.ingest_position q
                                                          WHERE q.holder = p_no AND q.topic = ANY (v_shared.topics)
                                                          ORDER BY q.topic DESC, q.partition DESC LIMIT v_mine - v_shared.fair);
        ELSIF v_mine < v_shared.fair THEN
            UPDATE redrive.ingest_position p SET holder = p_no
             WHERE (p.cluster, p.topic, p.partition) IN (
                   SELECT q.cluster, q.topic, q.partition
                     FROM redrive.ingest_position q JOIN unnest(p_topics, p_partitions) AS w (topic, partitions)
                       ON q.topic = w.topic AND q.partition < w.partitions
                    WHERE q.cluster = v.cluster AND q.holder IS NULL AND q.topic = ANY (v_shared.topics)
                    ORDER BY q.topic, q.partition LIMIT v_shared.fair - v_mine FOR UPDATE OF q SKIP LOCKED);
        END IF;
    END LOOP;
    RETURN QUERY SELECT p.topic, p.partition, p.generation, p.next_offset, p.last_offset, p.last_crc32c
                   FROM redrive.ingest_position p WHERE p.holder = p_no ORDER BY p.topic COLLATE "C", p.partition;
END $$;

-- Says where partitions end now, for whoever wants to know how far behind we are.
CREATE OR REPLACE FUNCTION redrive.ingest_ends(p_no bigint, p_fence bigint, p_topics text[], p_partitions integer[], p_ends bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._ingest_hold(p_no, p_fence);
    UPDATE redrive.ingest_position p SET end_offset = w.end_offset
      FROM unnest(p_topics, p_partitions, p_ends) AS w (topic, partition, end_offset)
     WHERE p.holder = p_no AND p.topic = w.topic AND p.partition = w.partition AND p.end_offset IS DISTINCT FROM w.end_offset;
END $$;

-- Ends an ingester: others may read its partitions at once.
CREATE OR REPLACE FUNCTION redrive.ingest_end(p_no bigint, p_fence bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM redrive._ingest_hold(p_no, p_fence);
    UPDATE redrive.ingest_position p SET holder = NULL WHERE p.holder = p_no;
    DELETE FROM redrive.ingester i WHERE i.no = p_no;
END $$;

-- The records from the position to before p_to are gone: an alarm, and the position moves on.
CREATE OR REPLACE FUNCTION redrive.ingest_hole(p_no bigint, p_fence bigint, p_topic text, p_partition integer, p_from bigint, p_to bigint)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.ingester := redrive._ingest_hold(p_no, p_fence);
    v_generation integer;
BEGIN
    UPDATE redrive.ingest_position p SET next_offset = p_to
     WHERE p.cluster = v.cluster AND p.topic = p_topic AND p.partition = p_partition AND p.holder = p_no AND p.next_offset = p_from AND p_to > p_from
    RETURNING p.generation INTO v_generation;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'partition % of % is not at offset % any more', p_partition, p_topic, p_from USING ERRCODE = 'RD001';
    END IF;
    INSERT INTO redrive.alarm (what, cluster, topic, partition, generation, first_offset, last_offset, sentence)
    VALUES ('hole', v.cluster, p_topic, p_partition, v_generation, p_from, p_to - 1,
            format('Kafka removed %s dead letters of %s, partition %s, before redrive read them: offsets %s to %s',
                   redrive._grouped(p_to - p_from), p_topic, p_partition, p_from, p_to - 1));
END $$;

-- The topic was deleted and made anew: an alarm, and the partition begins a generation, at its beginning.
CREATE OR REPLACE FUNCTION redrive.ingest_anew(p_no bigint, p_fence bigint, p_topic text, p_partition integer, p_generation integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.ingester := redrive._ingest_hold(p_no, p_fence);
    v_position redrive.ingest_position;
BEGIN
    SELECT * INTO v_position FROM redrive.ingest_position p
     WHERE p.cluster = v.cluster AND p.topic = p_topic AND p.partition = p_partition AND p.holder = p_no AND p.generation = p_generation FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'partition % of % is not in generation % any more', p_partition, p_topic, p_generation USING ERRCODE = 'RD001';
    END IF;
    UPDATE redrive.ingest_position p
       SET generation = p_generation + 1, next_offset = NULL, last_offset = NULL, last_crc32c = NULL, end_offset = NULL
     WHERE p.cluster = v.cluster AND p.topic = p_topic AND p.partition = p_partition;
    INSERT INTO redrive.alarm (what, cluster, topic, partition, generation, first_offset, sentence)
    VALUES ('topic made anew', v.cluster, p_topic, p_partition, p_generation, coalesce(v_position.next_offset, 0),
            format('the topic %s was deleted and made anew: what its partition %s had from offset %s on was never seen, if there was any',
                   p_topic, p_partition, coalesce(v_position.next_offset, 0)));
END $$;

-- Kafka lost what was read of the partition after p_common, whose record it has still: a leader that was behind took over. An alarm, and a generation that
-- is read from there: what comes now at offsets that occurred before is another record.
CREATE OR REPLACE FUNCTION redrive.ingest_fell_back(p_no bigint, p_fence bigint, p_topic text, p_partition integer, p_generation integer,
                                                    p_common bigint, p_crc bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.ingester := redrive._ingest_hold(p_no, p_fence);
    v_next bigint;
BEGIN
    SELECT p.next_offset INTO v_next FROM redrive.ingest_position p
     WHERE p.cluster = v.cluster AND p.topic = p_topic AND p.partition = p_partition AND p.holder = p_no AND p.generation = p_generation
       AND p.next_offset > p_common AND p_common >= 0 FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'partition % of % is not in generation % any more', p_partition, p_topic, p_generation USING ERRCODE = 'RD001';
    END IF;
    UPDATE redrive.ingest_position p
       SET generation = p_generation + 1, next_offset = p_common + 1, last_offset = p_common, last_crc32c = p_crc, end_offset = NULL
     WHERE p.cluster = v.cluster AND p.topic = p_topic AND p.partition = p_partition;
    INSERT INTO redrive.alarm (what, cluster, topic, partition, generation, first_offset, sentence)
    VALUES ('end fell back', v.cluster, p_topic, p_partition, p_generation, p_common + 1,
            format('Kafka lost records of %s, partition %s, from offset %s on, when a leader that was behind took over: redrive has them up to'
                   ' offset %s, and nobody knows of later ones', p_topic, p_partition, p_common + 1, v_next - 1));
    UPDATE redrive.ingester i SET seen_at = clock_timestamp() WHERE i.no = p_no;
END $$;

-- Makes the table of this session to which records are copied before ingest_take, within the same transaction. It belongs to the schema's owner, so
-- nobody can put a trigger or a view in its place; the session may only insert. What is read of every record several times stands first, in columns of
-- fixed width, and what redrive.record gets before what the event's row gets: PostgreSQL walks along a row to the last column that it needs. A payload that
-- is the value itself is NULL. pglz, the default, takes several times as long for large values; redrive.record gets them as they
-- are compressed here.
CREATE OR REPLACE FUNCTION redrive.ingest_stage(p_no bigint, p_fence bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp SET client_min_messages = error AS $$
BEGIN
    PERFORM redrive._ingest_hold_beside(p_no, p_fence);
    IF to_regclass('pg_temp.redrive_letter') IS NULL THEN
        CREATE TEMPORARY TABLE redrive_letter (
            identity bigint NOT NULL, "offset" bigint NOT NULL, no integer NOT NULL, partition integer NOT NULL, was_sent boolean NOT NULL,
            is_pointer boolean NOT NULL, topic text NOT NULL, "timestamp" timestamptz, key bytea, value bytea, header_names text[] NOT NULL,
            header_values bytea[] NOT NULL, crc32c bigint NOT NULL, format text NOT NULL, consumer text, failed_at timestamptz, schema text,
            decoding text, event_id text NOT NULL, event_type text NOT NULL, source_table text, source_id text, payload text,
            error_message text NOT NULL, stack_trace text, attempts integer, correlation_id uuid, original_topic text,
            original_partition integer, original_offset bigint) ON COMMIT DELETE ROWS;
        IF EXISTS (SELECT FROM pg_settings s WHERE s.name = 'default_toast_compression' AND 'lz4' = ANY (s.enumvals)) THEN
            EXECUTE 'ALTER TABLE pg_temp.redrive_letter ALTER value SET COMPRESSION lz4, ALTER payload SET COMPRESSION lz4'; -- PostgreSQL 13 cannot parse it
        END IF;
        EXECUTE format('GRANT INSERT ON pg_temp.redrive_letter TO %I', session_user);
    END IF;
    PERFORM redrive._ingest_stage_check();
END $$;

CREATE OR REPLACE FUNCTION redrive._ingest_stage_check() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass('pg_temp.redrive_letter') AND c.relkind = 'r'
                      AND c.relowner = (SELECT n.nspowner FROM pg_namespace n WHERE n.nspname = 'redrive')) THEN
        RAISE EXCEPTION 'this session has another table of the name redrive_letter' USING ERRCODE = 'RD003';
    END IF;
END $$;

-- Would PostgreSQL take this text as jsonb?
CREATE OR REPLACE FUNCTION redrive._is_jsonb(p_text text) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
BEGIN
    PERFORM p_text::jsonb;
    RETURN true;
EXCEPTION WHEN data_exception OR program_limit_exceeded OR feature_not_supported THEN
    RETURN false;
END $$;

-- The sequence that numbers the rows of the contract table.
CREATE OR REPLACE FUNCTION redrive._event_sequence() RETURNS regclass
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_sequence regclass;
BEGIN
    SELECT s.oid::regclass INTO v_sequence
      FROM pg_attribute a
      LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
      JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass -- DEFAULT nextval(…)
                       OR d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid
                          AND d.refobjsubid = a.attnum AND d.deptype = 'i' -- an identity column
      JOIN pg_class s ON s.oid IN (d.refobjid, d.objid) AND s.relkind = 'S'
     WHERE a.attrelid = to_regclass(:'events') AND a.attname = 'id' LIMIT 1;
    IF v_sequence IS NULL THEN
        RAISE EXCEPTION 'no sequence numbers the rows of %: redrive cannot add any', :'events' USING ERRCODE = 'RD004';
    END IF;
    RETURN v_sequence;
END $$;

-- How many characters a column of the contract table takes.
CREATE OR REPLACE FUNCTION redrive._event_room(p_column name) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, redrive, pg_temp AS $$
    SELECT CASE WHEN a.atttypid = 'varchar'::regtype AND a.atttypmod > 4 THEN a.atttypmod - 4 ELSE 100000000 END
      FROM pg_attribute a WHERE a.attrelid = to_regclass(:'events') AND a.attname = p_column;
$$;

-- Has any event one of these identities? Mostly none has, and one walk through the index tells it for all of them.
-- Plan: that index, also where nothing is known yet of a table that was empty a moment ago, and one plan for all arrays: to plan for the identities of one
-- takes as long as the walk.
CREATE OR REPLACE FUNCTION redrive._ingest_is_any_known(p_identities bigint[]) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN EXISTS (SELECT FROM redrive.record x WHERE x.identity = ANY (p_identities));
END $$;

-- How many records have one of these identities. With the plan of _ingest_is_any_known.
CREATE OR REPLACE FUNCTION redrive._ingest_known(p_identities bigint[]) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN (SELECT count(*) FROM redrive.record x WHERE x.identity = ANY (p_identities));
END $$;

-- Of each staged record, in their order, the event that it is a further attempt of; 0: it is an event of its own. The event is pending, has the same
-- identity, and is in no operation: what was sent and failed again is an event of its own. -n: of the n-th staged record.
-- Plan: records by identity and events by id, one by one, also where nothing is known yet of tables that were empty a moment ago: OFFSET 0 and the
-- subquery without another condition leave no other index to choose.
CREATE OR REPLACE FUNCTION redrive._ingest_events(p_letters integer) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
DECLARE
    v_of bigint[] := array_fill(0::bigint, ARRAY[p_letters]);
    v_identities bigint[] := ARRAY(SELECT s.identity FROM pg_temp.redrive_letter s GROUP BY s.identity);
    v_room integer;
    v_live bigint[];
    v record;
BEGIN
    IF cardinality(v_identities) < p_letters THEN
        FOR v IN SELECT w.no, w.first FROM (SELECT s.no, s.was_sent, min(s.no) OVER (PARTITION BY s.identity, s.event_id) AS first
                                              FROM pg_temp.redrive_letter s) w WHERE w.first < w.no AND NOT w.was_sent LOOP
            v_of[v.no] := -v.first;
        END LOOP;
    END IF;
    IF NOT redrive._ingest_is_any_known(v_identities) THEN
        RETURN v_of;
    END IF;
    v_room := redrive._event_room('event_id');
    FOR v IN SELECT array_agg(k.no) AS nos, array_agg(k.dlq_id) AS ids
               FROM (SELECT s.no, r.dlq_id, (SELECT e.status = 'PENDING' AND e.event_id = left(s.event_id, v_room)
                                               FROM :"events" e WHERE e.id = r.dlq_id LIMIT 1) AS is_open
                       FROM pg_temp.redrive_letter s
                      CROSS JOIN LATERAL (SELECT x.dlq_id FROM redrive.record x WHERE x.identity = s.identity OFFSET 0) r
                      WHERE NOT s.was_sent) k WHERE k.is_open LOOP
        v_live := ARRAY(SELECT l.dlq_id FROM redrive.items_live(v.ids) AS l);
        FOR i IN 1 .. coalesce(cardinality(v.nos), 0) LOOP
            IF v.ids[i] <> ALL (v_live) THEN
                v_of[v.nos[i]] := greatest(v_of[v.nos[i]], v.ids[i]);
            END IF;
        END LOOP;
    END LOOP;
    RETURN v_of;
END $$;

-- Puts staged records of an event of their own, from p_from to p_to, into the contract table and redrive.record. p_ids: the event of each staged record.
CREATE OR REPLACE FUNCTION redrive._ingest_insert(p_cluster text, p_generations integer[], p_of bigint[], p_ids bigint[], p_from integer, p_to integer)
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v_zone text := (SELECT zone FROM redrive.install);
    v_now timestamptz := clock_timestamp();
    v_id integer := redrive._event_room('event_id');
    v_type integer := redrive._event_room('event_type');
    v_table integer := redrive._event_room('source_table');
    v_source integer := redrive._event_room('source_id');
    v_topic integer := redrive._event_room('kafka_topic');
BEGIN
    INSERT INTO :"events" (id, event_id, event_type, source_table, source_id, event_payload, error_message, stack_trace, retry_count, status,
                           created_at, kafka_offset, kafka_partition, kafka_topic, correlation_id)
    OVERRIDING SYSTEM VALUE
    SELECT p_ids[s.no], left(s.event_id, v_id), left(s.event_type, v_type), left(s.source_table, v_table), left(s.source_id, v_source),
           coalesce(s.payload, convert_from(s.value, 'UTF8'))::jsonb, s.error_message, s.stack_trace, coalesce(s.attempts, 0), 'PENDING',
           (CASE WHEN s.was_sent THEN v_now ELSE least(s."timestamp", v_now) END) AT TIME ZONE v_zone,
           -- A name that was cut would be another topic's.
           CASE WHEN char_length(s.original_topic) <= v_topic THEN s.original_offset END,
           CASE WHEN char_length(s.original_topic) <= v_topic THEN s.original_partition END,
           CASE WHEN char_length(s.original_topic) <= v_topic THEN s.original_topic END, s.correlation_id
      FROM pg_temp.redrive_letter s WHERE p_of[s.no] = 0 AND s.no BETWEEN p_from AND p_to;
    SET CONSTRAINTS ALL IMMEDIATE; -- a deferred one would be checked at the commit, and refuse the whole chunk there
    INSERT INTO redrive.record (dlq_id, cluster, topic, partition, generation, "offset", "timestamp", key, value, header_names, header_values,
                                crc32c, format, consumer, failed_at, identity, schema, decoding)
    SELECT p_ids[s.no], p_cluster, s.topic, s.partition, p_generations[s.no], s."offset", s."timestamp", s.key, s.value, s.header_names,
           s.header_values, s.crc32c, s.format, s.consumer, s.failed_at, s.identity, s.schema, s.decoding
      FROM pg_temp.redrive_letter s WHERE p_of[s.no] = 0 AND s.no BETWEEN p_from AND p_to;
    INSERT INTO redrive.original (dlq_id, cluster, topic, partition, "offset")
    SELECT p_ids[s.no], p_cluster, s.original_topic, s.original_partition, s.original_offset
      FROM pg_temp.redrive_letter s WHERE s.is_pointer AND p_of[s.no] = 0 AND s.no BETWEEN p_from AND p_to;
END $$;

-- In which topic these events were seen last: topics are read beside each other, so the times of their records tell it, and of the same time a
-- topic for retries is the earlier one.
CREATE OR REPLACE FUNCTION redrive._ingest_queues(p_ids bigint[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, redrive, pg_temp AS $$
    UPDATE redrive.record r SET queue = nullif(n.topic, r.topic)
      FROM (SELECT DISTINCT ON (l.dlq_id) l.dlq_id, l.topic
              FROM (SELECT k.dlq_id, k.topic, k."timestamp" FROM redrive.record k WHERE k.dlq_id = ANY (p_ids)
                    UNION ALL SELECT a.dlq_id, a.topic, a."timestamp" FROM redrive.attempt a WHERE a.dlq_id = ANY (p_ids)) l
             ORDER BY l.dlq_id, l."timestamp" DESC NULLS LAST, l.topic ~* 'retry') n
     WHERE r.dlq_id = n.dlq_id AND r.queue IS DISTINCT FROM nullif(n.topic, r.topic)
$$;

-- Puts the other staged records into redrive.attempt, but those of events that are not there (p_unfit).
CREATE OR REPLACE FUNCTION redrive._ingest_attempts(p_cluster text, p_generations integer[], p_of bigint[], p_ids bigint[], p_unfit integer[])
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_attempts bigint;
BEGIN
    INSERT INTO redrive.attempt (dlq_id, cluster, topic, partition, generation, "offset", "timestamp", key, value, header_names, header_values,
                                 crc32c, format, consumer, failed_at, error_message, stack_trace)
    SELECT p_ids[s.no], p_cluster, s.topic, s.partition, p_generations[s.no], s."offset", s."timestamp", s.key, s.value, s.header_names,
           s.header_values, s.crc32c, s.format, s.consumer, s.failed_at, s.error_message, s.stack_trace
      FROM pg_temp.redrive_letter s WHERE p_of[s.no] <> 0 AND s.no <> ALL (p_unfit);
    GET DIAGNOSTICS v_attempts = ROW_COUNT;
    IF v_attempts > 0 THEN
        PERFORM redrive._ingest_queues((SELECT array_agg(DISTINCT p_ids[s.no]) FROM pg_temp.redrive_letter s WHERE p_of[s.no] <> 0));
    END IF;
END $$;

-- Moves each position of this ingester from p_from (-1: nothing was read yet) to p_to. p_last, p_crcs: the last record of each that is taken in; p_last
-- -1: none. Fails where a position is not at p_from, or not ours.
CREATE OR REPLACE FUNCTION redrive._ingest_move(p redrive.ingester, p_topics text[], p_partitions integer[], p_from bigint[], p_to bigint[],
                                                p_last bigint[], p_crcs bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE v_moved integer;
BEGIN
    UPDATE redrive.ingest_position q
       SET next_offset = w.reached, taken_at = CASE WHEN w.last >= 0 THEN clock_timestamp() ELSE q.taken_at END,
           last_offset = CASE WHEN w.last >= 0 THEN w.last ELSE q.last_offset END, last_crc32c = CASE WHEN w.last >= 0 THEN w.crc ELSE q.last_crc32c END
      FROM unnest(p_topics, p_partitions, p_from, p_to, p_last, p_crcs) AS w (topic, partition, began, reached, last, crc)
     WHERE q.cluster = p.cluster AND q.topic = w.topic AND q.partition = w.partition AND q.holder = p.no AND coalesce(q.next_offset, -1) = w.began
       AND w.reached > w.began AND w.last < w.reached;
    GET DIAGNOSTICS v_moved = ROW_COUNT;
    IF v_moved <> cardinality(p_topics) THEN
        RAISE EXCEPTION 'another ingester has read on from these positions' USING ERRCODE = 'RD001';
    END IF;
END $$;

-- Takes in what this transaction copied to the stage: events, records, and the positions (_ingest_move), or nothing. Records that are staged belong to
-- these partitions and lie between p_from and p_to; `no` counts them from 1. unfit: so many of them the contract table refuses (unfit.sql).
CREATE OR REPLACE FUNCTION redrive.ingest_take(p_no bigint, p_fence bigint, p_topics text[], p_partitions integer[], p_from bigint[], p_to bigint[],
                                               p_last bigint[], p_crcs bigint[], OUT events bigint, OUT attempts bigint, OUT unfit bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, redrive, pg_temp AS $$
DECLARE
    v redrive.ingester := redrive._ingest_hold_beside(p_no, p_fence);
    v_moved integer;
    v_oldest integer;
    v_newest integer;
    v_generations integer[]; -- of each staged record
BEGIN
    PERFORM redrive._ingest_stage_check();
    PERFORM redrive._ingest_exclude_others(p_no);
    PERFORM redrive._ingest_move(v, p_topics, p_partitions, p_from, p_to, p_last, p_crcs);
    SELECT coalesce(sum(g.records), 0), min(p.generation), max(p.generation) INTO v_moved, v_oldest, v_newest
      FROM (SELECT s.topic, s.partition, count(*) AS records, min(s."offset") AS low, max(s."offset") AS high
              FROM pg_temp.redrive_letter s GROUP BY s.topic, s.partition) g
      JOIN unnest(p_topics, p_partitions, p_from, p_to) AS w (topic, partition, began, reached)
        ON g.topic = w.topic AND g.partition = w.partition AND g.low >= w.began AND g.high < w.reached
      JOIN redrive.ingest_position p ON p.cluster = v.cluster AND p.topic = g.topic AND p.partition = g.partition;
    IF (v_moved, v_moved) IS DISTINCT FROM (SELECT (count(*)::integer, coalesce(max(s.no), 0)) FROM pg_temp.redrive_letter s) THEN
        RAISE EXCEPTION 'a staged record is outside the chunk that is taken in' USING ERRCODE = 'RD004';
    END IF;
    v_generations := CASE WHEN v_oldest IS NOT DISTINCT FROM v_newest THEN array_fill(v_newest, ARRAY[v_moved])
                          ELSE ARRAY(SELECT p.generation FROM pg_temp.redrive_letter s JOIN redrive.ingest_position p
                                         ON p.cluster = v.cluster AND p.topic = s.topic AND p.partition = s.partition ORDER BY s.no) END;
    SELECT t.events, t.attempts, t.unfit INTO events, attempts, unfit
      FROM redrive._ingest_put(v.cluster, v_generations, redrive._ingest_events(v_moved)) t;
    PERFORM redrive._ingest_seen(p_no);
END $$;
