package line

import (
	"context"
	"slices"
	"time"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/nested"
)

// IsHook reports whether h implements an interface of package hook.
func IsHook(h any) bool {
	switch h.(type) {
	case hook.UpdateStart, hook.UpdateEnd, hook.Applied, hook.Compacted, hook.Swept, hook.Erased,
		hook.SinkChanged, hook.Searched, hook.Evicted:
		return true
	}
	return false
}

// AddHook adds a hook, until remove is called.
func (l *Line) AddHook(h any) (remove func()) {
	l.Own()
	a := &added{is: h}
	a.start, _ = h.(hook.UpdateStart)
	a.end, _ = h.(hook.UpdateEnd)
	l.hooks.change(func(all []*added) []*added { return append(all, a) })
	return func() {
		l.hooks.change(func(all []*added) []*added {
			return slices.DeleteFunc(all, func(is *added) bool { return is == a })
		})
	}
}

// change replaces the hooks by what f makes of a copy.
func (h *hooks) change(f func(all []*added) []*added) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := f(slices.Clone(h.list()))
	if len(all) == 0 {
		h.all.Store(nil)
		h.tell.Store(nil)
		return
	}
	h.all.Store(&all)
	var tell updateHooks
	for _, a := range all {
		if a.start != nil || a.end != nil {
			tell.all = append(tell.all, a)
			tell.ends = tell.ends || a.end != nil
		}
	}
	if len(tell.all) == 0 {
		h.tell.Store(nil)
		return
	}
	h.tell.Store(&tell)
}

func (h *hooks) list() []*added {
	if all := h.all.Load(); all != nil {
		return *all
	}
	return nil
}

// call calls f, which calls a hook: what that updates is not told. The number stays after a panic:
// other calls have it. So what a function updates that is deferred outside of a hook that panics
// may not be told, while another call is under way.
func (h *hooks) call(f func()) {
	if h.number.Load() == 0 {
		h.number.CompareAndSwap(0, nested.Number())
	}
	h.running.Add(1)
	defer h.running.Add(-1)
	nested.Run(h.number.Load(), f)
}

// inTurn calls f with the numbers below n, in order: all of them, even if one panics.
func inTurn(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	for i := n - 1; i >= 0; i-- {
		defer f(i)
	}
}

// inside reports whether this goroutine is in a hook.
func (h *hooks) inside() bool { return h.running.Load() > 0 && nested.Is(h.number.Load()) }

// Tell calls f with each hook that is an H, unless a hook does what is told.
func Tell[H any](l *Line, f func(h H)) {
	if tell := Hooked[H](l); tell != nil {
		tell(f)
	}
}

// Hooked returns a function that calls another with each hook that is an H, or nil if there is
// none, or a hook asks.
func Hooked[H any](l *Line) func(f func(h H)) {
	var hooks []H
	for _, a := range l.hooks.list() {
		if h, ok := a.is.(H); ok {
			hooks = append(hooks, h)
		}
	}
	if len(hooks) == 0 || l.hooks.inside() {
		return nil
	}
	return func(f func(h H)) {
		inTurn(len(hooks), func(i int) { l.hooks.call(func() { f(hooks[i]) }) })
	}
}

// remembered is how much is left to tell at most.
const remembered = 1024

// later is Tell in another goroutine, after all that is to be told there already, and of hooks
// that may have been removed since.
func later[H any](l *Line, all []*added, f func(h H)) {
	hs := &l.hooks
	if len(all) == 0 {
		return
	}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if len(hs.queue) == remembered {
		hs.queue = slices.Delete(hs.queue, 0, 1)
	}
	hs.queue = append(hs.queue, report{all, func(is any) {
		if h, ok := is.(H); ok {
			hs.call(func() { f(h) })
		}
	}})
	if !hs.telling {
		hs.telling = true
		go hs.tellLater()
	}
}

// tellLater tells what is in the queue, until that is empty.
func (h *hooks) tellLater() {
	ended := false
	defer func() {
		if !ended {
			go h.tellLater() // a hook called runtime.Goexit
		}
	}()
	for {
		h.mu.Lock()
		if len(h.queue) == 0 {
			h.telling, h.queue = false, nil
			h.mu.Unlock()
			ended = true
			return
		}
		next := h.queue[0]
		h.queue[0] = report{}
		h.queue = h.queue[1:]
		h.mu.Unlock()
		inTurn(len(next.all), func(i int) {
			if slices.Contains(h.list(), next.all[i]) {
				next.tell(next.all[i].is)
			}
		})
	}
}

