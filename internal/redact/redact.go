// Package redact says what must never be stored: secrets, text marked private, terminal escapes and what is over the limit.
// It does not read or write files, knows no events, and never fails on text.
package redact

// Stats says what Payload took out of one document.
type Stats struct {
	Redacted  int  // secrets and private passages replaced
	Truncated bool // a field was longer than the limit
}

// maxNested is how deep JSON inside JSON strings is followed; text below it is still scanned as text.
const maxNested = 4

// maxRounds bounds the search for a fixed point: taking something out can join two halves of something else.
const maxRounds = 5

// Text returns s without secrets, private passages and ANSI escapes, and how many [redacted:KIND] it put in.
// A string that is JSON is also redacted by its keys. Text that holds nothing of the kind is returned as it is.
func Text(s string) (string, int) { return clean(s, 0) }

func clean(s string, nested int) (string, int) {
	total := 0
	for range maxRounds {
		t, n := cleanOnce(s, nested)
		total += n
		if t == s {
			break
		}
		s = t
	}
	return s, total
}

func cleanOnce(s string, nested int) (string, int) {
	if nested < maxNested && looksLikeJSON(s) {
		r := rewriter{s: s, keepSpace: true, nested: nested + 1, out: make([]byte, 0, len(s)+64)}
		if r.document() == nil {
			if string(r.out) == s {
				return s, 0
			}
			return string(r.out), r.stats.Redacted
		}
	}
	sc := scanner{s: s}
	if !sc.run() {
		return sc.result(), sc.n
	}
	t := stripANSI(s)
	t, n := stripPrivate(t)
	sc = scanner{s: t, prepared: true}
	sc.run()
	return sc.result(), n + sc.n
}

// shapes is Text for the client's own fields (ids, folders, times): only keys of known shape are taken out.
func shapes(s string) (string, int) {
	sc := scanner{s: s, prepared: true, shapesOnly: true}
	sc.run()
	return sc.result(), sc.n
}

func looksLikeJSON(s string) bool {
	i, j := 0, len(s)-1
	for i < j && isSpace(s[i]) {
		i++
	}
	for j > i && isSpace(s[j]) {
		j--
	}
	return i < j && (s[i] == '{' && s[j] == '}' || s[i] == '[' && s[j] == ']')
}

func mark(kind string) string { return "[redacted:" + kind + "]" }
