package data

import (
	"github.com/cowstore/cowstore/memory/internal/size"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/vector"
)

// A Space is what follows from the entries of a space. It is immutable, once it is
// stored.
type Space struct {
	Count    int   // entries
	Expiring int   // of them, those that expire
	Bytes    int64 // of the entries
	Vectors  *vector.Index
	Texts    *text.Index
	Since    uint64 // the version with which the epoch of texts began
}

// spaceSize is about what a space takes besides its entries and indexes: its row, and its
// place in the table and in the order.
const spaceSize = 144

// Size returns how many bytes the space takes, with its indexes.
func (sp *Space) Size() int64 {
	if sp.Count == 0 {
		return 0
	}
	return spaceSize + sp.Bytes + int64(sp.Vectors.Bytes()) + int64(sp.Texts.Bytes())
}

// A Total is what spaces have together. It is immutable, once it is stored.
type Total struct {
	Count int
	Bytes int64 // with the indexes
}

func (n Total) Plus(o Total) Total { return Total{n.Count + o.Count, n.Bytes + o.Bytes} }

func (n Total) Minus(o Total) Total { return Total{n.Count - o.Count, n.Bytes - o.Bytes} }

// Total returns what a space has.
func (sp *Space) Total() Total { return Total{sp.Count, sp.Size()} }

// BelowSize returns about what the row of a path takes that has spaces below it.
func BelowSize(path string) int64 { return int64(size.Row(path)) + 16 + 13 }
