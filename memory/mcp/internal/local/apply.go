package local

import (
	"fmt"
	"strings"
	"time"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// A swap is one entry that is to be changed from one state to another, unless it is in a
// third.
type swap struct {
	space    []string
	key      string
	from, to memory.Entry // the zero Entry: none
	vector   []float32    // of to
}

// apply makes swaps, all or none.
func (w *write) apply(swaps []swap) error {
	var conflicts []string
	for _, s := range swaps {
		is, _ := w.in(s.space).Entry(s.key)
		switch {
		case same(is, s.to):
		case !same(is, s.from):
			conflicts = append(conflicts, s.name())
		default:
			if err := w.swap(s); err != nil {
				return err
			}
		}
	}
	if len(conflicts) == 0 {
		return nil
	}
	const few = 5
	text := strings.Join(conflicts[:min(few, len(conflicts))], ", ")
	if n := len(conflicts) - few; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return store.Errorf(store.Conflict, "changed since, so that nothing was done: %s", text)
}

// swap puts an entry back: what was superseded when it said that is current again.
func (w *write) swap(s swap) error {
	it := memory.Item{Value: s.to.Value, Vector: s.vector, TTL: memory.Never}
	if !s.to.Expires.IsZero() {
		it.TTL = time.Until(s.to.Expires)
	}
	if !s.to.Value.Exists() || it.TTL <= 0 && it.TTL != memory.Never {
		w.delete(s.space, s.key)
		return nil
	}
	if err := w.put(s.space, s.key, it); err != nil || s.to.Expires.IsZero() {
		return err
	}
	is, _ := w.in(s.space).Entry(s.key)
	it.TTL += s.to.Expires.Sub(is.Expires) // an update counts from when it began
	return w.in(s.space).PutItem(s.key, it)
}

// count returns how many things swaps are about: a relation is one.
func count(swaps []swap) (n int) {
	for _, s := range swaps {
		if s.space[1] != in {
			n++
		}
	}
	return n
}

// same reports whether two entries say the same.
func same(a, b memory.Entry) bool {
	return memory.Equal(a.Value, b.Value) && a.Expires.Equal(b.Expires) && a.Superseded == b.Superseded && a.SupersededBy == b.SupersededBy
}

// name returns what a swap is about, for people.
func (s swap) name() string {
	switch s.space[1] {
	case entities:
		return fmt.Sprintf("entity %q", clip(s.key))
	case notes:
		return fmt.Sprintf("note %q", clip(s.key))
	}
	return fmt.Sprintf("relation %q", strings.Split(clip(s.key), "\x00"))
}
