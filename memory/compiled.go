package memory

import (
	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/memory/internal/keep"
)

// A package compiles all methods of each instance of a generic type that the types it
// mentions lead to. Those of the tables take seconds, in each package that mentions a Memory,
// a Batch or a Snapshot. So their fields that lead there are any; no method of an exported type
// has a table, or what leads to one, in its signature; and these functions, which no other
// package reads, say what the fields hold. An exported method that other packages would inline
// calls none of them.

// policyOf returns what the Memory does by itself.
func policyOf(m *Memory) *keep.Policy { return m.policy.(*keep.Policy) }

// tablesOf returns the tables of the Memory, which are those of its policy.
func tablesOf(m *Memory) *derive.Tables { return m.tables.(*derive.Tables) }

// updateOf returns the update that the Batch is.
func updateOf(b *Batch) *keep.Update { return b.update.(*keep.Update) }

// viewOf returns what the tables have in the Snapshot; nothing, and no tables, in a zero one.
func viewOf(s Snapshot) derive.View {
	t, _ := s.tables.(*derive.Tables)
	return derive.View{T: t, Root: s.root, Instant: s.instant}
}
