package main

import (
	"fmt"
	"time"

	"github.com/cowstore/cowstore/bench/stores"
)

// settings say what to run.
type settings struct {
	workloads []workload
	kinds     []stores.Kind
	duration  time.Duration // of each store in each case, over all rounds

	// rounds is how often each store gets its turn in each case: what the machine
	// does meanwhile then hits all alike, and the median leaves out a turn that was
	// disturbed.
	rounds int

	clients int // goroutines that use a store
	rate    int // writes a second, where a workload has a writer; 0: as fast as possible
	n       int // records or users; 0: as many as the workload says
	seed    uint64
	full    bool // every size there is, not only those that are measured quickly
	records string
	queries string
}

// turn is how long a store is measured in one turn.
func (s *settings) turn() time.Duration { return s.duration / time.Duration(s.rounds) }

// size returns how many records there are: what the command line says, or n.
func (s *settings) size(n int) int {
	if s.n > 0 {
		return s.n
	}
	return n
}

// changes says what the command line has changed of what a workload says of itself.
func (s *settings) changes(workload string) (text string) {
	if s.n > 0 {
		text += fmt.Sprintf(" Here with -n %d.", s.n)
	}
	if workload == "docs" && s.rate != usualRate {
		text += fmt.Sprintf(" Here with -writes %d.", s.rate)
	}
	return text
}

// usualRate is how many writes a second there are by default.
const usualRate = 1000
