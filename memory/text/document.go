package text

import (
	"cmp"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/size"
	"github.com/cowstore/cowstore/snapshot"
)

// A document is what an index knows of one, besides its postings.
type document struct {
	key    *snapshot.RowRef // its row among the keys
	tokens uint64
	terms  string // uses, encoded: needed to take the postings away again
	heavy  *[]use // those whose weight is heavy
}

// bytes returns how many bytes d refers to, without its key.
func (d *document) bytes() int {
	n := size.Object(len(d.terms))
	if d.heavy != nil {
		n += size.Object(int(unsafe.Sizeof(*d.heavy))) + size.Object(cap(*d.heavy)*int(unsafe.Sizeof(use{})))
	}
	return n
}

// A use says how often a document has a term. Those of a document are in the
// order of the numbers of their terms.
type use struct{ term, count uint32 }

// encode returns uses, in a few bytes each: the distance from the term before
// and the count, as varints, the count only where it is not 1.
func encode(uses []use) string {
	buf := make([]byte, 0, 3*len(uses))
	var last uint32
	for _, u := range uses {
		d := uint64(u.term-last) << 1
		last = u.term
		if u.count == 1 {
			buf = binary.AppendUvarint(buf, d)
			continue
		}
		buf = binary.AppendUvarint(buf, d|1)
		buf = binary.AppendUvarint(buf, uint64(u.count))
	}
	return string(buf)
}

// decode returns the uses that encode made terms of.
func decode(terms string) []use {
	buf := []byte(terms)
	uses := make([]use, 0, len(terms)/2+1)
	var last uint32
	for len(buf) > 0 {
		d, n := binary.Uvarint(buf)
		buf = buf[n:]
		last += uint32(d >> 1)
		u := use{last, 1}
		if d&1 != 0 {
			c, n := binary.Uvarint(buf)
			buf = buf[n:]
			u.count = uint32(c)
		}
		uses = append(uses, u)
	}
	return uses
}

// heavies returns those of uses whose weight in a document of so many tokens is
// heavy, or nil.
func heavies(uses []use, tokens uint64) *[]use {
	var hs []use
	for _, u := range uses {
		if newWeight(u.count, tokens) == heavy {
			hs = append(hs, u)
		}
	}
	if hs == nil {
		return nil
	}
	return &hs
}

// count returns how often the document has a term whose weight in it is heavy.
func (d *document) count(term uint32) uint32 {
	i, _ := slices.BinarySearchFunc(*d.heavy, term, func(u use, term uint32) int { return cmp.Compare(u.term, term) })
	return (*d.heavy)[i].count
}
