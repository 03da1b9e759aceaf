package result

import (
	"fmt"
	"time"
)

// Method returns how the figures were measured and what they mean, a paragraph
// each.
func (r *Report) Method() []string {
	return []string{
		"†: not isolated. It hands out what it holds: a caller that writes to what it read, or keeps writing to what it " +
			"stored, does so for all. Nothing tears here because no reader here writes.",
		"isolated: whatever a caller does to a value it stored or was given, the store does not change. " +
			"snapshots: several keys can be read as they were at one moment. " +
			"atomic: whoever iterates sees all of an update of several keys or nothing. " +
			"ordered: iterates in the order of keys.",
		"torn: what was read and was not whole. Everything read is checked, in every field, and is counted above where it was torn.",
		fmt.Sprintf("Figures are medians of %d rounds; ± is how far a round was from it at most. The stores take turns within a round, "+
			"so that what the machine does meanwhile hits all alike. Each turn begins with a new store, which is loaded and used "+
			"a little before anything is measured.", r.Rounds),
		fmt.Sprintf("ops/s, and lookups/s: by the time spent in the store. The choice of keys, the making of values and the checks are not in it, "+
			"but where more goroutines than processors are at work. "+
			"p50, p99, p99.9: of lookups, one in 32 timed by itself, about %v of which is the clock; with turns, of all of a turn. "+
			"These are closed loops: a goroutine asks again when it has its answer. Streams, and writes at a rate, are open loops: "+
			"they count from when they were due.", time.Duration(r.ClockNS)),
		"B/get: what a lookup allocates. GC: the part of processor time that the garbage collector took. " +
			"B/entry: what a store has on the heap, keys and values included, a record; texts that all stores share are not.",
	}
}
