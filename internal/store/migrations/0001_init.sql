CREATE TABLE sessions (
  id              TEXT PRIMARY KEY,
  project         TEXT NOT NULL,
  cwd             TEXT NOT NULL,
  branch          TEXT NOT NULL,
  client          TEXT NOT NULL,
  started_at      INTEGER NOT NULL, -- unix milliseconds; 0: not known
  ended_at        INTEGER NOT NULL, -- 0: open
  end_reason      TEXT NOT NULL,
  transcript_path TEXT NOT NULL,
  turns           INTEGER NOT NULL,
  entries         INTEGER NOT NULL,
  first_prompt    TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_started ON sessions (started_at);

-- Texts come last: what a search filters by is read without them.
CREATE TABLE entries (
  seq         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  session_id  TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  kind        TEXT NOT NULL,
  turn        INTEGER NOT NULL,
  time        INTEGER NOT NULL, -- unix milliseconds
  tool        TEXT NOT NULL,
  result_type TEXT NOT NULL,
  agent_id    TEXT NOT NULL,
  branch      TEXT NOT NULL,
  project     TEXT NOT NULL,
  cwd         TEXT NOT NULL,
  truncated   INTEGER NOT NULL,
  redacted    INTEGER NOT NULL,
  tool_input  TEXT NOT NULL,    -- JSON; empty: none
  text        TEXT NOT NULL
) STRICT;
CREATE INDEX entries_session ON entries (session_id, time, seq);
CREATE INDEX entries_time ON entries (time);
CREATE INDEX entries_agent ON entries (agent_id) WHERE agent_id <> '';

-- What was deleted for good: an id of an entry, or a session up to a time.
CREATE TABLE forgotten (
  id   TEXT PRIMARY KEY,
  time INTEGER NOT NULL
) STRICT;

-- The rows are entries.seq; the text is made of the entry by the program's own tokens and is not kept twice.
CREATE VIRTUAL TABLE entry_index USING fts5 (
  text, input,
  content = '', contentless_delete = 1,
  tokenize = 'porter unicode61 remove_diacritics 2'
);
