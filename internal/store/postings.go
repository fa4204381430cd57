package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/index"
	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Segments that wait for a merge are at most eight of a size; each size is eight times the one before.
const (
	mergeAt = 8
	// foreground is how many documents a merge may have that somebody waits for; [DB.Compact] does the larger ones.
	foreground = 16 << 10
	// rebuildBatch is how many entries are indexed at a time when the index is made anew.
	rebuildBatch = 20_000
)

// chunkID is where a chunk of a segment lies.
func chunkID(segment int64, part index.Part, n int) int64 {
	return segment<<40 | int64(part)<<32 | int64(n)
}

// chunks gives the chunks of a segment.
type chunks struct {
	ctx     context.Context //nolint:containedctx // lives as long as one transaction
	get     *sql.Stmt
	segment int64
}

func (c chunks) Chunk(part index.Part, n int) ([]byte, error) {
	var data []byte
	err := c.get.QueryRowContext(c.ctx, chunkID(c.segment, part, n)).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: segment %d has no chunk %d of part %d", index.ErrDamaged, c.segment, n, part)
	}
	return data, err
}

// postings is the index in one transaction.
type postings struct {
	ctx      context.Context //nolint:containedctx // lives as long as one transaction
	tx       *sql.Tx
	get      *sql.Stmt
	segments []segment
}

type segment struct {
	id      int64
	docs    int
	deleted []uint32
}

