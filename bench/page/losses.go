package page

import (
	"github.com/cowstore/cowstore/bench/result"
)

// A loss is a store of this project and who is ahead of it in a case.
type loss struct {
	mark
	In string // the column
	To []winner
}

// A winner is a store that is ahead, and by how much.
type winner struct {
	mark
	By string
}

// losses returns what result.Workload.Losses does, for the page.
func losses(w result.Workload, c result.Case, stores []result.Store, marks map[string]mark) (all []loss) {
	for _, l := range w.Losses(&c, stores) {
		shown := loss{mark: marks[l.Store.ID], In: heading(firstColumn(w))}
		for _, peer := range l.To {
			by := "many times"
			if result.Finite(peer.Times) {
				by = format(peer.Times, "x")
			}
			shown.To = append(shown.To, winner{marks[peer.Store.ID], by})
		}
		all = append(all, shown)
	}
	return all
}
