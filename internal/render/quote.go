package render

import (
	"fmt"
	"strings"
)

// Bash quotes one word for bash, whatever is in it but NUL, which no path can hold.
func Bash(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// PowerShell quotes one word for PowerShell 5 and 7, which take four typographic quotes for ' as well.
func PowerShell(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		switch r {
		case '\'', '\u2018', '\u2019', '\u201a', '\u201b':
			b.WriteRune(r)
		}
		b.WriteRune(r)
	}
	b.WriteByte('\'')
	return b.String()
}

// word is a plain argument that no shell changes; anything else is a fault of the assets.
func word(s string) (string, error) {
	if s == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		return "", fmt.Errorf("hook argument %q: only letters, digits and hyphens", s)
	}
	return s, nil
}
