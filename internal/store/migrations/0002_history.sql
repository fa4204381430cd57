-- What past sessions and their transcripts add.
ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT '';       -- the client's own, or the user's, name of the session
ALTER TABLE sessions ADD COLUMN model TEXT NOT NULL DEFAULT '';       -- the last one used
ALTER TABLE sessions ADD COLUMN head_commit TEXT NOT NULL DEFAULT ''; -- at the start of the session

ALTER TABLE entries ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE entries ADD COLUMN exit_code INTEGER;                     -- of a shell command; NULL: none
ALTER TABLE entries ADD COLUMN files TEXT NOT NULL DEFAULT '';        -- JSON array of the paths that were edited; empty: none
ALTER TABLE entries ADD COLUMN call_id TEXT NOT NULL DEFAULT '';      -- the same for a tool call and its result; empty: not known
ALTER TABLE entries ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;  -- 1: rewound or withdrawn in the client

-- Bits of the sources that told of an entry: 1 a hook, 2 a transcript, 4 anything else.
ALTER TABLE entries ADD COLUMN sources INTEGER NOT NULL DEFAULT 1;
UPDATE entries SET sources = 2 WHERE kind = 'response';
UPDATE entries SET sources = 4 WHERE kind = 'note';
-- Equal for what two sources tell of one thing (a hash); 0: never told twice; -1: not worked out yet.
ALTER TABLE entries ADD COLUMN match INTEGER NOT NULL DEFAULT -1;
-- With what is compared: the columns behind a long text are slow to read.
CREATE INDEX entries_match ON entries (session_id, match, sources, time) WHERE match <> 0;

-- Other ids of an entry: a source that came later gave it this one.
CREATE TABLE aliases (
  id  TEXT PRIMARY KEY,
  seq INTEGER NOT NULL REFERENCES entries (seq) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_seq ON aliases (seq);

-- Files that were read as a whole, so that they are not read again while they stay the same.
CREATE TABLE transcripts (
  path     TEXT PRIMARY KEY,
  session  TEXT NOT NULL,
  stamp    TEXT NOT NULL, -- size and time of the file when it was read, and how it was read; empty: only looked at
  problems TEXT NOT NULL, -- JSON: what could not be read
  file     TEXT NOT NULL  -- identity and size of the file when it was last looked at
) STRICT, WITHOUT ROWID;

-- Projects under another name: of two that were merged, or of a folder that was moved.
CREATE TABLE project_aliases (
  name    TEXT PRIMARY KEY,
  project TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- What tells that a repository without a remote is one that was known in another folder.
CREATE TABLE project_marks (
  mark    TEXT PRIMARY KEY,
  project TEXT NOT NULL
) STRICT, WITHOUT ROWID;
