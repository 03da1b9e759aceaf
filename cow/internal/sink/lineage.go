package sink

import "crypto/rand"

// lineageLen is how many letters and digits a lineage has: 130 random bits.
const lineageLen = 26

// NewLineage returns a random lineage.
func NewLineage() string { return rand.Text()[:lineageLen] }

// IsLineage reports whether a text is one that NewLineage can return: 26 letters from A to Z
// and digits from 2 to 7. Whatever reads a lineage, be it of a cursor or of a file, asks this.
func IsLineage(text string) bool {
	if len(text) != lineageLen {
		return false
	}
	for _, c := range []byte(text) {
		if (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}
