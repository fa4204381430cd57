package index

import "encoding/binary"

// A chunk of a column is its smallest value, the width of what stands above it (0, 1, 2, 4 or 8 bytes), and that for
// each document: any value is read without reading the others.

func appendColumn(out []byte, values []int64) []byte {
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	out = appendInt(out, low)
	width := widthOf(uint64(high - low))
	out = append(out, byte(width))
	for _, v := range values {
		var raw [8]byte
		binary.LittleEndian.PutUint64(raw[:], uint64(v-low))
		out = append(out, raw[:width]...)
	}
	return out
}

func widthOf(span uint64) int {
	switch {
	case span == 0:
		return 0
	case span < 1<<8:
		return 1
	case span < 1<<16:
		return 2
	case span < 1<<32:
		return 4
	}
	return 8
}

// column is an opened chunk.
type column struct {
	low   int64
	width int
	data  []byte
}

func openColumn(chunk []byte, n int) (column, error) {
	r := reader{data: chunk}
	c := column{low: r.int()}
	w := r.bytes(1)
	if r.bad {
		return column{}, damaged("a column without a head")
	}
	c.width, c.data = int(w[0]), r.data
	if c.width > 8 || c.width*n != len(c.data) {
		return column{}, damaged("a column of another length")
	}
	return c, nil
}

func (c column) at(i int) int64 {
	at := i * c.width
	switch c.width {
	case 0:
		return c.low
	case 1:
		return c.low + int64(c.data[at])
	case 2:
		return c.low + int64(binary.LittleEndian.Uint16(c.data[at:]))
	case 4:
		return c.low + int64(binary.LittleEndian.Uint32(c.data[at:]))
	}
	var raw [8]byte
	copy(raw[:], c.data[at:at+c.width])
	return c.low + int64(binary.LittleEndian.Uint64(raw[:]))
}
