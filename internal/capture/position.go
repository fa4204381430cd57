package capture

import (
	"bytes"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

const (
	maxSeen    = 8192 // event ids that are remembered for one transcript
	tailSample = 1024 // bytes before the position that tell whether the file is still the same
)

// position remembers how far a transcript was read, without any of its content. The client rewrites the file (/rewind,
// a withdrawn prompt), so an offset alone is not enough, and the ids of the messages taken tell what is new.
type position struct {
	file   uint64 // identity of the file
	offset int64
	sample uint64 // hash of the bytes before offset
	tail   byte
	seen   []uint64 // hashes of event ids, oldest first
	known  map[uint64]bool
}

func positionFile(state, session, path string) string {
	return filepath.Join(state, stateName(transcriptPrefix, session+"\x00"+path)+".pos")
}

// parsePosition reads what encode wrote; anything else is the start of the file.
func parsePosition(b []byte) position {
	start := position{tail: tailNone}
	p := position{}
	for i, word := range bytes.Fields(b) {
		if i == 3 {
			p.tail = word[0]
			continue
		}
		v, err := strconv.ParseUint(string(word), 16, 64)
		if err != nil {
			return start
		}
		switch i {
		case 0:
			p.file = v
		case 1:
			p.offset = int64(v)
		case 2:
			p.sample = v
		default:
			p.seen = append(p.seen, v)
		}
	}
	if p.tail == 0 || p.offset < 0 {
		return start
	}
	return p
}

func (p *position) encode() []byte {
	b := make([]byte, 0, 64+17*len(p.seen))
	b = append(appendHex(b, p.file), ' ')
	b = append(appendHex(b, uint64(p.offset)), ' ')
	b = append(appendHex(b, p.sample), ' ', p.tail, '\n')
	for _, id := range p.seen[max(0, len(p.seen)-maxSeen):] {
		b = append(appendHex(b, id), '\n')
	}
	return b
}

// continues reports whether the file is the one that was read, as it was up to the position.
func (p *position) continues(f *os.File, info fs.FileInfo) bool {
	if p.file != fileID(info) || p.offset > info.Size() {
		return false
	}
	sample, ok := sampleAt(f, p.offset)
	return ok && sample == p.sample
}

// move puts the position n bytes further in the file.
func (p *position) move(f *os.File, info fs.FileInfo, n int64) {
	p.file = fileID(info)
	p.offset += n
	p.sample, _ = sampleAt(f, p.offset) // a sample that could not be read costs a second reading
}

// FileID tells whether two looks at a path saw the same file: the client writes a new one when it takes something back.
// It is 0 where the system does not say.
func FileID(info fs.FileInfo) uint64 { return fileID(info) }

func sampleAt(f *os.File, offset int64) (uint64, bool) {
	buf := make([]byte, min(offset, tailSample))
	if _, err := f.ReadAt(buf, offset-int64(len(buf))); err != nil {
		return 0, false
	}
	return sum64(buf), true
}

// add remembers an event id and reports whether it is new.
func (p *position) add(id []byte) bool {
	if p.known == nil {
		p.known = make(map[uint64]bool, len(p.seen)+8)
		for _, h := range p.seen {
			p.known[h] = true
		}
	}
	h := sum64(id)
	if p.known[h] {
		return false
	}
	p.known[h] = true
	p.seen = append(p.seen, h)
	return true
}

func sum64(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b)
	return h.Sum64()
}
