package store

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"os"
	"unicode/utf8"
)

// pageSize is that of every store: the default of SQLite since 2016, which we do not change.
const pageSize = 4096

// The kinds of b-tree pages that hold rows, https://www.sqlite.org/fileformat.html.
const (
	leafTable = 0x0d
	leafIndex = 0x0a
)

// leaves reads the rows of a file page by page, where not all can be read by way of the list of its tables.
type leaves struct {
	pages []byte
}

func openLeaves(path string) (leaves, error) {
	f, err := os.Open(path)
	if err != nil {
		return leaves{}, err
	}
	defer func() { _ = f.Close() }() // read only
	data, err := io.ReadAll(f)
	return leaves{data}, err
}

// rows calls fn with every record of every leaf, and the row's number where it has one.
func (l leaves) rows(fn func(rowid int64, row []any) error) error {
	for n := 1; n*pageSize <= len(l.pages); n++ {
		page := l.page(uint32(n))
		head := 0
		if n == 1 {
			head = 100
		}
		kind := page[head]
		if kind != leafTable && kind != leafIndex {
			continue
		}
		cells := int(binary.BigEndian.Uint16(page[head+3:]))
		for i := 0; i < cells && head+8+2*i+2 <= pageSize; i++ {
			at := int(binary.BigEndian.Uint16(page[head+8+2*i:]))
			rowid, row, ok := l.cell(page, at, kind)
			if !ok {
				continue
			}
			if err := fn(rowid, row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l leaves) page(n uint32) []byte {
	if n == 0 || int64(n)*pageSize > int64(len(l.pages)) {
		return nil
	}
	return l.pages[(int(n)-1)*pageSize : int(n)*pageSize]
}

// cell reads one cell with what overflows its page.
func (l leaves) cell(page []byte, at int, kind byte) (rowid int64, row []any, ok bool) {
	if at >= pageSize {
		return 0, nil, false
	}
	rest := page[at:]
	size, n := varint(rest)
	if n == 0 || size < 1 || size > int64(len(l.pages)) {
		return 0, nil, false
	}
	rest = rest[n:]
	most := int64(pageSize - 35)
	if kind == leafTable {
		if rowid, n = varint(rest); n == 0 {
			return 0, nil, false
		}
		rest = rest[n:]
	} else {
		most = (pageSize-12)*64/255 - 23
	}
	local := size
	if size > most {
		least := int64((pageSize-12)*32/255 - 23)
		if local = least + (size-least)%(pageSize-4); local > most {
			local = least
		}
	}
	if local > int64(len(rest)) {
		return 0, nil, false
	}
	payload := bytes.Clone(rest[:local])
	if local < size {
		if int64(len(rest)) < local+4 {
			return 0, nil, false
		}
		next := binary.BigEndian.Uint32(rest[local:])
		for int64(len(payload)) < size {
			over := l.page(next)
			if over == nil {
				return 0, nil, false
			}
			next = binary.BigEndian.Uint32(over)
			payload = append(payload, over[4:min(pageSize, 4+size-int64(len(payload)))]...)
		}
	}
	row, ok = record(payload)
	return rowid, row, ok
}

// record decodes a row: a header of types, then the values.
func record(b []byte) (row []any, ok bool) {
	size, n := varint(b)
	if n == 0 || size < int64(n) || size > int64(len(b)) {
		return nil, false
	}
	head, body := b[n:size], b[size:]
	for len(head) > 0 {
		kind, n := varint(head)
		if n == 0 || len(row) > 64 {
			return nil, false
		}
		head = head[n:]
		width := [...]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}
		var w int64
		switch {
		case kind < 0:
			return nil, false
		case kind < 12:
			w = width[kind]
		default:
			w = (kind - 12) / 2
		}
		if w > int64(len(body)) {
			return nil, false
		}
		row = append(row, columnValue(kind, body[:w]))
		body = body[w:]
	}
	return row, len(body) == 0
}

func columnValue(kind int64, b []byte) any {
	switch {
	case kind == 0 || kind == 10 || kind == 11:
		return nil
	case kind == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	case kind == 8 || kind == 9:
		return kind - 8
	case kind < 7:
		v := int64(0)
		if len(b) > 0 && b[0]&0x80 != 0 {
			v = -1
		}
		for _, c := range b {
			v = v<<8 | int64(c)
		}
		return v
	case kind%2 == 1:
		return string(b)
	}
	return bytes.Clone(b)
}

// varint reads SQLite's own; n is 0 where b is too short.
func varint(b []byte) (v int64, n int) {
	for i := range min(len(b), 9) {
		if i == 8 {
			return v<<8 | int64(b[i]), 9
		}
		v = v<<7 | int64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// shape knows the rows of one table by the types of their first columns: i a number, t a text, b bytes, 0 nothing.
type shape struct {
	table, types string
	rowid        string // the column that is the row's number
}

var shapes = []shape{
	{"entries", "0tttiittttttiitt", "seq"},
	{"sessions", "tttttiittiit", ""},
	{"tombstones", "bi", ""},
	{"forgotten_texts", "biii", ""},
}

func (s shape) fits(row []any) bool {
	if len(row) < len(s.types) || s.table != "entries" && s.table != "sessions" && len(row) != len(s.types) {
		return false
	}
	for i, c := range []byte(s.types) {
		switch v := row[i].(type) {
		case nil:
			if c != '0' {
				return false
			}
		case int64:
			if c != 'i' {
				return false
			}
		case string:
			if c != 't' || !utf8.ValidString(v) {
				return false
			}
		case []byte:
			if c != 'b' || len(v) != tombstoneBytes {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// fromLeaves inserts every row that has the shape of one of ours. Columns that later schemas added come last, so that a row of
// an older one is a shorter row of the same.
func (s *salvager) fromLeaves(path string) error {
	l, err := openLeaves(path)
	if err != nil {
		return err
	}
	columns := map[string][]string{}
	for _, sh := range shapes {
		if columns[sh.table], err = tableColumns(s.ctx, s.tx, sh.table); err != nil {
			return err
		}
	}
	return l.rows(func(rowid int64, row []any) error {
		if key, ok := metaKey(row); ok {
			_, err := s.tx.ExecContext(s.ctx, "UPDATE meta SET value = ? WHERE key = 'key'", key)
			return err
		}
		for _, sh := range shapes {
			names := columns[sh.table]
			if !sh.fits(row) || len(row) > len(names) {
				continue
			}
			if sh.rowid != "" {
				row[0] = rowid
			}
			return s.insert(sh.table, names[:len(row)], row, "IGNORE")
		}
		return s.ctx.Err()
	})
}

// metaKey is the key of the tombstones, without which they say nothing.
func metaKey(row []any) ([]byte, bool) {
	if len(row) != 2 || row[0] != "key" {
		return nil, false
	}
	key, ok := row[1].([]byte)
	return key, ok && len(key) == 32
}
