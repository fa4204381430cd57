-- The full-text index is our own (docs/index-format.md); it is made of the entries and can be made anew at any time.
DROP TABLE entry_index;

CREATE TABLE segments (
  id      INTEGER PRIMARY KEY,
  docs    INTEGER NOT NULL,
  deleted BLOB NOT NULL -- numbers of documents that are gone, four bytes each, in order
) STRICT;

-- A chunk's id is that of its segment, its part and its number: segment << 40 | part << 32 | number.
CREATE TABLE chunks (
  id   INTEGER PRIMARY KEY,
  data BLOB NOT NULL
) STRICT;

-- The numbers that the index has for projects, sessions, kinds, tools and branches.
CREATE TABLE names (
  id    INTEGER PRIMARY KEY,
  class TEXT NOT NULL, -- project, session, kind, tool, branch
  name  TEXT NOT NULL,
  UNIQUE (class, name)
) STRICT;