// begins tells hooks that an update begins, and returns nil if there are none.
func (l *Line) begins(ctx context.Context, what string, transaction bool) *told {
	all := l.hooks.tell.Load()
	if all == nil || l.hooks.inside() {
		return nil
	}
	Given(ctx, what)
	t, ok := l.hooks.updates.Get().(*told)
	if !ok {
		t = &told{line: l}
		t.run = t.running
	}
	t.all, t.timed, t.ctx, t.is.Transaction = all.all, all.ends, ctx, transaction
	started := 0
	defer func() {
		if started < len(all.all) { // one panics: nothing begins
			t.all = t.all[:started]
			t.end(hook.ErrPanicked)
		}
	}()
	for _, a := range t.all {
		if a.start != nil {
			l.hooks.call(func() { t.ctx = a.start.OnUpdateStart(t.ctx, t.is) })
		}
		started++
	}
	t.mark, t.waits = t.clock(), true
	return t
}

// clock returns the time, if it counts.
func (t *told) clock() time.Duration {
	if !t.timed {
		return 0
	}
	return clock()
}

// running is made of an update, with the time that it takes.
func (t *told) running(base *Root, want Want) (Draft, error) {
	t.start()
	d, err := t.made(base, want)
	t.sealed(base, d)
	return d, err
}

// start ends the time that an update waits, and sealed that of its function. Where there was
// nothing to wait for it does not look at the clock, which takes a while for a small update. The
// caller has the writer's place.
func (t *told) start() {
	if t == nil {
		return
	}
	t.is.Attempts++
	t.waits, t.runs = false, true
	if !t.line.queued && t.line.outbox.Load() == nil {
		return
	}
	t.line.queued = false
	now := t.clock()
	t.is.Wait += now - t.mark
	t.mark = now
}

func (t *told) sealed(base *Root, d Draft) {
	if t == nil {
		return
	}
	now := t.clock()
	t.is.Run += now - t.mark
	t.mark, t.runs = now, false
	t.older, t.next = base, d.Next
}

// decided ends the time that its fate was with the sink, if it was shared, with the version that
// was published; or the attempt, if it is to run again.
func (t *told) decided(version uint64, shared, again bool) {
	if t == nil {
		return
	}
	t.is.Version, t.waits = version, again
	if shared && !again {
		t.is.Sink = t.clock() - t.mark
	}
}

// ends tells hooks that the update has ended.
func (t *told) ends() {
	if !t.timed {
		return
	}
	switch { // it has panicked, has given up or was aborted
	case t.waits:
		t.is.Wait += t.clock() - t.mark
	case t.runs:
		t.is.Run += t.clock() - t.mark
	}
	if t.is.Version > 0 {
		t.is.Tables = changed(t.older, t.next)
	}
	if len(t.all) == 1 {
		t.tell(t.all[0])
		return
	}
	for _, a := range slices.Backward(t.all) {
		defer t.tell(a) // as inTurn does, which allocates
	}
}

func (t *told) tell(a *added) {
	if a.end != nil {
		t.line.hooks.call(func() { a.end.OnUpdateEnd(t.ctx, t.is) })
	}
}

// end is ends, of an error.
func (t *told) end(err error) {
	if t != nil {
		t.is.Err = err
		t.ends()
	}
}

// free lets another update have t.
func (t *told) free() {
	*t = told{line: t.line, run: t.run}
	t.line.hooks.updates.Put(t)
}

// state notes that the sink is in a state, and why, and has hooks told if that is new. The caller
// holds mu.
func (l *Line) state(o *outbox, s hook.State, err error) {
	is := &o.state
	again := is.State == s
	switch {
	case is.State == hook.Closed, is.State == hook.Failed && s != hook.Closed, again && err == nil:
		return
	case !again:
		is.Since = time.Now()
	}
	is.State, is.Err = s, err
	if next := *is; !again || s == hook.Refused {
		later(l, l.hooks.list(), func(h hook.SinkChanged) { h.OnSinkChanged(next) })
	}
}

// applied has hooks told of a version that came from elsewhere. The caller holds mu.
func (l *Line) applied(older, next *Root) {
	all := l.hooks.list()
	if all == nil {
		return
	}
	u := hook.Update{Version: next.version, Tables: changed(older, next)}
	later(l, all, func(h hook.Applied) { h.OnApplied(u) })
}

// changed returns a function that returns what was changed from a version to a newer one.
func changed(older, newer *Root) func() []hook.Table {
	return func() []hook.Table { return newer.owner.Tables.Changed(newer, older) }
}
