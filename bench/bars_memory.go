package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"sync"

	"github.com/cowstore/cowstore/bench/stores"
	"github.com/cowstore/cowstore/memory"
)

// tenFields returns a new JSON-like value of ten fields.
func tenFields(i int) map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("m-%d", i), "kind": "note", "text": "the user prefers short answers", "score": 0.75,
		"count": float64(i), "pinned": true, "source": "chat", "tags": []any{"style", "user"},
		"embedding_id": float64(991), "meta": map[string]any{"turn": float64(4), "model": "x"},
	}
}

// values compares a Get of a value of ten fields, two of which are then read,
// with what isolates its callers by a copy: all three may do to the answer what
// they like and harm nobody.
func (b *bars) values(n int) {
	ours := newSpaceReader()
	copied := scopedReader{newScopedMaps(), "session", "s-1"}
	decoded := &jsonMap{m: map[string][]byte{}}
	for i := range n {
		copied.set(copied.scope, copied.id, barKey(i), tenFields(i))
		must(decoded.set(barKey(i), tenFields(i)))
	}
	fillSpace(ours.m, ours.space.Path(), n, func(i int) memory.Item { return memory.Item{Value: tenFields(i)} })
	for i := 0; i < n; i += 20 {
		must(errOf(ours.space.Put(barKey(i), tenFields(i))))
	}
	keys := barKeys(0, n)[:min(n, 10_000)]

	per := func(r valueReader, gets int) func() float64 {
		passes := max(1, gets/len(keys))
		return func() float64 {
			return float64(timed(func() {
				for range passes {
					sink += r.reads(keys)
				}
			})) / float64(passes*len(keys))
		}
	}
	rounds := b.rounds
	if n >= 100_000 {
		rounds = max(3, b.rounds/2) // so many maps take long to collect
	}
	s := interleave(rounds, per(ours, 200_000), per(copied, 50_000), per(decoded, 20_000))
	at := " at " + count(n)
	b.add("Get of 10 fields, two read, vs a deep copy (AgentField's way)"+at, "ns", s[0], s[1], 0.1)
	b.add("Get of 10 fields, two read, vs decoding JSON"+at, "ns", s[0], s[2], 1.0/30)
	_, objects := allocated(func() { sink += ours.reads(keys) })
	perGet := objects / float64(len(keys))
	b.report("allocations of a Get of 10 fields, two read"+at, perGet, 0, "", perGet, 0, perGet < 0.01)
}

// rewrites says what each write keeps of the heap that only replaces what is
// there: nothing, or old versions are not let go.
func (b *bars) rewrites(n int) {
	ours := newSpaceReader()
	keys := barKeys(0, n)
	rewrite := func() {
		for i, k := range keys {
			must(errOf(ours.space.Put(k, tenFields(i))))
		}
	}
	rewrite()
	rewrite() // so that each key has a page of its own by now
	before := live()
	const rounds = 10
	for range rounds {
		rewrite()
	}
	kept := (live() - before) / float64(rounds*n)
	runtime.KeepAlive(ours)
	runtime.KeepAlive(keys)
	b.report("heap kept by each rewrite of one of "+count(n)+" values", kept, 0, "B", kept, 0, kept < 32)
}

// fillSpace puts the items of the first n keys into the space with that path,
// 1,000 in a version.
func fillSpace(m *memory.Memory, path []string, n int, item func(i int) memory.Item) {
	const each = 1_000
	for from := 0; from < n; from += each {
		must(m.Batch(func(b *memory.Batch) error {
			e := b.Space(path...)
			for i := from; i < min(from+each, n); i++ {
				if err := e.PutItem(barKey(i), item(i)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// A valueReader looks up each key, reads two fields of what it finds, and sums
// them up, in a loop of its own.
type valueReader interface {
	reads(keys []string) (sum uint64)
}

// spaceReader is this project. The Space is made once, as programs do.
type spaceReader struct {
	m     *memory.Memory
	space memory.Space
}

func newSpaceReader() spaceReader {
	m := memory.New(memory.Options{NoText: true}) // which no Get would use
	return spaceReader{m, m.Space("session", "s-1")}
}

func (r spaceReader) reads(keys []string) (sum uint64) {
	for _, k := range keys {
		v, _ := r.space.Get(k)
		sum += uint64(len(v.Key("text").String())) + uint64(4*v.Key("score").Float())
	}
	return sum
}

// scopedMaps is the in-memory backend of the Go SDK of AgentField: nested maps
// behind a lock, keyed by scope, ID and key, that give out deep copies. It is
// spared what else it does there: to join scope and ID into one string, and to
// look out for cycles.
type scopedMaps struct {
	mu sync.RWMutex
	m  map[string]map[string]map[string]any
}

func newScopedMaps() *scopedMaps { return &scopedMaps{m: map[string]map[string]map[string]any{}} }

func (s *scopedMaps) get(scope, id, key string) (any, bool) {
	s.mu.RLock()
	v, ok := s.m[scope][id][key]
	s.mu.RUnlock()
	if !ok {
		return nil, false
	}
	// Outside of the lock, since nobody modifies what is stored.
	return stores.CopyOf(v), true
}

func (s *scopedMaps) set(scope, id, key string, v any) {
	v = stores.CopyOf(v)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m[scope] == nil {
		s.m[scope] = map[string]map[string]any{}
	}
	if s.m[scope][id] == nil {
		s.m[scope][id] = map[string]any{}
	}
	s.m[scope][id][key] = v
}

// scopedReader reads one scope of scopedMaps.
type scopedReader struct {
	*scopedMaps
	scope, id string
}

func (r scopedReader) reads(keys []string) (sum uint64) {
	for _, k := range keys {
		v, _ := r.get(r.scope, r.id, k)
		sum += twoFields(v)
	}
	return sum
}

// jsonMap keeps values as JSON, which it decodes for each Get.
type jsonMap struct {
	mu sync.RWMutex
	m  map[string][]byte
}

func (s *jsonMap) get(key string) (v any, err error) {
	s.mu.RLock()
	text := s.m[key]
	s.mu.RUnlock()
	err = json.Unmarshal(text, &v)
	return v, err
}

func (s *jsonMap) set(key string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[key] = text
	return nil
}

func (s *jsonMap) reads(keys []string) (sum uint64) {
	for _, k := range keys {
		v, err := s.get(k)
		must(err)
		sum += twoFields(v)
	}
	return sum
}

// twoFields sums up two fields of a value of ten.
func twoFields(v any) uint64 {
	m := v.(map[string]any)
	return uint64(len(m["text"].(string))) + uint64(4*m["score"].(float64))
}

// errOf returns the error of a write.
func errOf(_ uint64, err error) error { return err }

// must panics if there is an error: a bar cannot go on, and says so.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
