package index

import "math"

// A posting is a document and one byte: how often the word stands there (high half) and how long the document is (low
// half), both in steps that grow. A score is a function of these bytes alone, so that it needs no table of documents.
var (
	counts  = [16]float32{0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 13, 18, 25, 40}
	lengths = [16]float32{4, 6, 9, 13, 19, 28, 42, 63, 95, 142, 213, 320, 480, 720, 1080, 1620}
)

// BM25's constants, as measured best on texts of both talk and code.
const (
	k1 = 1.2
	b  = 0.75
)

// code packs the weight of a word in a document with the document's length in words.
func code(weight, length float32) byte {
	return byte(step(&countBorders, weight)<<4 | step(&lengthBorders, length))
}

// The squares of the borders between the steps.
var countBorders, lengthBorders = borders(counts), borders(lengths)

func borders(steps [16]float32) (out [15]float32) {
	for i := range out {
		out[i] = steps[i] * steps[i+1]
	}
	return out
}

// step is the index of the step nearest to v, by ratio.
func step(borders *[15]float32, v float32) int {
	v *= v
	i := 0
	for i < len(borders) && v > borders[i] {
		i++
	}
	return i
}

// saturation is BM25's part of each code that does not depend on the word, for an average length.
func saturation(average float32) (table [256]float32) {
	for c := range table {
		tf, norm := counts[c>>4], 1-b+b*lengths[c&15]/max(average, 1)
		table[c] = tf * (k1 + 1) / (tf + k1*norm)
	}
	return table
}

// rarity is BM25's weight of a word that df of n documents hold.
func rarity(df, n int) float32 {
	return float32(math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5)))
}
