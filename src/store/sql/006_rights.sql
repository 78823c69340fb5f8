-- Who decided what no machine could.

ALTER TABLE redrive.chunk ADD COLUMN decided_by name; -- NULL: by its marker, or by a scan
