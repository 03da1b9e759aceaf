package text

import (
	"cmp"
	"slices"
)

// A posting says that a term occurs in a document. Those of one term are in the
// order of their documents' numbers, each at most once, and never modified.
type posting struct {
	doc    uint32
	weight weight
}

// A weight is all that the score of a term in a document depends on: how often
// the term occurs in it, in the high 8 bits, and its length, in the low 24. What
// does not fit is heavy: its numbers are with the document.
type weight uint32

const (
	countShift = 24
	maxLength  = 1<<countShift - 1
	heavyCount = 1<<8 - 1
	heavy      = weight(heavyCount) << countShift
)

func newWeight(count uint32, tokens uint64) weight {
	if count >= heavyCount || tokens > maxLength {
		return heavy
	}
	return weight(count)<<countShift | weight(tokens)
}

func (w weight) count() uint32  { return uint32(w >> countShift) }
func (w weight) length() uint32 { return uint32(w & maxLength) }

// kLength is added to the length of a document in the formula that the doc comment has.
const kLength = 25

// with returns the one of w and v that scores more, whatever the other documents.
func (w weight) with(v weight) weight {
	if uint64(v.count())*uint64(w.length()+kLength) > uint64(w.count())*uint64(v.length()+kLength) {
		return v
	}
	return w
}

// lightest scores less than any other, and heavy more.
const lightest = weight(maxLength)

// insert returns a copy of ps with p, in place of that of the same document, if
// any, and whether there was none.
func insert(ps []posting, p posting) (_ []posting, added bool) {
	i, found := place(ps, p.doc)
	if found {
		ps = slices.Clone(ps)
		ps[i] = p
		return ps, false
	}
	return splice(ps, i, 0, p), true
}

// without returns a copy of ps without the posting of doc, which must be there.
func without(ps []posting, doc uint32) []posting {
	i, _ := place(ps, doc)
	return splice(ps, i, 1)
}

// place returns where the posting of doc is or belongs, and whether it is there.
func place(ps []posting, doc uint32) (int, bool) {
	return slices.BinarySearchFunc(ps, doc, func(p posting, doc uint32) int { return cmp.Compare(p.doc, doc) })
}

// splice returns a copy of s with v in place of the n elements at i, in as
// little memory as it takes.
func splice[T any](s []T, i, n int, v ...T) []T {
	c := make([]T, len(s)-n+len(v))
	copy(c, s[:i])
	copy(c[i:], v)
	copy(c[i+len(v):], s[i+n:])
	return c
}
