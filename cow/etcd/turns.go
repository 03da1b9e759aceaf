package etcd

import "time"

// All replicas want to replace the same head. Who has just done so can do it again at
// once, while the others still have to run their updates anew: they would hardly ever
// win. So a replica that knows of others leaves the next turn to them: it waits
// for about as long as they need, and begins at once if they have come. If nobody comes
// some times in a row it is alone, and waits no more.
type turns struct {
	alone int           // so many turns in a row nobody else came
	took  time.Duration // a transaction
	ended time.Time     // the last one
}

const (
	yields   = 4 // turns
	yieldFor = 3 // transactions

	leastWait = time.Millisecond
	mostWait  = 50 * time.Millisecond
)

func newTurns() *turns { return &turns{alone: yields} }

// yield returns until when to wait, given whether the head is this replica's.
func (t *turns) yield(mine bool) time.Time {
	switch {
	case !mine:
		t.alone = 0
	case t.alone < yields:
		return t.ended.Add(min(yieldFor*t.took, mostWait))
	}
	return time.Time{}
}

// gather returns until when to wait for updates that were superseded at a time: if they
// come back at once, one transaction does instead of two.
func (t *turns) gather(at time.Time) time.Time {
	return at.Add(min(max(t.took/2, leastWait), mostWait))
}

// sent says that a transaction was sent, and whether it took place.
func (t *turns) sent(begun time.Time, won bool) {
	if t.ended = time.Now(); !won {
		return
	}
	if t.alone < yields {
		t.alone++
	}
	if took := t.ended.Sub(begun); t.took == 0 {
		t.took = took
	} else {
		t.took += (took - t.took) / 4
	}
}
