-- After operations.sql: the chunk of operation 41 is in doubt, and a slot without a chunk is suspended.
\set ON_ERROR_STOP on
SET timezone = 'UTC';

INSERT INTO redrive.slot (cluster, no, txn_id, next_seq, finished_id, is_provisioned, is_suspended, note)
SELECT 'acme', n, 'redrive.fixture.acme.' || n, 9, i.id, true, true,
       CASE n WHEN 2 THEN 'the marker is gone from Kafka; found 3 of 7 records, but not everything could be read: payments/1 begins at offset 90,001'
              ELSE 'the marker of redrive.fixture.acme.5 is (4, of somebody else), it should be (9, of the chunk before)' END
  FROM redrive.install i, unnest(ARRAY[2, 5]) AS n;
INSERT INTO redrive.chunk (id, cluster, slot, seq, fence, operation_no, state, events, dlq_ids, sources, created_at, decided_at, evidence)
SELECT '3f2a91c0-0000-4000-8000-000000000041', 'acme', 2, 9, 0, 41, 'in doubt', 7, ARRAY(SELECT generate_series(1424, 1430)), '{}',
       '2026-11-20 14:02:03Z', '2026-11-20 14:02:09Z', note
  FROM redrive.slot WHERE cluster = 'acme' AND no = 2;
UPDATE redrive.operation_item SET state = 'in doubt', detail = 'the marker is gone from Kafka'
 WHERE operation_no = 41 AND state = 'claimed';
UPDATE redrive.operation SET claimed = 0, in_doubt = 7 WHERE no = 41;
