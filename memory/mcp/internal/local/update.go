package local

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// A write is one update under way.
type write struct {
	tx      *cow.Tx
	base    memory.Snapshot // before the update
	batch   *memory.Batch
	changed int   // entries
	grown   int64 // bytes that entries take more, about
	editors map[string]*memory.Editor
}

// update does a request that writes, at most once: f writes, and what it returns is
// the result. The receipt is written in the same update. One that changed nothing gets
// none: to do it again is to do it later.
func (c *call) update(l *line, f func(w *write) (any, error)) (json.RawMessage, error) {
	return c.updateBy(l.m.DB().UpdateContext, l, f)
}

// updateBy is update by a verb of the line's DB.
func (c *call) updateBy(verb func(context.Context, func(*cow.Tx) error) error, l *line, f func(w *write) (any, error)) (json.RawMessage, error) {
	if done, err := l.receipt(c.ID); done != nil || err != nil {
		return done, err
	}
	var result json.RawMessage
	var grown int64
	err := verb(c.ctx, func(tx *cow.Tx) (err error) {
		grown = 0
		e := l.receipts.Edit(tx)
		if r, ok := e.Get(c.ID); ok && c.ID != "" {
			result, err = r.result()
			return err
		}
		w := &write{tx: tx, base: l.m.In(tx.Base()), editors: make(map[string]*memory.Editor)}
		err = l.m.BatchIn(tx, func(b *memory.Batch) error {
			w.batch = b
			done, err := f(w)
			if err == nil {
				result, err = marshal(done)
			}
			return err
		})
		grown = w.grown
		if err == nil && l == &c.line && grown > 0 {
			err = c.fits(grown)
		}
		if err != nil || w.changed == 0 || c.ID == "" {
			return err
		}
		l.keep(e, c.ID, receipt{Age: tx.Version(), Namespace: c.Namespace, Result: string(result)})
		return nil
	})
	if l == &c.line && (err == nil || errors.Is(err, cow.ErrUnknownOutcome)) {
		c.used.Add(grown)
	}
	return result, err
}

func (w *write) in(space []string) *memory.Editor {
	key := spaceKey(space)
	e := w.editors[key]
	if e == nil {
		e = w.batch.Space(space...)
		w.editors[key] = e
	}
	return e
}

// spaceKey returns a space in one string: no element has a zero byte.
func spaceKey(space []string) string { return strings.Join(space, "\x00") }

func (w *write) put(space []string, key string, it memory.Item) error {
	e := w.in(space)
	was, _ := e.Entry(key)
	if err := e.PutItem(key, it); err != nil {
		return err
	}
	is, _ := e.Entry(key)
	w.changed++
	w.grown += size(is) - size(was)
	return nil
}

// supersede puts an item in place of the one of another key, which stays to be read.
func (w *write) supersede(space []string, old, key string, it memory.Item) error {
	e := w.in(space)
	sizes := func() int64 {
		one, _ := e.Entry(key)
		other, _ := e.Entry(old)
		return size(one) + size(other)
	}
	before := sizes()
	if err := e.Supersede(old, key, it); err != nil {
		return err
	}
	w.changed += 2
	w.grown += sizes() - before
	return nil
}

func (w *write) delete(space []string, key string) bool {
	e := w.in(space)
	was, ok := e.Entry(key)
	if ok {
		e.Delete(key)
		w.changed++
		w.grown -= size(was)
	}
	return ok
}

// erase is delete in an update that erases, of what some version has.
func (w *write) erase(space []string, key string) {
	e := w.in(space)
	was, _ := e.Entry(key)
	e.Erase(key)
	w.changed++
	w.grown -= size(was)
}

// putEntity stores an entity, without a vector: that was one of what it said before.
func (w *write) putEntity(ns string, e entity) error {
	return w.put(entitySpace(ns), e.Name, memory.Item{Value: e.value()})
}

func (w *write) putRelation(ns string, r relation) error {
	if err := w.put([]string{ns, out}, r.outKey(), memory.Item{Value: r.value()}); err != nil {
		return err
	}
	return w.put([]string{ns, in}, r.inKey(), memory.Item{Value: r.value()})
}

func (w *write) deleteRelation(ns string, r relation) bool {
	w.delete([]string{ns, in}, r.inKey())
	return w.delete([]string{ns, out}, r.outKey())
}

// deleteEntity removes an entity, and all relations from it and to it, of which it returns
// how many there were. Relations that the same update has made are not found.
func (w *write) deleteEntity(ns, name string) (found bool, n int) {
	found = w.delete(entitySpace(ns), name)
	for _, side := range []string{out, in} {
		for e := range w.base.Space(ns, side).List(memory.ListOptions{Prefix: relationPrefix(name)}) {
			if w.deleteRelation(ns, relationOf(e.Value)) {
				n++
			}
		}
	}
	return found, n
}

// room returns an error if the memory is too full for a call that adds to it.
func (c *call) room() error { return c.fits(int64(len(c.Args))) }

// fits returns an error if the memory is too full for so many bytes more.
func (s *Store) fits(n int64) error {
	if used := s.used.Load(); used+n <= s.o.MaxBytes {
		if used < s.o.MaxBytes/10*9 && s.full.Load() {
			s.full.Store(false)
		}
		return nil
	}
	// What had expired and was written anew before it was swept is counted twice.
	if at, now := s.counted.Load(), time.Now().UnixNano(); now-at >= int64(time.Minute) && s.counted.CompareAndSwap(at, now) {
		s.survey()
	}
	if s.used.Load()+n <= s.o.MaxBytes {
		return nil
	}
	if !s.full.Swap(true) { // once, until there is room again
		s.o.Log.Warn("the memory is full: it takes nothing more", "bytes", s.used.Load(), "limit", s.o.MaxBytes)
	}
	return store.Errorf(store.TooLarge, "the memory is full: it may have %d bytes; delete something first, or start the server with a larger -most", s.o.MaxBytes)
}

// Used returns about how many bytes the entries take, and how many they may.
func (s *Store) Used() (used, limit int64) { return s.used.Load(), s.o.MaxBytes }

// unique returns the strings without those that came before.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}
