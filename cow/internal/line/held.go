package line

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/nested"
)

// The errors of transactions that are values.
var (
	ErrTxEnded    = errors.New("the transaction has ended before")
	ErrSuperseded = errors.New("other commits came first")
)

// Hold takes the writer's place, when it is free, for a transaction.
func (l *Line) Hold(ctx context.Context) (*Held, error) {
	if l.turnstile.Load() == nil {
		turnstile := make(chan struct{}, 1)
		l.turnstile.CompareAndSwap(nil, &turnstile)
	}
	const what = "a transaction"
	told := l.begins(ctx, what, true)
	err := hook.ErrPanicked // unless place returns
	defer func() {
		if err != nil {
			told.end(err)
		}
	}()
	t, err := l.place(ctx, what, 0)
	if err != nil {
		return nil, err
	}
	defer l.writer.Unlock()
	told.start()
	h := &Held{turn: t, told: told, goroutine: nested.Goroutine(), since: time.Now(), over: make(chan struct{})}
	h.origin = new(origin)
	runtime.Callers(3, h.origin[:])
	l.held.Store(h)
	return h, nil
}

// Base returns the version that the transaction begins with.
func (h *Held) Base() *Root { return h.turn.base }

// Claim reports whether the caller is the one to end the transaction, by Commit or Abort:
// the first to ask is.
func (h *Held) Claim() bool { return h.claimed.CompareAndSwap(false, true) }

// Commit ends the transaction with what f makes of it. It returns ErrSuperseded where a sink
// has decided that other commits came first.
func (h *Held) Commit(f func(base *Root, want Want) (Draft, error)) error {
	err := hook.ErrPanicked // unless this returns
	defer func() { h.told.end(err) }()
	err = h.commit(f)
	return err
}

func (h *Held) commit(f func(base *Root, want Want) (Draft, error)) error {
	r := h.end(func(base *Root, want Want) (Draft, error) {
		d, err := f(base, want)
		h.told.sealed(base, d)
		return d, err
	})
	version, again, err := r.fate(h.turn.ctx)
	h.told.decided(version, r.shares != nil, again)
	if again {
		return fmt.Errorf("cow: %w: begin again", ErrSuperseded)
	}
	r.succeed(err)
	return err
}

func (h *Held) end(f func(base *Root, want Want) (Draft, error)) run {
	l := h.turn.line
	l.writer.Lock()
	defer h.free()
	if l.outbox.Load() != h.turn.o {
		return run{shares: superseded()}
	}
	if err := context.Cause(h.turn.ctx); err != nil {
		return run{err: err}
	}
	return h.turn.end(f)
}

// Abort ends the transaction without a trace.
func (h *Held) Abort() {
	h.turn.line.writer.Lock()
	h.free()
	h.told.end(hook.ErrAborted)
}

// free gives the writer's place back. The caller holds the mutex.
func (h *Held) free() {
	l := h.turn.line
	l.held.Store(nil)
	close(h.over)
	l.writer.Unlock()
}

// Drop aborts a transaction that nobody can end any more.
func (h *Held) Drop() {
	if h.Claim() {
		h.turn.line.dropped.Store(h.origin) // and not h, which keeps a version
		h.turn.line.drops.Add(1)
		told := h.told
		h.told = nil
		h.Abort()
		if told != nil {
			told.is.Err = hook.ErrAborted
			told.is.Run = told.clock() - told.mark
			later(h.turn.line, told.all, func(end hook.UpdateEnd) { end.OnUpdateEnd(told.ctx, told.is) })
		}
	}
}
