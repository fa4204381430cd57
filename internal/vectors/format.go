package vectors

import (
	"encoding/binary"
	"math"
)

// A table is written as "cmv1", the number of dimensions and of words, and then for each word, in byte order: how many
// bytes it shares with the one before, how many follow, those, its rarity in hundredths, and its numbers.
const magic = "cmv1"

// Bytes writes the table.
func (t *Table) Bytes() []byte {
	out := []byte(magic)
	out = binary.AppendUvarint(out, uint64(t.dims))
	out = binary.AppendUvarint(out, uint64(len(t.words)))
	before := ""
	for i, w := range t.words {
		shared := 0
		for shared < len(before) && shared < len(w) && before[shared] == w[shared] {
			shared++
		}
		out = binary.AppendUvarint(out, uint64(shared))
		out = binary.AppendUvarint(out, uint64(len(w)-shared))
		out = append(out, w[shared:]...)
		out = binary.AppendUvarint(out, uint64(math.Round(float64(t.rare[i]*100))))
		for _, x := range t.data[i*t.dims : (i+1)*t.dims] {
			out = append(out, byte(x))
		}
		before = w
	}
	return out
}

// Read reads a table as [Table.Bytes] wrote it. The error is [ErrFormat].
func Read(data []byte) (*Table, error) {
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return nil, ErrFormat
	}
	data = data[len(magic):]
	bad := false
	number := func(most uint64) int {
		v, n := binary.Uvarint(data)
		if n <= 0 || v > most {
			bad, data = true, nil
			return 0
		}
		data = data[n:]
		return int(v)
	}
	take := func(n int) []byte {
		if n > len(data) {
			bad, data = true, nil
			return nil
		}
		out := data[:n]
		data = data[n:]
		return out
	}
	t := &Table{dims: number(1000)}
	n := number(uint64(len(data)))
	var word []byte
	for range n {
		shared := number(uint64(len(word)))
		word = append(word[:shared], take(number(1000))...)
		rare := number(10_000)
		row := take(t.dims)
		if bad || len(t.words) > 0 && string(word) <= t.words[len(t.words)-1] {
			return nil, ErrFormat
		}
		t.words, t.rare = append(t.words, string(word)), append(t.rare, float32(rare)/100)
		for _, x := range row {
			t.data = append(t.data, int8(x))
		}
	}
	if bad || len(data) > 0 {
		return nil, ErrFormat
	}
	return t, nil
}
