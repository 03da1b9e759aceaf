package peer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cowstore/cowstore/cow/bolt"
)

// run joins the owner, or becomes it, again and again, until the Peer is closed.
func (p *Peer) run() {
	defer close(p.done)
	told := ""
	for again := (pause{}); ; {
		// Joining comes first, since it costs less than opening, and a socket that
		// nobody listens to says so at once.
		err := p.join()
		if p.ctx.Err() != nil {
			return
		}
		if err == nil {
			again = pause{}
			continue
		}
		waiting, err := p.own(err)
		switch {
		case err == nil:
			return // closed
		case waiting:
			p.set(state{wait: err})
		default:
			err = fmt.Errorf("peer: %w", err)
			p.set(state{err: err})
			if told != err.Error() {
				told = err.Error()
				p.log.Error("the memory cannot be opened", "file", p.path, "error", err)
			}
		}
		p.sleep(again.next())
	}
}

// own opens the file, and serves it until the Peer is closed. Its error says why not, and
// waiting whether that is for somebody who cannot be joined now, but may be soon.
func (p *Peer) own(joining error) (waiting bool, err error) {
	s, err := p.o.Open()
	if errors.Is(err, bolt.ErrLocked) {
		// It may be that nobody has it, and several have just found each other trying.
		never := errors.Is(joining, ErrVersion) || errors.Is(joining, ErrForeign)
		return !never, fmt.Errorf("%w; joining who has it: %w", err, joining)
	}
	if err != nil {
		return false, err
	}
	o := newOwner(p, s)
	o.listen()
	p.log.Info("this process owns the memory", "file", p.path, "socket", p.socket)
	p.set(state{seat: o})
	// The socket's file may be removed by whoever tidies up.
	check := time.NewTicker(p.o.beat)
	defer check.Stop()
	for {
		select {
		case <-check.C:
			o.listen()
		case <-p.ctx.Done():
			p.err = o.close()
			return false, nil
		}
	}
}

func (p *Peer) sleep(d time.Duration) {
	ctx, cancel := context.WithTimeout(p.ctx, d)
	defer cancel()
	<-ctx.Done()
}

// A pause grows from a few milliseconds to a quarter of a second, at random, so that
// those who tried at the same time do not do so again.
type pause struct{ n int }

func (p *pause) next() time.Duration {
	most := min(4*time.Millisecond<<p.n, 250*time.Millisecond)
	p.n = min(p.n+1, 10)
	return most/4 + rand.N(most*3/4)
}