func openPostings(ctx context.Context, tx *sql.Tx) (*postings, error) {
	get, err := tx.PrepareContext(ctx, "SELECT data FROM chunks WHERE id = ?")
	if err != nil {
		return nil, err
	}
	p := &postings{ctx: ctx, tx: tx, get: get}
	rows, err := tx.QueryContext(ctx, "SELECT id, docs, deleted FROM segments ORDER BY id")
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	for rows.Next() {
		var s segment
		var raw []byte
		if err := rows.Scan(&s.id, &s.docs, &raw); err != nil {
			return nil, errors.Join(err, rows.Close(), p.close())
		}
		for ; len(raw) >= 4; raw = raw[4:] {
			s.deleted = append(s.deleted, binary.LittleEndian.Uint32(raw))
		}
		p.segments = append(p.segments, s)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *postings) close() error { return p.get.Close() }

func (p *postings) inputs(segments []segment) []index.Input {
	in := make([]index.Input, len(segments))
	for i, s := range segments {
		in[i] = index.Input{Source: chunks{p.ctx, p.get, s.id}, Deleted: s.deleted}
	}
	return in
}

func (p *postings) open() (*index.Index, error) { return index.Open(p.inputs(p.segments)) }

// write keeps a segment. An empty one is not kept.
func (p *postings) write(s *index.Segment) error {
	if s.Docs == 0 {
		return nil
	}
	res, err := p.tx.ExecContext(p.ctx, "INSERT INTO segments (docs, deleted) VALUES (?, x'')", s.Docs)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	put, err := p.tx.PrepareContext(p.ctx, "INSERT INTO chunks (id, data) VALUES (?, ?)")
	if err != nil {
		return err
	}
	for part, list := range s.Chunks {
		for n, data := range list {
			if data == nil {
				data = []byte{} // NULL is no chunk
			}
			if _, err := put.ExecContext(p.ctx, chunkID(id, index.Part(part), n), data); err != nil {
				return errors.Join(err, put.Close())
			}
		}
	}
	p.segments = append(p.segments, segment{id: id, docs: s.Docs})
	return put.Close()
}

func (p *postings) drop(s segment) error {
	if _, err := p.tx.ExecContext(p.ctx, "DELETE FROM chunks WHERE id >= ? AND id < ?", chunkID(s.id, 0, 0), chunkID(s.id+1, 0, 0)); err != nil {
		return err
	}
	p.segments = slices.DeleteFunc(p.segments, func(o segment) bool { return o.id == s.id })
	_, err := p.tx.ExecContext(p.ctx, "DELETE FROM segments WHERE id = ?", s.id)
	return err
}

// merge makes one segment of several.
func (p *postings) merge(some []segment) error {
	merged, err := index.Merge(p.inputs(some))
	if err != nil {
		return err
	}
	for _, s := range some {
		if err := p.drop(s); err != nil {
			return err
		}
	}
	return p.write(merged)
}

// settle merges segments of a size until there are few of each, as long as a merge has at most so many documents.
func (p *postings) settle(most int) error {
	for {
		bySize := map[int][]segment{}
		for _, s := range p.segments {
			size := 0
			for n := s.docs; n >= mergeAt; n /= mergeAt {
				size++
			}
			bySize[size] = append(bySize[size], s)
		}
		var some []segment
		for _, list := range bySize {
			docs := 0
			for _, s := range list {
				docs += s.docs
			}
			if len(list) >= mergeAt && docs <= most && (some == nil || docs < some[0].docs*len(some)) {
				some = list
			}
		}
		if some == nil {
			return nil
		}
		if err := p.merge(some); err != nil {
			return err
		}
	}
}

// remove takes documents out. With rewrite nothing of them is left in the segments; else they are marked only.
func (p *postings) remove(seqs []int64, rewrite bool) error {
	if len(seqs) == 0 || len(p.segments) == 0 {
		return nil
	}
	wanted := make(map[int64]bool, len(seqs))
	for _, seq := range seqs {
		wanted[seq] = true
	}
	x, err := p.open()
	if err != nil {
		return err
	}
	found, err := x.Find(wanted)
	if err != nil {
		return err
	}
	for i, s := range slices.Clone(p.segments) {
		if len(found[i]) == 0 {
			continue
		}
		s.deleted = append(slices.Clone(s.deleted), found[i]...)
		slices.Sort(s.deleted)
		s.deleted = slices.Compact(s.deleted)
		if rewrite {
			if err := p.merge([]segment{s}); err != nil {
				return err
			}
			continue
		}
		var raw []byte
		for _, doc := range s.deleted {
			raw = binary.LittleEndian.AppendUint32(raw, doc)
		}
		if _, err := p.tx.ExecContext(p.ctx, "UPDATE segments SET deleted = ? WHERE id = ?", raw, s.id); err != nil {
			return err
		}
		at := slices.IndexFunc(p.segments, func(o segment) bool { return o.id == s.id })
		p.segments[at].deleted = s.deleted
	}
	return nil
}

// numberer gives names their numbers in the index.
type numberer struct {
	ctx   context.Context //nolint:containedctx // lives as long as one transaction
	tx    *sql.Tx
	known map[string]int64
}

func (n *numberer) number(class, name string) (id int64, err error) {
	key := class + "\x00" + name
	if id, ok := n.known[key]; ok {
		return id, nil
	}
	err = n.tx.QueryRowContext(n.ctx, "SELECT id FROM names WHERE class = ? AND name = ?", class, name).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		var res sql.Result
		if res, err = n.tx.ExecContext(n.ctx, "INSERT INTO names (class, name) VALUES (?, ?)", class, name); err == nil {
			id, err = res.LastInsertId()
		}
	}
	if err == nil {
		n.known[key] = id
	}
	return id, err
}

// The attributes of a document.
const (
	attrKind = iota
	attrTool
	attrBranch
)

var attrClasses = [3]string{attrKind: "kind", attrTool: "tool", attrBranch: "branch"}

// attr is a name's number as an attribute; those that have no room share the last one, and are told apart by the row.
func attr(id int64) uint16 { return uint16(min(id, 1<<16-1)) }

// indexRows adds entries, as their rows have them, to the index.
func (db *DB) indexRows(ctx context.Context, tx *sql.Tx, seqs []int64) error {
	if len(seqs) == 0 {
		return nil
	}
	p, err := openPostings(ctx, tx)
	if err != nil {
		return err
	}
	b := index.NewBuilder(db.stem)
	if err := db.build(ctx, tx, b, seqs); err != nil {
		return errors.Join(err, p.close())
	}
	if err := p.write(b.Segment()); err != nil {
		return errors.Join(err, p.close())
	}
	return errors.Join(p.settle(foreground), p.close())
}

