package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/index"
	"github.com/copilot-mem/copilot-mem/internal/search"
	"github.com/kljensen/snowball/english"
	_ "modernc.org/sqlite"
)

func cpu() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

var stems = map[string]string{}

func stem(w string) string {
	if s, ok := stems[w]; ok {
		return s
	}
	if len(stems) > 200000 {
		stems = map[string]string{}
	}
	s := english.Stem(w, false)
	stems[w] = s
	return s
}

type src struct {
	st  *sql.Stmt
	seg int
}

func (s src) Chunk(p index.Part, n int) ([]byte, error) {
	var b []byte
	err := s.st.QueryRow(s.seg<<40 | int(p)<<32 | n).Scan(&b)
	return b, err
}

func main() {
	defer func() { stop() }()
	n, _ := strconv.Atoi(os.Args[2])
	file := os.Args[3]
	switch os.Args[1] {
	case "build":
		var pool []string
		filepath.WalkDir(runtime.GOROOT()+"/src", func(p string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(p, ".go") && len(pool) < 60000 {
				b, _ := os.ReadFile(p)
				for len(b) > 900 && len(b) < 2000000 {
					pool = append(pool, string(b[:850]))
					b = b[850:]
				}
			}
			return nil
		})
		fmt.Println("pool", len(pool))
		r := rand.New(rand.NewPCG(1, 2))
		os.Remove(file)
		db, err := sql.Open("sqlite", file+"?_pragma=journal_mode(WAL)&_pragma=page_size(4096)")
		if err != nil {
			panic(err)
		}
		db.Exec("CREATE TABLE c (id INTEGER PRIMARY KEY, data BLOB)")
		c0 := cpu()
		var in []index.Input
		b := index.NewBuilder(search.Stem)
		raw := 0
		for i := range n {
			t := pool[r.IntN(len(pool))]
			cut := r.IntN(400)
			t = t[cut:] + " " + fmt.Sprintf("id%x", r.Uint64())
			raw += len(t)
			b.Add(index.Doc{Seq: int64(i + 1), Project: uint32(i / 50 % 40), Session: uint32(i / 50), Time: int64(i) * 60000, Attrs: [3]uint16{uint16(r.IntN(6)), uint16(r.IntN(20)), uint16(r.IntN(5))}})
			search.Words(t, func(w []byte) { b.Word(w, 1) })
			if b.Len() == 50000 {
				in = append(in, index.Input{Source: b.Segment()})
				b = index.NewBuilder(search.Stem)
			}
		}
		if b.Len() > 0 {
			in = append(in, index.Input{Source: b.Segment()})
		}
		c1 := cpu()
		fmt.Println("built", c1-c0, "docs/cpu-s", float64(n)/(c1-c0).Seconds(), "raw", raw)
		m, err := index.Merge(in)
		if err != nil {
			panic(err)
		}
		c2 := cpu()
		fmt.Println("merge", c2-c1, "size", m.Size(), float64(m.Size())/float64(raw))
		for p, ch := range m.Chunks {
			s := 0
			for _, c := range ch {
				s += len(c)
			}
			fmt.Println(" part", p, len(ch), s)
		}
		tx, _ := db.Begin()
		for p, ch := range m.Chunks {
			for i, c := range ch {
				if _, err := tx.Exec("INSERT INTO c VALUES (?,?)", 1<<40|p<<32|i, c); err != nil {
					panic(err)
				}
			}
		}
		tx.Commit()
		db.Close()
		fmt.Println("stored", cpu()-c2)
		f, _ := os.Create(file + ".q")
		w := bufio.NewWriter(f)
		for range 300 {
			t := strings.Fields(search.Tokens(pool[r.IntN(len(pool))]))
			k := 1 + r.IntN(4)
			var q []string
			for range k {
				q = append(q, stem(t[r.IntN(len(t))]))
			}
			fmt.Fprintln(w, strings.Join(q, " "))
		}
		w.Flush()
	case "warm", "one":
		db, err := sql.Open("sqlite", file+"?_pragma=query_only(1)")
		if err != nil {
			panic(err)
		}
		db.SetMaxOpenConns(1); tx, _ := db.Begin(); st, err := tx.Prepare("SELECT data FROM c WHERE id = ?")
		if err != nil {
			panic(err)
		}
		qb, _ := os.ReadFile(file + ".q")
		qs := strings.Split(strings.TrimSpace(string(qb)), "\n")
		var ds []time.Duration
		run := func(q string) {
			x, err := index.Open([]index.Input{{Source: src{st, 1}}})
			if err != nil {
				panic(err)
			}
			var qq index.Query
			for i, w := range strings.Fields(q) {
				qq.Terms = append(qq.Terms, index.Term{Word: w, Weight: 1, Group: uint8(i)})
			}
			if len(os.Args) > 5 {
				qq.Projects = []uint32{3}
				qq.Since = 1000000
			}
			qq.Limit = 60; qq.Near, qq.After, qq.Session = []float32{.4, .15}, []float32{.3, .15}, .3
			if _, err := x.Search(qq); err != nil {
				panic(err)
			}
		}
		if os.Args[1] == "one" {
			i, _ := strconv.Atoi(os.Args[4])
			run(qs[i%len(qs)])
			return
		}
		for _, q := range qs {
			t := time.Now()
			run(q)
			ds = append(ds, time.Since(t))
		}
		sort.Slice(ds, func(i, j int) bool { return ds[i] < ds[j] })
		fmt.Println("p50", ds[len(ds)/2], "p90", ds[len(ds)*9/10], "p99", ds[len(ds)*99/100])
	}
}
