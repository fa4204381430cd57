package validate

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf16"

	"github.com/copilot-mem/copilot-mem/internal/plugin"
)

// listingBudget is how many characters of entries the client puts in front of the model; further skills are shown by
// name only. Seen in 1.0.102, with the entry of listingEntry.
const listingBudget = 15000

// listingEntry is the client's text around name and description.
const listingEntry = "<skill>\n  <name></name>\n  <description></description>\n  <location>project</location>\n</skill>\n"

// listed is one skill that the model is shown.
type listed struct {
	r    *report
	size int // characters of its entry
}

// list adds a skill to what the model is shown.
func (c *checker) list(r *report, s plugin.Skill) {
	if v := s.Doc.Fields.Get("disable-model-invocation"); v.Is(plugin.Bool) && strings.EqualFold(v.Text, "true") {
		return
	}
	description := s.Description
	if s.Doc.Fields.Get("description") == nil {
		description = bodyDescription(s.Doc.Body)
	}
	size := len(listingEntry) + len(s.Name) + len(utf16.Encode([]rune(html.EscapeString(description))))
	c.listing = append(c.listing, listed{r, size})
}

// bodyDescription is what the client shows of a skill without a description: its text without headings.
func bodyDescription(body string) string {
	var words []string
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			words = append(words, strings.Fields(line)...)
		}
	}
	text := []rune(strings.Join(words, " "))
	return string(text[:min(len(text), maxDescription)])
}

// checkListing reports the first skill that no longer fits, and begins a new listing.
func (c *checker) checkListing() {
	sum := 0
	for i, l := range c.listing {
		if sum += l.size; sum > listingBudget {
			l.r.add(Warning, 1, 1, "skill/listing-budget", fmt.Sprintf("from here on %d of %d skills are shown to the model without their descriptions: "+
				"those before take %d of %d characters", len(c.listing)-i, len(c.listing), sum-l.size, listingBudget),
				"shorten the descriptions, or set `disable-model-invocation: true` where only people use the skill")
			break
		}
	}
	c.listing = nil
}