func (db *DB) build(ctx context.Context, tx *sql.Tx, b *index.Builder, seqs []int64) error {
	get, err := tx.PrepareContext(ctx, "SELECT "+entryColumns+" FROM entries e WHERE e.seq = ?")
	if err != nil {
		return err
	}
	n := &numberer{ctx, tx, map[string]int64{}}
	for _, seq := range seqs {
		var e memory.Entry
		err := scanEntry(get.QueryRowContext(ctx, seq).Scan, &e)
		if err == nil {
			err = db.add(b, n, seq, e)
		}
		if err != nil {
			return errors.Join(err, get.Close())
		}
	}
	return get.Close()
}

func (db *DB) add(b *index.Builder, n *numberer, seq int64, e memory.Entry) error {
	d := index.Doc{Seq: seq, Time: e.Time.UnixMilli()}
	project, err := n.number("project", e.Project)
	if err != nil {
		return err
	}
	session, err := n.number("session", e.SessionID)
	if err != nil {
		return err
	}
	d.Project, d.Session = uint32(project), uint32(session)
	for i, name := range [3]string{attrKind: string(e.Kind), attrTool: strings.ToLower(e.Tool), attrBranch: e.Branch} {
		id, err := n.number(attrClasses[i], name)
		if err != nil {
			return err
		}
		d.Attrs[i] = attr(id)
	}
	b.Add(d)
	db.words(e, b.Word)
	return nil
}

// Rebuild makes the index anew from the entries.
func (db *DB) Rebuild(ctx context.Context) error {
	return db.explain("rebuild the index", db.write(ctx, func(tx *sql.Tx) error { return db.rebuild(ctx, tx) }))
}

func (db *DB) rebuild(ctx context.Context, tx *sql.Tx) error {
	for _, table := range []string{"segments", "chunks", "names"} {
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+table); err != nil {
			return err
		}
	}
	p, err := openPostings(ctx, tx)
	if err != nil {
		return err
	}
	for last := int64(-1 << 62); ; {
		seqs, err := seqsAfter(ctx, tx, last)
		if err != nil {
			return errors.Join(err, p.close())
		}
		if len(seqs) == 0 {
			break
		}
		last = seqs[len(seqs)-1]
		b := index.NewBuilder(db.stem)
		if err := db.build(ctx, tx, b, seqs); err != nil {
			return errors.Join(err, p.close())
		}
		if err := p.write(b.Segment()); err != nil {
			return errors.Join(err, p.close())
		}
	}
	if len(p.segments) > 1 {
		err = p.merge(slices.Clone(p.segments))
	}
	return errors.Join(err, p.close())
}

func seqsAfter(ctx context.Context, tx *sql.Tx, last int64) (seqs []int64, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT seq FROM entries WHERE seq > ? ORDER BY seq LIMIT ?", last, rebuildBatch)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var seq int64
		if err := rows.Scan(&seq); err != nil {
			return nil, err
		}
		seqs = append(seqs, seq)
	}
	return seqs, rows.Err()
}

// Compact does the merges that are too large to be waited for. What it merges is in the index all the time.
func (db *DB) Compact(ctx context.Context) error {
	return db.explain("merge the index", db.write(ctx, func(tx *sql.Tx) error {
		p, err := openPostings(ctx, tx)
		if err != nil {
			return err
		}
		return errors.Join(p.settle(1<<62), p.close())
	}))
}

// unindex takes entries out of the index. With rewrite no byte of their words is left in it, nor the names of what is gone.
func (db *DB) unindex(ctx context.Context, tx *sql.Tx, seqs []int64, rewrite bool) error {
	p, err := openPostings(ctx, tx)
	if err != nil {
		return err
	}
	if err := errors.Join(p.remove(seqs, rewrite), p.close()); err != nil {
		if errors.Is(err, index.ErrDamaged) {
			return db.rebuild(ctx, tx)
		}
		return err
	}
	return nil
}

// forgetNames deletes the numbers of names that no row has any more.
func forgetNames(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `
DELETE FROM names WHERE
  class = 'project' AND name NOT IN (SELECT project FROM entries UNION SELECT name FROM project_aliases) OR
  class = 'session' AND name NOT IN (SELECT session_id FROM entries) OR
  class = 'tool' AND name NOT IN (SELECT lower(tool) FROM entries) OR
  class = 'branch' AND name NOT IN (SELECT branch FROM entries)`)
	return err
}
