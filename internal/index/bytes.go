package index

import "encoding/binary"

// reader takes numbers and strings off a chunk. A read past the end sets bad and gives zeros.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) uint() uint64 {
	if len(r.data) > 0 && r.data[0] < 0x80 {
		v := r.data[0]
		r.data = r.data[1:]
		return uint64(v)
	}
	return r.long()
}

func (r *reader) long() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *reader) int() int64 {
	v := r.uint()
	return int64(v>>1) ^ -int64(v&1)
}

// count reads a number that may be at most limit.
func (r *reader) count(limit int) int {
	v := r.uint()
	if v > uint64(limit) {
		r.bad = true
		return 0
	}
	return int(v)
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.bad, r.data = true, nil
		return nil
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func appendInt(b []byte, v int64) []byte {
	return binary.AppendUvarint(b, uint64(v)<<1^uint64(v>>63))
}
