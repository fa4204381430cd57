-- What the store knows of itself: 'key' keys the tombstones, 'scrub' is there while deleted bytes may still be in the file.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta (key, value) VALUES ('key', randomblob(32));

-- What was deleted for good, without saying what it was: a keyed hash, and the unix milliseconds up to which, or of
-- what, it was forgotten.
CREATE TABLE tombstones (
  hash  BLOB NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (hash, until)
) STRICT, WITHOUT ROWID;

-- Words that were forgotten wherever they stood: hash of the lower-case bytes, a rolling hash to look for them, their length.
CREATE TABLE forgotten_texts (
  hash    BLOB NOT NULL PRIMARY KEY,
  rolling INTEGER NOT NULL,
  length  INTEGER NOT NULL,
  until   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Notes are few, and every search asks which of them were replaced.
CREATE INDEX entries_notes ON entries (time) WHERE kind = 'note';
