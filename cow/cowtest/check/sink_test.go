package check

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
)

// errRefused is what the sink refuses some updates with.
var errRefused = errors.New("refused")

// sinkTarget is a DB with a sink that is slow and has faults: what is proposed happens, alone
// or in a group, or is refused, or is superseded, so that it runs again.
func sinkTarget(t *testing.T, kept cow.Retention) *target {
	db, tables := newDB(kept)
	sink := cowtest.Attach(t, db, cowtest.SinkOptions{})
	r := rand.New(rand.NewPCG(1, 2))
	decide := func() error {
		switch r.IntN(12) {
		case 0:
			sink.Refuse(1+r.IntN(3), errRefused)
		case 1:
			return sink.Rebase()
		case 2:
			return sink.Reset(sink.Contents())
		default:
			sink.Ack(1 + r.IntN(4))
		}
		return nil
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := sink.Await(t.Context(), 1); err != nil {
				return // the test is over
			}
			for range r.IntN(4) {
				runtime.Gosched() // more may come
			}
			if err := decide(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	t.Cleanup(func() { <-ended })
	return dbTarget(db, tables)
}
