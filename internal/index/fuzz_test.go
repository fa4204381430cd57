package index

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// FuzzDamaged: a segment with other bytes gives an error or wrong hits, but no panic, and no endless work.
func FuzzDamaged(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint16(3), uint8(0xff))
	f.Add(uint64(2), uint8(2), uint16(40), uint8(0x80))
	f.Add(uint64(3), uint8(3), uint16(0), uint8(0x7f))
	f.Add(uint64(4), uint8(4), uint16(9), uint8(1))
	f.Add(uint64(5), uint8(1), uint16(1), uint8(200))
	f.Fuzz(func(t *testing.T, seed uint64, part uint8, at uint16, to uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		entries := world(r, 1+int(seed%300))
		s := build(entries)
		chunks := s.Chunks[int(part)%len(s.Chunks)]
		if len(chunks) == 0 {
			return
		}
		chunk := chunks[int(at)%len(chunks)]
		switch {
		case len(chunk) == 0:
		case to == 0:
			chunks[int(at)%len(chunks)] = chunk[:int(at)%len(chunk)]
		default:
			chunk[int(at)%len(chunk)] ^= to
		}
		x, err := Open([]Input{{Source: s}})
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		for range 5 {
			if _, err := x.Search(randomQuery(r, entries)); err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatalf("error of another kind: %v", err)
			}
		}
		_, _ = x.Starting("w", 5)
		_, _ = x.Close("w12", 5)
		_, _ = Merge([]Input{{Source: s}})
	})
}
