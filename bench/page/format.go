package page

import (
	"strconv"
	"strings"

	"github.com/cowstore/cowstore/bench/result"
)

// unbroken makes of a text one that is not broken into lines.
func unbroken(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

// The amounts of package result, unbroken.
func format(x float64, unit string) string         { return unbroken(result.Amount(x, unit)) }
func brief(x float64, unit string) string          { return unbroken(result.Brief(x, unit)) }
func spread(low, high float64, unit string) string { return unbroken(result.Range(low, high, unit)) }

// count writes a number of things, of which one is called thing.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return result.Thousands(n) + " " + thing
}

// slug makes of s what can be the name of a file and part of an address.
func slug(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimSuffix(b.String(), "-")
}

// names gives out names that differ.
type names map[string]bool

// unique returns the slug of s, with a number where it was given out before.
func (n names) unique(s string) string {
	base := slug(s)
	if base == "" {
		base = "unnamed"
	}
	name := base
	for i := 2; n[name]; i++ {
		name = base + "-" + strconv.Itoa(i)
	}
	n[name] = true
	return name
}
