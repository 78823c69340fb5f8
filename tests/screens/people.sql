-- What people said about some groups of the backlog: by the keys that the built-in rules give.
INSERT INTO redrive.group_care (group_key, taken_by, taken_at, taken_until, note, noted_by, noted_at, snoozed_by, snoozed_at, snoozed_until,
                                snoozed_above, changed)
VALUES -- SocketTimeoutException
       (('x1beee443fda90ab8')::bit(64)::bigint, 'anna', '2026-11-20 13:50:11Z', '2026-11-20 16:30:00Z', 'looking at the schema', 'anna',
        '2026-11-20 13:50:11Z', NULL, NULL, NULL, NULL, 1),
       -- JsonMappingException: may wait
       (('xa3d289d06166b303')::bit(64)::bigint, NULL, NULL, NULL, NULL, NULL, NULL, 'ben', '2026-11-20 13:00:00Z', '2026-11-20 18:00:00Z', 8800, 2),
       -- ValidationError: nobody has it any more
       (('x446567cb34d0077a')::bit(64)::bigint, 'ben', '2026-11-20 03:00:00Z', '2026-11-20 11:00:00Z', E'ask the shop\e]52;c;aGk=\a first', 'ben',
        '2026-11-18 14:02:11Z', NULL, NULL, NULL, NULL, 3);
