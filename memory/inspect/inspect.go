// Package inspect adds pages about a memory to those of package cow/inspect: its spaces as a tree,
// their entries with what will expire, a search, and what an entry was before.
//
//	pages := cowinspect.Handler(m.DB(), cowinspect.Options{ // of package cow/inspect
//		Parts: []cowinspect.Part{inspect.Part(m, inspect.Options{})},
//	})
//
// By default the pages show names of spaces, keys, kinds, sizes and times, and nothing of values and
// metadata: see [Options]. Like those of package cow/inspect, they only read, and ask nobody for a
// password or token.
//
// The time that a page takes does not grow with the memory, with two exceptions: a search takes
// as long as [memory.SpaceSnapshot.Search], and entries that have expired or were cleared take time
// until they are swept.
package inspect

// From the ground up: inspect.go, what addresses are; space.go and entry.go, the pages.

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cowstore/cowstore/cow/inspect"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
)

// Options say what pages show. The zero Options are ready for use.
type Options struct {
	// Name is what the pages are called, and stands in their addresses; "" means memory. Two
	// memories of one DB need different names.
	Name string

	// Value returns what is shown of the value and the metadata of an entry of a space: a string,
	// or anything that encoding/json can encode. Nil shows the kind and the size alone; see JSON.
	//
	// Without Value there is no search: by searching one could find out, word by word, what is in
	// values. Then leave Value of the DB's pages nil too, as entries are rows of the DB.
	Value func(space []string, e memory.Entry) any
}

// JSON shows the whole value of an entry, with its metadata if there is any. It is a function for
// Value of [Options].
func JSON(_ []string, e memory.Entry) any {
	if !e.Metadata.Exists() {
		if e.Value.Kind() == value.String {
			return e.Value.String() // as it is, and not in quotes
		}
		return e.Value
	}
	shown := map[string]any{"metadata": e.Metadata}
	if e.Value.Exists() {
		shown["value"] = e.Value
	}
	return shown
}

// Part returns the pages of m, for Parts of [inspect.Options]. These must be the Options of pages
// of the DB that m is in.
func Part(m *memory.Memory, o Options) inspect.Part {
	o.Name = cmp.Or(o.Name, "memory")
	return inspect.Part{Name: o.Name, Show: func(p *inspect.Page) error { return (&shower{o, m, p, memory.Snapshot{}}).show() }}
}

// The words that addresses begin with. After them is the path of a space, and a key.
const (
	ofSpace = "space"
	ofEntry = "entry"
)

// A shower shows one page.
type shower struct {
	o Options
	m *memory.Memory
	*inspect.Page
	s memory.Snapshot
}

func (w *shower) show() error {
	var err error
	if w.s, err = w.at(w.Snapshot().Version()); err != nil {
		return err
	}
	switch path := w.Path(); {
	case len(path) == 0:
		return w.space(nil)
	case path[0] == ofSpace && len(path) > 1:
		return w.space(path[1:])
	case path[0] == ofEntry && len(path) > 1:
		return w.entry(path[1:len(path)-1], path[len(path)-1])
	}
	return w.Missing("there is no such page")
}

// at returns the memory at a version: at its own instant, unless it is the current one.
func (w *shower) at(version uint64) (memory.Snapshot, error) {
	s, err := w.m.At(version)
	if err != nil {
		return s, fmt.Errorf("version %d of the memory: %w", version, err)
	}
	return s, nil
}

// spaceLink returns the link to a space, of the last element of its path.
func (w *shower) spaceLink(path []string) inspect.Link {
	if len(path) == 0 {
		return inspect.Link{Text: w.o.Name, To: w.To(nil)}
	}
	return inspect.Link{Text: w.Key(path[len(path)-1]), To: w.To(nil, append([]string{ofSpace}, path...)...)}
}

// entryLink returns the link to an entry.
func (w *shower) entryLink(space []string, key string) inspect.Link {
	return inspect.Link{Text: w.Key(key), To: w.To(nil, append(append([]string{ofEntry}, space...), key)...)}
}

// above returns links to the spaces above a path, the root first.
func (w *shower) above(path []string) []inspect.Link {
	var links []inspect.Link
	for i := range path {
		links = append(links, w.spaceLink(path[:i]))
	}
	return links
}

// value returns what is shown of an entry.
func (w *shower) value(space []string, e memory.Entry) (shown any) {
	if w.o.Value == nil {
		return kind(e)
	}
	defer func() {
		if r := recover(); r != nil { // the other entries are shown
			shown = fmt.Sprintf("%s, which is not shown: a function of the program panicked with a %T", kind(e), r)
		}
	}()
	return w.o.Value(space, e)
}

// kind says of what kind an entry is.
func kind(e memory.Entry) string {
	if !e.Value.Exists() {
		return "no value"
	}
	return "a " + e.Value.Kind().String()
}

// state says what is special about an entry.
func state(e memory.Entry) string {
	var is []string
	for _, s := range []struct {
		text string
		so   bool
	}{{"kept", e.Kept}, {"superseded", e.Superseded}, {fmt.Sprintf("vector of %d", e.Dim), e.Dim > 0}, {"metadata", e.Metadata.Exists()}} {
		if s.so {
			is = append(is, s.text)
		}
	}
	return strings.Join(is, ", ")
}
