-- Marks of blocks that were published lately, not in the index yet: three entries for each event cost a third of what closing the event does.
-- Whoever looks for marks looks here as well, which takes time by how many there are: so there are never many (_marks_add), and whoever has time
-- moves them on (work_index_marks).
CREATE TABLE redrive.operation_mark_new (
    operation_no bigint NOT NULL,
    no           integer NOT NULL,
    marks        integer[] NOT NULL,
    PRIMARY KEY (operation_no, no),
    FOREIGN KEY (operation_no, no) REFERENCES redrive.operation_block ON DELETE CASCADE
);
ALTER TABLE redrive.operation_mark_new ALTER marks SET STORAGE EXTERNAL;

DROP FUNCTION IF EXISTS redrive.items_sent(text[]);
DROP FUNCTION IF EXISTS redrive._blocks_marked(integer[]);

-- Lists of ids, written once and read once: to compress them costs more than it saves.
ALTER TABLE redrive.chunk ALTER event_ids SET STORAGE EXTERNAL;
ALTER TABLE redrive.backlog_due ALTER ids SET STORAGE EXTERNAL;
