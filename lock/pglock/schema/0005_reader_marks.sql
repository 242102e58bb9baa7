-- Who revoked the grant of a reader, and why; null: nobody did.
ALTER TABLE reader ADD COLUMN mark text;
