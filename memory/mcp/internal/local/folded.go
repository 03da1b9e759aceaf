package local

import (
	"errors"
	"strings"
	"sync"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// folded has the folded texts of all entities, of namespaces that were searched, as they
// are at a version. A search brings it up to the current one by what was committed since.
type folded struct {
	mu    sync.Mutex
	at    uint64
	texts map[string]*foldedTexts // by namespace
	bytes int
}

// foldedBytes is how much is kept, unless one namespace has more.
const foldedBytes = 64 << 20

// foldedTexts are those of one namespace, in no order.
type foldedTexts struct {
	list  []foldedText
	place map[string]int // by name, in list
	bytes int
}

type foldedText struct {
	name, text string // the text is that of name, type and observations
}

// find returns the current snapshot, and the names of all entities in it, of the namespace
// of a call, that have the folded query in one of their texts. They are in no order, and
// some may have expired.
func (f *folded) find(c *call, query string) (s memory.Snapshot, names []string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, err = f.current(c); err != nil {
		return s, nil, err
	}
	texts := f.texts[c.Namespace]
	if texts == nil {
		texts = f.add(s, c.Namespace)
	}
	for _, t := range texts.list {
		if strings.Contains(t.text, query) {
			names = append(names, t.name)
		}
	}
	return s, names, nil
}

// current returns the current snapshot, to which it brings all texts. After an error there are none.
func (f *folded) current(c *call) (s memory.Snapshot, err error) {
	s = c.m.Load()
	if len(f.texts) > 0 && f.at < s.Version() {
		err = f.follow(c, s.Version())
	}
	if errors.Is(err, cow.ErrCompacted) { // nobody has searched for long
		f.texts, f.bytes, err = nil, 0, nil
	}
	if err == nil {
		f.at = s.Version()
	}
	return s, err
}

// erase lets go of what is erased, now and not at the next search.
func (f *folded) erase(c *call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _ = f.current(c) // after an error there are no texts
}

// follow brings all texts up to a version. After an error they are of none.
func (f *folded) follow(c *call, version uint64) error {
	for commit, err := range c.commits(c.ctx, f.at, version) {
		if err != nil {
			f.texts, f.bytes = nil, 0
			return err
		}
		for ch := range c.m.Rows(commit) {
			if ch.Kind == memory.Cleared { // which no tool does
				f.texts, f.bytes = nil, 0
				continue
			}
			if len(ch.Space) != 2 || ch.Space[1] != entities {
				continue
			}
			if texts := f.texts[ch.Space[0]]; texts != nil {
				f.bytes -= texts.bytes
				texts.set(ch.Key, ch.New.Value)
				f.bytes += texts.bytes
			}
		}
	}
	return nil
}

// add adds the texts of a namespace, and drops those of others if that is too much.
func (f *folded) add(s memory.Snapshot, ns string) *foldedTexts {
	texts := &foldedTexts{place: make(map[string]int)}
	for e := range s.Space(entitySpace(ns)...).List(memory.ListOptions{}) {
		texts.set(e.Key, e.Value)
	}
	if f.bytes += texts.bytes; f.texts == nil || f.bytes > foldedBytes {
		f.texts, f.bytes = make(map[string]*foldedTexts), texts.bytes
	}
	f.texts[ns] = texts
	return texts
}

// set sets the text of an entity to that of its value, or removes it if there is none.
func (t *foldedTexts) set(name string, v memory.Value) {
	i, ok := t.place[name]
	switch {
	case !v.Exists() && !ok:
		return
	case !v.Exists():
		t.bytes -= t.list[i].size()
		last := len(t.list) - 1
		t.list[i] = t.list[last]
		t.place[t.list[i].name] = i
		t.list[last] = foldedText{}
		t.list = t.list[:last]
		delete(t.place, name)
		return
	case !ok:
		name = strings.Clone(name) // not to keep the entity alive
		i = len(t.list)
		t.place[name] = i
		t.list = append(t.list, foldedText{name: name})
	default:
		t.bytes -= t.list[i].size()
	}
	t.list[i].text = foldEntity(v)
	t.bytes += t.list[i].size()
}

func (t foldedText) size() int { return 64 + len(t.name) + len(t.text) }

// between is between the texts of an entity, and in none of them, since it is not UTF-8.
const between = "\xff"

func foldEntity(v memory.Value) string {
	e := entityOf(v)
	parts := []string{fold(e.Name), fold(e.Type)}
	for _, o := range e.Observations {
		parts = append(parts, fold(o))
	}
	return strings.Join(parts, between)
}
