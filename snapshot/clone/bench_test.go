package clone

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// byHand is the clone one would write for decoded JSON.
func byHand(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[k] = byHand(e)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = byHand(e)
		}
		return out
	case []string:
		return slices.Clone(x)
	}
	return v
}

// document returns decoded JSON with ten fields at each of its levels.
func document(levels int) map[string]any {
	d := map[string]any{
		"id":      "session-1",
		"agent":   "planner",
		"count":   42,
		"score":   0.75,
		"done":    false,
		"steps":   []any{"a", 1.5, true, map[string]any{"tool": "search", "ok": true}},
		"tags":    []string{"x", "y", "z"},
		"usage":   map[string]any{"in": 1200, "out": 300},
		"message": "the quick brown fox",
		"parent":  nil,
	}
	if levels > 1 {
		d["inner"] = document(levels - 1)
		d["other"] = document(levels - 1)
	}
	return d
}

type record struct {
	A    int
	Tags []string
	Meta map[string]string
}

func newRecord() record {
	return record{1, []string{"a", "b", "c"}, map[string]string{"k1": "v", "k2": "v", "k3": "v"}}
}

func (r record) byHand() record {
	r.Tags = slices.Clone(r.Tags)
	r.Meta = maps.Clone(r.Meta)
	return r
}

type treeNode struct {
	Left, Right *treeNode
	Name        string
	Data        []int
}

func newTree(depth int) *treeNode {
	if depth == 0 {
		return nil
	}
	return &treeNode{newTree(depth - 1), newTree(depth - 1), "n", []int{1, 2}}
}

func (t *treeNode) byHand() *treeNode {
	if t == nil {
		return nil
	}
	return &treeNode{t.Left.byHand(), t.Right.byHand(), t.Name, slices.Clone(t.Data)}
}

func newList(n int) *listNode {
	var l *listNode
	for i := range n {
		l = &listNode{l, []int{i}}
	}
	return l
}

type listNode struct {
	next    *listNode
	payload []int
}

func benchmarkPair[V any](b *testing.B, name string, v V, hand func(V) V) {
	b.Run(name+"/byHand", func(b *testing.B) {
		b.ReportAllocs()
		var sink V
		for b.Loop() {
			sink = hand(v)
		}
		_ = sink
	})
	b.Run(name+"/clone", func(b *testing.B) {
		clone := OfWhole[V]()
		b.ReportAllocs()
		var sink V
		for b.Loop() {
			sink = clone(v)
		}
		_ = sink
	})
}

func BenchmarkClone(b *testing.B) {
	handMap := func(m map[string]any) map[string]any { return byHand(m).(map[string]any) }
	flat := map[string]any{"a": 1, "b": "two", "c": 3.0}
	benchmarkPair(b, "JSONFlat", flat, handMap)
	benchmarkPair(b, "JSON", document(1), handMap)
	benchmarkPair(b, "JSONAny", any(document(1)), byHand)
	benchmarkPair(b, "JSON4Levels", document(4), handMap)
	benchmarkPair(b, "JSON8Levels", document(8), handMap)
	benchmarkPair(b, "Bytes64", make([]byte, 64), bytes.Clone)
	benchmarkPair(b, "Strings8", make([]string, 8), slices.Clone[[]string])
	benchmarkPair(b, "MapStringString8", func() map[string]string {
		m := map[string]string{}
		for i := range 8 {
			m[strconv.Itoa(i)] = "v"
		}
		return m
	}(), maps.Clone[map[string]string])
	benchmarkPair(b, "Struct", newRecord(), record.byHand)
	r := newRecord()
	benchmarkPair(b, "Pointer", &r, func(r *record) *record { c := r.byHand(); return &c })
	benchmarkPair(b, "Structs16", func() []record {
		var r []record
		for range 16 {
			r = append(r, newRecord())
		}
		return r
	}(), func(r []record) []record {
		r = slices.Clone(r)
		for i := range r {
			r[i] = r[i].byHand()
		}
		return r
	})
	benchmarkPair(b, "MapOfStructs8", func() map[string]record {
		m := map[string]record{}
		for i := range 8 {
			m[strconv.Itoa(i)] = newRecord()
		}
		return m
	}(), func(m map[string]record) map[string]record {
		out := make(map[string]record, len(m))
		for k, r := range m {
			out[k] = r.byHand()
		}
		return out
	})
	benchmarkPair(b, "Regexp", regexp.MustCompile(`^(?P<year>\d+)-(?P<month>\d+)$`), func(re *regexp.Regexp) *regexp.Regexp { c := *re; return &c })
	wrapped := fmt.Errorf("more: %w", fmt.Errorf("more: %w", io.EOF))
	benchmarkPair(b, "ErrorWrapped", error(wrapped), func(err error) error { return err })
	benchmarkPair(b, "ErrorTree", errors.Join(wrapped, fmt.Errorf("%w, %w", io.EOF, wrapped)), func(err error) error {
		return errors.Join(wrapped, fmt.Errorf("%w, %w", io.EOF, wrapped))
	})
	benchmarkPair(b, "ErrorField", struct {
		Name string
		Err  error
	}{"a", io.EOF}, func(v struct {
		Name string
		Err  error
	}) struct {
		Name string
		Err  error
	} {
		return v
	})
	benchmarkPair(b, "Group", slog.GroupValue(slog.Int("a", 1), slog.String("b", "text")), func(v slog.Value) slog.Value {
		return slog.GroupValue(slices.Clone(v.Group())...)
	})
	benchmarkPair(b, "Tree63", newTree(6), (*treeNode).byHand)
	benchmarkPair(b, "List100k", newList(100_000), func(l *listNode) *listNode {
		var out *listNode
		at := &out
		for ; l != nil; l = l.next {
			*at = &listNode{nil, slices.Clone(l.payload)}
			at = &(*at).next
		}
		return out
	})
}
