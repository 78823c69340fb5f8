-- A database that is not the one that published last: Kafka holds chunks that it does not know.
INSERT INTO redrive.turn (cluster, no, stop, stopped_at, stop_detail) VALUES
    ('acme', 7, 'ahead', '2026-11-20 14:00:00Z',
     'Kafka holds chunks that this database does not know: it was put back to an older state, or it is a copy; ahead in Kafka: slot 3 (redrive.fixture.acme.3) 9 to 12, last chunk 3f2a91c0-0000-4000-8000-000000000041 to payments');
