package vectors

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Learner counts which words stand near which. Words are numbered as they come; texts are added one by one.
type Learner struct {
	ids   map[string]uint32
	names []string
	docs  []uint32 // texts that hold the word
	last  []uint32
	texts uint32
	log   [][]uint32 // the words of each text
	size  int
}

// maxLog bounds the words that are kept until learning: about 200 MB.
const maxLog = 50_000_000

// NewLearner returns an empty learner.
func NewLearner() *Learner { return &Learner{ids: map[string]uint32{}} }

// Add adds the words of one text, as the index keeps them, in order. It reports whether there was room.
func (l *Learner) Add(words []string) bool {
	if l.size+len(words) > maxLog {
		return false
	}
	l.texts++
	row := make([]uint32, len(words))
	for i, w := range words {
		id, ok := l.ids[w]
		if !ok {
			id = uint32(len(l.names))
			l.ids[w] = id
			l.names, l.docs, l.last = append(l.names, w), append(l.docs, 0), append(l.last, 0)
		}
		if l.last[id] != l.texts {
			l.last[id] = l.texts
			l.docs[id]++
		}
		row[i] = id
	}
	l.log = append(l.log, row)
	l.size += len(words)
	return true
}

// Options say how to learn.
type Options struct {
	Dims     int // 0: 100
	MinTexts int // texts that a word must stand in; 0: 5
	MaxWords int // the most frequent words; 0: 20,000
	Window   int // words to each side; 0: 6
}

// Table learns. The same texts give the same table. nil: there were not enough words.
func (l *Learner) Table(o Options) *Table {
	o.Dims, o.MinTexts = cmp.Or(o.Dims, 100), cmp.Or(o.MinTexts, 5)
	o.MaxWords, o.Window = cmp.Or(o.MaxWords, 20_000), cmp.Or(o.Window, 6)
	kept := l.kept(o)
	if len(kept) < 2*o.Dims {
		return nil
	}
	m := l.counts(kept, o.Window)
	m.information()
	rows := m.decompose(o.Dims)
	t := &Table{dims: o.Dims}
	for i, id := range kept {
		t.words = append(t.words, l.names[id])
		t.rare = append(t.rare, float32(math.Log(1+float64(l.texts)/float64(l.docs[id]))))
		t.data = append(t.data, small(rows[i])...)
	}
	return t
}

// kept are the words that get a vector, in byte order.
func (l *Learner) kept(o Options) []uint32 {
	var kept []uint32
	for id := range l.names {
		if int(l.docs[id]) >= o.MinTexts {
			kept = append(kept, uint32(id))
		}
	}
	slices.SortFunc(kept, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(l.docs[b], l.docs[a]), cmp.Compare(l.names[a], l.names[b]))
	})
	kept = kept[:min(len(kept), o.MaxWords)]
	slices.SortFunc(kept, func(a, b uint32) int { return cmp.Compare(l.names[a], l.names[b]) })
	return kept
}

// matrix is symmetric and sparse: for each word its neighbours.
type matrix struct {
	columns [][]uint32
	values  [][]float32
}

// counts counts neighbours, near ones more.
func (l *Learner) counts(kept []uint32, window int) *matrix {
	place := make([]int32, len(l.names))
	for i := range place {
		place[i] = -1
	}
	for i, id := range kept {
		place[id] = int32(i)
	}
	count := make([]map[uint32]float32, len(kept))
	for i := range count {
		count[i] = map[uint32]float32{}
	}
	for _, text := range l.log {
		for i, id := range text {
			a := place[id]
			if a < 0 {
				continue
			}
			for d := 1; d <= window && i+d < len(text); d++ {
				if b := place[text[i+d]]; b >= 0 && b != a {
					w := 1 / float32(d)
					count[a][uint32(b)] += w
					count[b][uint32(a)] += w
				}
			}
		}
	}
	m := &matrix{}
	for _, row := range count {
		columns := make([]uint32, 0, len(row))
		for c := range row {
			columns = append(columns, c)
		}
		slices.Sort(columns)
		values := make([]float32, len(columns))
		for i, c := range columns {
			values[i] = row[c]
		}
		m.columns, m.values = append(m.columns, columns), append(m.values, values)
	}
	return m
}

// information makes positive pointwise mutual information of counts. Frequent neighbours are smoothed, as usual, by a
// power of 0.75; what is not above chance leaves the matrix.
func (m *matrix) information() {
	sums := make([]float64, len(m.columns))
	smooth := 0.0
	for i, row := range m.values {
		for _, v := range row {
			sums[i] += float64(v)
		}
		smooth += math.Pow(sums[i], 0.75)
	}
	for i, row := range m.values {
		n := 0
		for k, v := range row {
			c := m.columns[i][k]
			chance := sums[i] * math.Pow(sums[c], 0.75) / smooth
			back := sums[c] * math.Pow(sums[i], 0.75) / smooth
			x := math.Log(float64(v) / math.Sqrt(chance*back))
			if x <= 0 {
				continue
			}
			m.columns[i][n], m.values[i][n] = c, float32(x)
			n++
		}
		m.columns[i], m.values[i] = m.columns[i][:n], row[:n]
	}
}

// times multiplies the matrix with a dense one, row by row.
func (m *matrix) times(in [][]float32, dims int) [][]float32 {
	out := make([][]float32, len(m.columns))
	for i := range out {
		row := make([]float32, dims)
		for k, c := range m.columns[i] {
			v := m.values[i][k]
			for d, x := range in[c][:dims] {
				row[d] += v * x
			}
		}
		out[i] = row
	}
	return out
}

// decompose returns for each row the coordinates along the strongest directions, by a randomised subspace iteration;
// the singular values count with their square root.
func (m *matrix) decompose(dims int) [][]float32 {
	r := rand.New(rand.NewPCG(1, 2))
	wide := dims + 10
	basis := make([][]float32, len(m.columns))
	for i := range basis {
		basis[i] = make([]float32, wide)
		for d := range basis[i] {
			basis[i][d] = float32(r.NormFloat64())
		}
	}
	var lengths []float64
	for range 5 {
		basis = m.times(basis, wide)
		lengths = orthogonal(basis, wide)
	}
	for _, row := range basis {
		for d := range row {
			row[d] *= float32(math.Sqrt(lengths[d]))
		}
	}
	for i := range basis {
		basis[i] = basis[i][:dims]
	}
	return basis
}

// orthogonal makes the columns orthogonal and of length one (Gram-Schmidt, twice), and returns what their lengths were.
func orthogonal(rows [][]float32, dims int) []float64 {
	lengths := make([]float64, dims)
	for d := range dims {
		for range 2 {
			for e := range d {
				dot := 0.0
				for _, row := range rows {
					dot += float64(row[d]) * float64(row[e])
				}
				for _, row := range rows {
					row[d] -= float32(dot) * row[e]
				}
			}
		}
		n := 0.0
		for _, row := range rows {
			n += float64(row[d]) * float64(row[d])
		}
		n = math.Sqrt(n)
		lengths[d] = n
		if n > 0 {
			for _, row := range rows {
				row[d] = float32(float64(row[d]) / n)
			}
		}
	}
	return lengths
}

// small writes a row in whole numbers from -127 to 127.
func small(row []float32) []int8 {
	top := float32(0)
	for _, x := range row {
		top = max(top, float32(math.Abs(float64(x))))
	}
	out := make([]int8, len(row))
	for i, x := range row {
		if top > 0 {
			out[i] = int8(math.Round(float64(x / top * 127)))
		}
	}
	return out
}
