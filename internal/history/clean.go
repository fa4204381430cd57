package history

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/redact"
)

// maxText is how much of one text is kept whole, as for what hooks tell.
const maxText = 1 << 20

// cleaned is a text as it may be stored.
type cleaned struct {
	text      string
	redacted  int
	truncated bool
}

// cleanText takes secrets, private passages and escapes out of a text.
func cleanText(s string) cleaned {
	if len(s) <= maxText {
		t, n := redact.Text(s)
		return cleaned{text: t, redacted: n}
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return cleaned{}
	}
	return cleanJSON(raw).asText()
}

// cleanJSON takes them out of a JSON value; what is no JSON is cleaned as text and becomes a JSON string.
func cleanJSON(raw []byte) cleaned {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return cleaned{}
	}
	out, stats, err := redact.Payload(nil, raw, maxText)
	if err != nil {
		c := cleanText(string(raw))
		quoted, err := json.Marshal(c.text)
		if err != nil {
			return cleaned{}
		}
		c.text = string(quoted)
		return c
	}
	return cleaned{text: string(out), redacted: stats.Redacted, truncated: stats.Truncated}
}

// asText decodes the JSON string that c holds; any other value stays as it is written.
func (c cleaned) asText() cleaned {
	var s string
	if strings.HasPrefix(c.text, `"`) && json.Unmarshal([]byte(c.text), &s) == nil {
		c.text = s
	}
	return c
}

// textOf is the cleaned text of a JSON value that should be a string.
func textOf(raw []byte) cleaned {
	var s string
	if len(raw) > maxText {
		return cleanJSON(raw).asText() // cut before it is decoded
	}
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return cleanText(s)
	}
	return cleanJSON(raw)
}

// name cleans a short field: a tool's name, a title, a path.
func name(s string) string {
	c := cleanText(strings.ToValidUTF8(s, "�"))
	const most = 4 << 10
	if len(c.text) > most {
		return strings.ToValidUTF8(c.text[:most], "")
	}
	return c.text
}
