package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// project is the name under which a project is kept.
func (w *writer) project(name string) (string, error) {
	if p, ok := w.projects[name]; ok || name == "" {
		return p, nil
	}
	p, err := projectName(w.ctx, w.tx, name)
	w.projects[name] = p
	return p, err
}

func projectName(ctx context.Context, tx *sql.Tx, name string) (project string, err error) {
	err = tx.QueryRowContext(ctx, "SELECT project FROM project_aliases WHERE name = ?", name).Scan(&project)
	if errors.Is(err, sql.ErrNoRows) {
		return name, nil
	}
	return project, err
}

// ProjectList lists the projects, the one with the newest entry first.
func (db *DB) ProjectList(ctx context.Context) ([]memory.Project, error) {
	var out []memory.Project
	at := map[string]int{}
	err := db.read(ctx, func(scan func(...any) error) error {
		var p memory.Project
		err := scan(&p.Name, &p.Sessions, &p.Turns)
		at[p.Name] = len(out)
		out = append(out, p)
		return err
	}, `SELECT s.project, count(*), sum(s.turns) FROM sessions s WHERE s.project <> '' GROUP BY s.project
ORDER BY max(coalesce((SELECT max(time) FROM entries e WHERE e.session_id = s.id), s.started_at)) DESC, s.project`)
	if err != nil {
		return nil, err
	}
	find := func(name string) *memory.Project {
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, memory.Project{Name: name})
		}
		return &out[i]
	}
	err = db.read(ctx, func(scan func(...any) error) error {
		var name string
		var n int
		var first, last int64
		if err := scan(&name, &n, &first, &last); err != nil {
			return err
		}
		p := find(name)
		p.Entries, p.First, p.Last = n, fromMillis(first), fromMillis(last)
		return nil
	}, "SELECT project, count(*), min(time), max(time) FROM entries WHERE project <> '' GROUP BY project")
	if err != nil {
		return nil, err
	}
	for _, q := range []struct {
		list  func(*memory.Project) *[]string
		query string
	}{
		{func(p *memory.Project) *[]string { return &p.Folders }, "SELECT DISTINCT project, cwd FROM entries WHERE project <> '' AND cwd <> '' ORDER BY project, cwd"},
		{func(p *memory.Project) *[]string { return &p.Aliases }, "SELECT project, name FROM project_aliases ORDER BY project, name"},
	} {
		err := db.read(ctx, func(scan func(...any) error) error {
			var name, item string
			if err := scan(&name, &item); err != nil {
				return err
			}
			if i, ok := at[name]; ok {
				l := q.list(&out[i])
				*l = append(*l, item)
			}
			return nil
		}, q.query)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// MergeProjects puts everything of the project from under the name of the project into, now and for all that comes later.
func (db *DB) MergeProjects(ctx context.Context, from, into string) (sessions, entries int, err error) {
	err = db.write(ctx, func(tx *sql.Tx) error {
		sessions, entries, err = mergeProjects(ctx, tx, from, into)
		return err
	})
	return sessions, entries, db.explain("merge projects", err)
}

func mergeProjects(ctx context.Context, tx *sql.Tx, from, into string) (sessions, entries int, err error) {
	if into, err = projectName(ctx, tx, into); err != nil {
		return 0, 0, err
	}
	if from == into {
		return 0, 0, nil
	}
	for _, s := range []struct {
		n     *int
		query string
	}{
		{&sessions, "UPDATE sessions SET project = ?2 WHERE project = ?1"},
		{&entries, "UPDATE entries SET project = ?2 WHERE project = ?1"},
		{nil, "UPDATE project_aliases SET project = ?2 WHERE project = ?1"},
		{nil, "UPDATE project_marks SET project = ?2 WHERE project = ?1"},
		{nil, "INSERT INTO project_aliases (name, project) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET project = ?2"},
	} {
		res, err := tx.ExecContext(ctx, s.query, from, into)
		if err != nil {
			return 0, 0, err
		}
		if s.n != nil {
			n, err := res.RowsAffected()
			if err != nil {
				return 0, 0, err
			}
			*s.n = int(n)
		}
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM project_aliases WHERE name = project")
	return sessions, entries, err
}

// KnowProject learns the mark of a repository that has no remote. When another folder has it and is gone, the repository was
// moved: everything that is kept of it goes to the new name.
func (db *DB) KnowProject(ctx context.Context, project, mark string, gone func(folder string) bool) error {
	known := ""
	err := db.read(ctx, func(scan func(...any) error) error { return scan(&known) }, "SELECT project FROM project_marks WHERE mark = ?", mark)
	if err != nil || known == project || known != "" && !gone(known) {
		return err
	}
	return db.explain("know project", db.write(ctx, func(tx *sql.Tx) error {
		if known != "" {
			// The new folder may once have been merged into another project; then that is where both belong.
			if _, _, err := mergeProjects(ctx, tx, known, project); err != nil {
				return err
			}
		}
		into, err := projectName(ctx, tx, project)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO project_marks (mark, project) VALUES (?1, ?2) ON CONFLICT (mark) DO UPDATE SET project = ?2", mark, into)
		return err
	}))
}

// ProjectName is the name under which a project is kept: its own, or that of the one it was merged into.
func (db *DB) ProjectName(ctx context.Context, name string) (string, error) {
	project := name
	err := db.read(ctx, func(scan func(...any) error) error { return scan(&project) }, "SELECT project FROM project_aliases WHERE name = ?", name)
	return project, err
}
