package main_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/cowstore/cowstore/bench/memories"
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

// twoFields sums up two fields of a value of ten.
func twoFields(v any) uint64 {
	m := v.(map[string]any)
	return uint64(len(m["text"].(string))) + uint64(4*m["score"].(float64))
}

// newSpace returns a space of package memory with n notes.
func newSpace(o memory.Options, n int, note func(i int) memories.Note) memory.Space {
	return filled(memories.SpaceOf(memory.New(o), "session", "s-1"), n, note).Space
}

// filled puts n notes in s, 1,000 at once.
func filled[S memories.Space](s S, n int, note func(i int) memories.Note) S {
	for from := 0; from < n; from += 1_000 {
		notes := make([]memories.Note, min(1_000, n-from))
		for i := range notes {
			notes[i] = note(from + i)
		}
		s.Put(notes...)
	}
	return s
}

// BenchmarkGetFields gets values of ten fields, to which callers may do what they like
// without harm to others, and reads two. reads are sums of these, in loops of their own.
func BenchmarkGetFields(b *testing.B) {
	for _, of := range []string{"1k", "100k"} {
		get := func(store string, filled func(b *testing.B) (reads func(keys []string) (sum uint64))) {
			b.Run("keys="+of+"/store="+store, func(b *testing.B) {
				reads, keys := filled(b), keys(0, size(of), 1)
				keys = keys[:min(len(keys), 10_000)]
				if reads(keys) != uint64(len(keys))*twoFields(tenFields(0)) {
					b.Fatal("not what was set")
				}
				n, next := parts(keys)
				per(b, n, "get", func() { sink += reads(next()) })
			})
		}
		get("memory", func(b *testing.B) func(keys []string) uint64 {
			o := memory.Options{NoText: true} // which no Get would use
			space := newSpace(o, size(of), func(i int) memories.Note { return memories.Note{Key: key(i), Value: tenFields(i)} })
			for i := 0; i < size(of); i += 20 {
				must(b, errOf(space.Put(key(i), tenFields(i))))
			}
			return func(keys []string) (sum uint64) {
				for _, k := range keys {
					v, _ := space.Get(k)
					sum += uint64(len(v.Key("text").String())) + uint64(4*v.Key("score").Float())
				}
				return sum
			}
		})
		// The in-memory backend of the Go SDK of AgentField: nested maps behind a lock, by
		// scope, ID and key, that give out deep copies. It is spared what else it does there:
		// to join scope and ID into one string, and to look out for cycles.
		get("maps-copy", func(*testing.B) func(keys []string) uint64 {
			m := map[string]any{}
			scopes := map[string]map[string]map[string]any{"session": {"s-1": m}}
			for i := range size(of) {
				m[key(i)] = tenFields(i)
			}
			return locked(func(key string) any { return scopes["session"]["s-1"][key] }, memories.CopyOf)
		})
		get("json", func(b *testing.B) func(keys []string) uint64 {
			m := map[string][]byte{}
			for i := range size(of) {
				text, err := json.Marshal(tenFields(i))
				must(b, err)
				m[key(i)] = text
			}
			return locked(func(key string) []byte { return m[key] }, func(text []byte) (v any) {
				must(b, json.Unmarshal(text, &v))
				return v
			})
		})
	}
}

// locked returns reads of what is found behind a lock, and given out without it, since nobody
// modifies what is stored.
func locked[V any](find func(key string) V, give func(found V) any) func(keys []string) uint64 {
	var mu sync.RWMutex
	return func(keys []string) (sum uint64) {
		for _, k := range keys {
			mu.RLock()
			v := find(k)
			mu.RUnlock()
			sum += twoFields(give(v))
		}
		return sum
	}
}
