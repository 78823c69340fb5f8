-- Who decided what no machine could.

ALTER TABLE redrive.chunk ADD COLUMN decided_by name; -- NULL: by its marker, or by a scan
-- Where its records go: what is searched when it is in doubt, whatever became of the events since. NULL: claimed before this version.
ALTER TABLE redrive.chunk ADD COLUMN topics text[];
-- In hand elsewhere, under names of another install that nobody here can fence: a scan would prove nothing.
ALTER TABLE redrive.chunk ADD COLUMN needs_person boolean NOT NULL DEFAULT false;
