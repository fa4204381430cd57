package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Identity is what makes an event the one it is. Its JSON is hashed, so the order of its fields must never change.
type Identity struct {
	Session, Event, At                            string
	Prompt, Source, Reason, Tool                  string
	Input                                         string
	ResultType, ResultText                        string
	Error                                         any
	ErrorContext, Agent, Response, Trigger, Asked string
	Notification, Message, Title, Call            string
	Payload                                       string
}

// ID gives the 20 lower-case characters of an [Entry.ID].
func (i Identity) ID() string {
	b, err := json.Marshal(i)
	if err != nil {
		panic(err) // text only
	}
	sum := sha256.Sum256(b)
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:20]
}

// TranscriptID is the id of what one line of a transcript tells; the line's own id is enough, since its other fields may be
// filled in when the client writes it again. part tells apart what one line says of several things.
func TranscriptID(session, event, id, part string) string {
	return Identity{Session: session, Event: "transcript." + event, Call: id, Payload: part}.ID()
}

// RemoteProject is the name of the project at a host: one name for all spellings that lead there.
func RemoteProject(host, path string) string {
	host = strings.ToLower(host)
	switch host {
	case "ssh.github.com": // ssh over the https port
		host = "github.com"
	case "ssh.dev.azure.com", "vs-ssh.visualstudio.com":
		if parts := strings.Split(path, "/"); len(parts) == 4 && parts[0] == "v3" {
			host, path = "dev.azure.com", parts[1]+"/"+parts[2]+"/_git/"+parts[3]
		}
	}
	switch host {
	case "github.com", "gitlab.com", "bitbucket.org", "dev.azure.com": // they do not tell cases apart
		path = strings.ToLower(path)
	}
	return host + "/" + path
}

// MatchWindow is how far apart two sources may put one thing. A hook tells of a tool call before a person is asked for
// permission, and each hook may take 30 seconds (client 1.0.102).
const MatchWindow = 10 * time.Minute

// Class says what two sources speak of when they tell the same.
type Class string

// The classes. Kinds are not enough: a hook cannot tell a stop hook's continuation from the user's words.
const (
	ClassSaid       Class = "said"   // to the agent, by whomever
	ClassCall       Class = "call"   // of a tool
	ClassResult     Class = "result" // of a tool, also of one that failed
	ClassAnswer     Class = "answer" // of the agent
	ClassError      Class = "error"  // of the model
	ClassStart      Class = "start"  // of a session
	ClassEnd        Class = "end"
	ClassAgentStart Class = "agentStart"
	ClassAgentStop  Class = "agentStop"
)

// MatchKey is equal for what a hook and a transcript say of one thing, and never 0. It holds no time and no id: the store
// pairs equal keys of a session by their times, each entry with at most one of every source.
func MatchKey(session string, c Class, tool, text string) int64 {
	h := sha256.New()
	for _, part := range []string{session, string(c), tool, strings.TrimSpace(text)} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	sum := h.Sum(nil)
	if v := int64(binary.LittleEndian.Uint64(sum)); v != 0 && v != -1 {
		return v
	}
	return 1
}

// CanonicalJSON writes a JSON value with its keys in order, so that the order in which a source gives them does not matter;
// what is no JSON stays as it is.
func CanonicalJSON(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if len(raw) == 0 || d.Decode(&v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}

// ShellExit reads the exit code at the end of a shell tool's text, where the client (1.0.102) writes
// "<shellId: N completed with exit code C>"; nil where there is none.
func ShellExit(tool, text string) *int {
	const words = " completed with exit code "
	text = strings.TrimRight(text, " \n")
	i := strings.LastIndex(text, "<shellId: ")
	if !strings.HasSuffix(text, ">") || i < 0 || tool != "bash" && tool != "powershell" && !strings.HasSuffix(tool, "_bash") {
		return nil
	}
	_, code, ok := strings.Cut(text[i:len(text)-1], words)
	n, err := strconv.Atoi(code)
	if !ok || err != nil {
		return nil
	}
	return &n
}
