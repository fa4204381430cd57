package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/copilot-mem/copilot-mem/internal/memory"
)

// Set is entries, and questions about them.
type Set struct {
	Name      string
	Stores    []Store // each is searched on its own
	Questions []Question
}

// Store is the entries of one person.
type Store struct {
	Entries []memory.Entry
	Now     time.Time
}

// Question asks for units: what is counted as found. A question without units has no answer in the store.
type Question struct {
	Store    int
	Project  string // asked inside it; empty: of all
	Text     string
	Category string
	Want     []string // units
	Sessions []string // sessions that hold them
	HeldOut  bool
}

// unitOf names what an entry is a part of: a turn of a session.
func unitOf(e memory.Entry) string { return e.SessionID + "." + strconv.Itoa(e.Turn) }

var kinds = map[byte]memory.Kind{
	'>': memory.KindPrompt, '<': memory.KindResponse, '$': memory.KindToolCall, '=': memory.KindToolResult, '~': memory.KindToolCall, '*': memory.KindNote,
}

// readSessions reads sessions as testdata/sessions.txt writes them.
func readSessions(r io.Reader) ([]memory.Entry, error) {
	var out []memory.Entry
	var open memory.Entry // what a line inherits
	var command string
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		line := in.Text()
		switch {
		case line == "":
			continue
		case strings.HasPrefix(line, "# "):
			f := strings.Fields(line)
			if len(f) != 5 {
				return nil, fmt.Errorf("line %d: a session has an id, a project, a branch and a time", n)
			}
			at, err := time.Parse("2006-01-02T15:04", f[4])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			open = memory.Entry{SessionID: f[1], Project: f[2], Branch: f[3], Time: at}
			continue
		case len(line) > 1 && line[1] == ' ' && kinds[line[0]] != "":
			e := open
			e.Kind, e.Text = kinds[line[0]], line[2:]
			open.Time = open.Time.Add(20 * time.Second)
			switch line[0] {
			case '>':
				open.Turn++
				e.Turn = open.Turn
			case '$':
				e.Tool, command = "bash", e.Text
				e.ToolInput, e.Text = quoted("command", e.Text), ""
			case '=':
				e.Tool, e.ToolInput = "bash", quoted("command", command)
			case '~':
				path, text, _ := strings.Cut(e.Text, ": ")
				e.Tool, e.Text = "edit", ""
				e.ToolInput = quoted("path", path, "new_str", text)
			}
			e.ID = fmt.Sprintf("%s/%d", e.SessionID, n)
			out = append(out, e)
		case len(out) > 0 && out[len(out)-1].Kind == memory.KindToolResult:
			out[len(out)-1].Text += "\n" + line
		default:
			return nil, fmt.Errorf("line %d: %q begins with no mark", n, line)
		}
	}
	return out, in.Err()
}

func quoted(pairs ...string) []byte {
	b := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(append(strconv.AppendQuote(b, pairs[i]), ':'), pairs[i+1])
	}
	return append(b, '}')
}

// readQuestions reads questions as testdata/questions.txt writes them. Every second session is held out.
func readQuestions(r io.Reader) ([]Question, error) {
	var out []Question
	place := map[string]int{}
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		line := in.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(line, " | ", 3)
		if len(f) != 3 {
			return nil, fmt.Errorf("line %d: a question has a kind, turns and a text", n)
		}
		q := Question{Category: f[0], Text: f[2]}
		if f[1] != "-" {
			q.Want = strings.Fields(f[1])
		}
		for _, w := range q.Want {
			session, _, _ := strings.Cut(w, ".")
			if len(q.Sessions) == 0 || q.Sessions[len(q.Sessions)-1] != session {
				q.Sessions = append(q.Sessions, session)
			}
			if _, ok := place[session]; !ok {
				place[session] = len(place)
			}
		}
		q.HeldOut = len(q.Sessions) > 0 && place[q.Sessions[0]]%2 == 1
		out = append(out, q)
	}
	return out, in.Err()
}

// codingSet is the set in testdata among noise: sessions that speak of the same things and answer nothing.
func codingSet(dir string, noise int) (Set, error) {
	s := Set{Name: "coding"}
	f, err := os.Open(dir + "/sessions.txt")
	if err != nil {
		return s, err
	}
	defer func() { _ = f.Close() }()
	entries, err := readSessions(f)
	if err != nil {
		return s, fmt.Errorf("sessions.txt: %w", err)
	}
	q, err := os.Open(dir + "/questions.txt")
	if err != nil {
		return s, err
	}
	defer func() { _ = q.Close() }()
	if s.Questions, err = readQuestions(q); err != nil {
		return s, fmt.Errorf("questions.txt: %w", err)
	}
	project := map[string]string{}
	for _, e := range entries {
		project[e.SessionID] = e.Project
	}
	for i := range s.Questions {
		s.Questions[i].Project = inProject(s.Questions[i], project)
	}
	s.Stores = []Store{{append(entries, makeNoise(entries, noise)...), time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)}}
	return s, check(s)
}

// inProject is the project in whose folder a question is asked: where its sessions are, if that is one.
func inProject(q Question, project map[string]string) string {
	in := ""
	for i, s := range q.Sessions {
		if i > 0 && project[s] != in {
			return ""
		}
		in = project[s]
	}
	return in
}

// check makes sure that every question asks for units that there are.
func check(s Set) error {
	have := map[string]bool{}
	for i, st := range s.Stores {
		for _, e := range st.Entries {
			have[fmt.Sprint(i, " ", unitOf(e))] = true
		}
	}
	for _, q := range s.Questions {
		for _, w := range q.Want {
			if !have[fmt.Sprint(q.Store, " ", w)] {
				return fmt.Errorf("%s: the question %q asks for %s, which is not there", s.Name, q.Text, w)
			}
		}
	}
	return nil
}
