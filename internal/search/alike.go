package search

import (
	_ "embed" // the list
	"slices"
	"strings"
	"sync"
)

//go:embed alike.txt
var alikeText string

// alike gives for a stem those of the words that mean about the same, in the order of the list.
var alike = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(alikeText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		group := strings.Fields(line)
		for i, w := range group {
			group[i] = Stem(w)
		}
		for _, w := range group {
			for _, other := range group {
				if other != w && !slices.Contains(m[w], other) {
					m[w] = append(m[w], other)
				}
			}
		}
	}
	return m
})
