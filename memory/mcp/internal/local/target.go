package local

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// where are the arguments that say whose memory is meant, and in which fork.
type where struct {
	Namespace *string
	Fork      string
}

// mean lets the call be for the namespace that the arguments name, if they name one.
func (c *call) mean(w where) error {
	if w.Namespace == nil {
		return nil
	}
	c.Namespace = *w.Namespace
	return checkName("the namespace", c.Namespace, maxNamespace)
}

// at is mean, and returns the line that the arguments name, to be used until done is called.
func (c *call) at(w where) (l *line, done func(), err error) {
	if err := c.mean(w); err != nil || w.Fork == "" {
		return &c.line, func() {}, err
	}
	f, err := c.forkNamed(w.Fork)
	if err != nil {
		return nil, nil, err
	}
	f.mu.RLock()
	if err := f.room(c); err != nil {
		f.mu.RUnlock()
		return nil, nil, err
	}
	return &f.line, f.mu.RUnlock, nil
}

// A target is what the arguments name: a note or an entity.
type target struct {
	Key    *string
	Space  []string
	Entity *string
}

// in returns the space and the key of it.
func (t target) in(ns string) (space []string, key string, err error) {
	switch {
	case (t.Key == nil) == (t.Entity == nil):
		return nil, "", store.Errorf(store.Invalid, "name either the key of a note or an entity")
	case t.Entity != nil:
		return entitySpace(ns), *t.Entity, checkName("the name of the entity", *t.Entity, maxName)
	}
	if err := checkFolder(t.Space); err != nil {
		return nil, "", err
	}
	return noteSpace(ns, t.Space), *t.Key, checkName("the key", *t.Key, maxName)
}

// named is mean, and returns the space and the key of the target.
func (c *call) named(w where, t target) (space []string, key string, err error) {
	if err := c.mean(w); err != nil {
		return nil, "", err
	}
	return t.in(c.Namespace)
}

// made returns a key for a note without one: the same if the request is sent again.
func (c *call) made() string {
	id := c.ID
	if id == "" {
		id = rand.Text()
	}
	sum := sha256.Sum256([]byte(id))
	return "note-" + hex.EncodeToString(sum[:8])
}

// versionOf returns the published version of a cursor of a Memory.
func versionOf(m *memory.Memory, cursor string) (uint64, error) {
	version, err := m.DB().ParseCursor(cursor)
	if err == nil && version > m.DB().Load().Version() {
		err = cow.ErrUnpublished
	}
	return version, err
}
