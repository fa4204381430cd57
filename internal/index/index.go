// Package index answers which entries hold these words, and how well: the postings of the store's full-text search.
// It knows numbers and words only; what they mean, and where the bytes are kept, is the caller's.
//
// The index is a set of immutable segments. A segment is made of parts, a part of chunks (see docs/index-format.md);
// a [Source] gives them. Segments are made by a [Builder] or by [Merge], never changed, and replaced as a whole.
package index

import (
	"errors"
	"fmt"
)

// Doc is what the index keeps of one entry beside its words.
type Doc struct {
	Seq     int64     // the caller's number of the entry, unique
	Project uint32    // the caller's number of the project
	Session uint32    // the caller's number of the session; a session has one project
	Time    int64     // unix milliseconds
	Attrs   [3]uint16 // small numbers to filter by; the caller says what they mean
}

// Part is one of the byte strings that a segment consists of.
type Part uint8

// The parts of a segment, as docs/index-format.md describes them.
const (
	PartHeader   Part = iota // one chunk: counts, projects, first documents of the other chunks
	PartGuide                // one chunk: the first word of each chunk of the dictionary
	PartWords                // the dictionary
	PartPostings             // documents of frequent words
	PartSessions             // sessions, some hundred a chunk
	PartSeqs                 // a column of Doc.Seq, some thousand documents a chunk, as those that follow
	PartTimes
	PartLengths // words in the document
	PartAttr0   // Doc.Attrs, one column each
	PartAttr1
	PartAttr2
	parts
)

// Source gives a chunk of a part. The bytes stay the source's and must not change.
type Source interface {
	Chunk(part Part, n int) ([]byte, error)
}

// Segment is what a [Builder] or [Merge] makes: the chunks of every part.
type Segment struct {
	Chunks [parts][][]byte
	Docs   int
}

// Chunk makes a segment in memory its own source.
func (s *Segment) Chunk(part Part, n int) ([]byte, error) {
	if int(part) >= len(s.Chunks) || n < 0 || n >= len(s.Chunks[part]) {
		return nil, fmt.Errorf("%w: no chunk %d of part %d", ErrDamaged, n, part)
	}
	return s.Chunks[part][n], nil
}

// Size is the number of bytes of all chunks.
func (s *Segment) Size() int {
	n := 0
	for _, chunks := range s.Chunks {
		for _, c := range chunks {
			n += len(c)
		}
	}
	return n
}

// ErrDamaged says that a segment does not hold what its format promises. The index can be rebuilt from the entries.
var ErrDamaged = errors.New("the search index is damaged")

func damaged(what string) error { return fmt.Errorf("%w: %s", ErrDamaged, what) }

const (
	version         = 1
	dictionaryChunk = 4 << 10  // bytes after which a chunk of the dictionary ends
	postingsChunk   = 32 << 10 // bytes after which a chunk of postings ends
	ownChunk        = 96 * block
	inlineList      = 24      // bytes up to which a list stands in the dictionary itself
	sessionsChunk   = 256     // sessions
	columnChunk     = 2048    // documents
	maxDocs         = 1 << 30 // documents in a segment
	maxWord         = 120     // bytes; longer words are cut
)
