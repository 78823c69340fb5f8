-- Who decided what no machine could.

ALTER TABLE redrive.chunk ADD COLUMN decided_by name; -- NULL: by its marker, or by a scan
-- In hand elsewhere, under names of another install that nobody here can fence: a scan would prove nothing.
ALTER TABLE redrive.chunk ADD COLUMN needs_person boolean NOT NULL DEFAULT false;
