-- Who revoked the grant that stands in the row, and why; null: nobody did.
ALTER TABLE lock ADD COLUMN mark text;
