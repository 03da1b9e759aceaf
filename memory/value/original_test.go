//lint:file-ignore SA1019 A deprecated type is a value like any other.

package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unique"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/clone"
)

// frozen returns v after it was a Value.
func frozen[T any](t *testing.T, v T) T {
	t.Helper()
	f, err := FreezeHandles(v)
	require.NoError(t, err)
	got, ok := f.Any().(T)
	require.True(t, ok, "%T became %T", v, f.Any())
	return got
}

// In a process of its own: a copy of a type ends it when it is used.
func TestTypesStayThemselves(t *testing.T) {
	if os.Getenv("COWSTORE_TYPES") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTypesStayThemselves$")
		cmd.Env = append(os.Environ(), "COWSTORE_TYPES=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%.2000s", out)
		return
	}
	type schema struct {
		Name string
		Type reflect.Type
		of   reflect.Type
	}
	of := reflect.TypeFor[schema]()
	for _, v := range []any{of, []reflect.Type{of}, map[string]any{"t": of}, schema{"s", of, of}, &schema{"s", of, of}} {
		out := frozen(t, v)
		require.Equal(t, fmt.Sprint(v), fmt.Sprint(out))
		require.Equal(t, fmt.Sprintf("%T", v), fmt.Sprintf("%T", out))
	}
	out := frozen(t, schema{"s", of, of})
	require.True(t, out.Type == of && out.of == of)
	require.Equal(t, 3, out.Type.NumField())
}

// namedError is an error that the program compares by its pointer.
type namedError struct{ text string }

func (e *namedError) Error() string { return e.text }

var errNamed = clone.Sentinel(&namedError{"named"})

// What others can write to through what it gives out is no part of a value.
func TestAValueSharesNothingThatCanBeModified(t *testing.T) {
	type place struct {
		Err    error
		Attrs  slog.Value
		Attr   slog.Attr
		Expr   *regexp.Regexp
		Exprs  []regexp.Regexp
		Table  *crc32.Table
		Ranges *unicode.RangeTable
		Any    any
	}
	fresh := func() *place {
		return &place{
			fmt.Errorf("%w: %w", io.EOF, &namedError{"other"}), slog.GroupValue(slog.Int("a", 1), slog.Any("tags", map[string]int{"n": 1})),
			slog.Group("g", slog.Int("a", 1)), regexp.MustCompile("a(?P<x>|b)"), []regexp.Regexp{*regexp.MustCompile("(?P<x>c)")},
			&crc32.Table{1}, &unicode.RangeTable{R16: []unicode.Range16{{Lo: 1, Hi: 2, Stride: 1}}}, errors.Join(io.EOF, &http.ProtocolError{ErrorString: "text"}),
		}
	}
	show := func(p *place) string {
		return fmt.Sprint(p.Err, errors.Is(p.Err, io.EOF), p.Attrs, p.Attr, p.Expr, p.Expr.FindString("ab"), p.Expr.SubexpNames(),
			p.Exprs[0].SubexpNames(), p.Table[0], p.Ranges.R16, p.Any, errors.Is(p.Any.(error), io.EOF))
	}
	spoil := func(p *place) {
		p.Err.(interface{ Unwrap() []error }).Unwrap()[1].(*namedError).text = "modified"
		p.Err.(interface{ Unwrap() []error }).Unwrap()[0] = errNamed
		p.Attrs.Group()[1].Value.Any().(map[string]int)["n"]++
		p.Attrs.Group()[0] = slog.String("x", "modified")
		p.Attr.Value.Group()[0].Key = "modified"
		p.Expr.SubexpNames()[1] = "modified"
		p.Exprs[0].SubexpNames()[1] = "modified"
		p.Expr.Longest()
		p.Table[0]++
		p.Ranges.R16[0].Lo++
		p.Any.(interface{ Unwrap() []error }).Unwrap()[1].(*http.ProtocolError).ErrorString = "modified"
		p.Any.(interface{ Unwrap() []error }).Unwrap()[0] = errNamed
	}
	for _, in := range []func() any{
		func() any { return fresh() },
		func() any { return map[string]any{"a": []any{fresh()}} },
	} {
		find := func(v any) *place {
			if m, ok := v.(map[string]any); ok {
				v = m["a"].([]any)[0]
			}
			return v.(*place)
		}
		v := in()
		want := show(find(v))
		f, err := Freeze(v)
		require.NoError(t, err)
		first := f.Any()
		require.Equal(t, want, show(find(first)))
		spoil(find(v))
		spoil(find(first))
		require.Equal(t, want, show(find(f.Any())))
	}
}

func TestWhatIsKnownByItsAddressStaysItself(t *testing.T) {
	type place struct{ Zone *time.Location }
	zone := time.FixedZone("x", 3600)
	for _, z := range []*time.Location{time.Local, time.UTC, zone} {
		require.Same(t, z, frozen(t, place{z}).Zone)
		require.Same(t, z, frozen(t, &place{z}).Zone)
		require.Same(t, z, frozen(t, map[string]any{"a": []any{z}})["a"].([]any)[0])
		require.Same(t, z, frozen(t, any(z)))
	}
	own := errors.New("own")
	wrapped := fmt.Errorf("more: %w", own)
	type failure struct {
		Err  error
		last error
	}
	for _, err := range []error{io.EOF, errNamed, own, wrapped, os.ErrNotExist, fmt.Errorf("more: %w", errNamed)} {
		require.True(t, frozen(t, any(err)) == any(err), "%T", err)
		require.True(t, frozen(t, []error{err})[0] == err, "%T", err)
		got := frozen(t, map[string]*failure{"f": {err, err}})["f"]
		require.True(t, got.Err == err && got.last == err, "%T", err)
	}
	handle := unique.Make("a")
	require.True(t, handle == frozen(t, struct{ H unique.Handle[string] }{handle}).H)
}

type comment struct {
	Text    string    `json:"text"`
	Replies []comment `json:"replies,omitempty"`
}

func thread(levels int) comment {
	c := comment{Text: "leaf"}
	for range levels {
		c = comment{Text: "hi", Replies: []comment{c}}
	}
	return c
}

// What JSON does not show of a value is kept once, not again at each level.
func TestAnOriginalIsKeptOnce(t *testing.T) {
	size := func(v any) int64 {
		f, err := Freeze(v)
		require.NoError(t, err)
		return f.Size()
	}
	one := size(thread(1))
	for _, levels := range []int{12, 60, 100, 450} {
		require.LessOrEqual(t, size(thread(levels)), int64(levels)*one, levels)
		require.Positive(t, size(thread(levels)))
	}
	// What a size says is what it takes.
	const levels = 450
	v, err := Freeze(thread(levels))
	require.NoError(t, err)
	c := thread(levels)
	const rounds = 20
	allocated := testing.AllocsPerRun(rounds, func() { v, err = Freeze(c) })
	require.NoError(t, err)
	require.Less(t, allocated, 20.0*levels)
	require.Equal(t, c, v.Any())
}

// A part is as large as its piece of the original, and knows no more of it.
func TestAPartOfAnOriginalHasItsSize(t *testing.T) {
	type blob struct {
		Name string
		data []byte
	}
	const size = 1 << 16
	v, err := Freeze(&struct {
		Few, Many blob
		note      string
	}{blob{"few", make([]byte, 1)}, blob{"many", make([]byte, size)}, "hidden"})
	require.NoError(t, err)
	require.Less(t, v.Key("Few").Size(), int64(1000))
	for _, v := range []Value{v, v.Key("Many")} {
		require.Greater(t, v.Size(), int64(size))
		require.Less(t, v.Size(), int64(size+1000))
	}
}

// A pointer to a Value is what it leads to, whatever its type is called.
func TestAPointerToAValueOfAnyName(t *testing.T) {
	type named *Value
	in, err := Freeze(&struct{ hidden []byte }{make([]byte, 100)})
	require.NoError(t, err)
	for _, v := range []any{&in, named(&in), []any{named(&in)}[0]} {
		f, err := Freeze(v)
		require.NoError(t, err)
		require.Equal(t, in.Any(), f.Any())
		require.Equal(t, in.Size(), f.Size())
	}
	f, err := Freeze(named(nil))
	require.NoError(t, err)
	require.True(t, f.IsNull())
}

type embedded struct{ Shown, hidden string }

type several struct {
	embedded
	*point
	Inner struct {
		A string `json:",omitempty"`
		b []int
	}
	Skipped map[string][]int `json:"-"`
	Plain   []string
}

// All parts come back whole by themselves, not only the outermost.
func TestPartsOfAnOriginalComeBackWhole(t *testing.T) {
	in := map[string]any{
		"several": &several{embedded: embedded{"a", "b"}, point: &point{1, 2}, Skipped: map[string][]int{"k": {1}}, Plain: []string{"x"}},
		"thread":  thread(3),
		"list":    []any{several{embedded: embedded{hidden: "in a list"}}, map[string]any{"deep": embedded{hidden: "deep"}}},
	}
	in["several"].(*several).Inner.b = []int{1, 2}
	v, err := Freeze(in)
	require.NoError(t, err)
	require.Equal(t, in, v.Any())
	require.Equal(t, in["several"], v.Key("several").Any())
	require.Equal(t, in["several"].(*several).Inner, v.Path("several.Inner").Any())
	require.Equal(t, []string{"x"}, v.Path("several.Plain").Any())
	require.Equal(t, thread(1), v.Path("thread.replies.0.replies.0").Any())
	require.Equal(t, embedded{hidden: "in a list"}, v.Path("list.0").Any().(several).embedded)
	require.Equal(t, embedded{hidden: "deep"}, v.Path("list.1.deep").Any())
	// Nor do they share anything with each other.
	v.Key("several").Any().(*several).Skipped["k"][0] = -1
	v.Path("several.Inner").Any()
	require.Equal(t, in, v.Any())
	text, err := v.MarshalJSON()
	require.NoError(t, err)
	want, err := json.Marshal(in)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(text))
}

type row struct {
	Cells []int
	first *int
}

type linkedPair struct {
	Left, Right *point
}

// What was one object is one object again.
func TestAValueComesBackInItsShape(t *testing.T) {
	p := &point{1, 2}
	out := frozen(t, []*point{p, p, {1, 2}})
	require.Same(t, out[0], out[1])
	require.NotSame(t, out[0], out[2])
	require.NotSame(t, p, out[0])

	pair := frozen(t, map[string]any{"pair": linkedPair{p, p}, "alone": p})
	require.Same(t, pair["alone"], pair["pair"].(linkedPair).Left)
	require.Same(t, pair["alone"], pair["pair"].(linkedPair).Right)

	shared := map[string]any{"n": 1}
	m := frozen(t, map[string]any{"a": shared, "b": []any{shared}})
	m["a"].(map[string]any)["n"] = 2
	require.Equal(t, 2, m["b"].([]any)[0].(map[string]any)["n"])

	cells := []int{1, 2, 3, 4}
	rows := frozen(t, [][]int{cells, cells})
	rows[0][1] = 20
	require.Equal(t, 20, rows[1][1])

	bytes := []byte("shared")
	two := frozen(t, map[string]any{"a": bytes, "b": bytes})
	two["a"].([]byte)[0] = 'S'
	require.Equal(t, "Shared", string(two["b"].([]byte)))

	// Seen in JSON on one side only, or on none.
	hidden := frozen(t, map[string]any{"row": row{Cells: cells, first: nil}, "cells": cells})
	hidden["cells"].([]int)[0] = 10
	require.Equal(t, 10, hidden["row"].(row).Cells[0])
	n := 1
	both := frozen(t, []any{row{first: &n}, row{first: &n}})
	require.Same(t, both[0].(row).first, both[1].(row).first)
	require.NotSame(t, &n, both[0].(row).first)
}

// A part is by itself what it is in the whole.
func TestPartsOfAShape(t *testing.T) {
	p := &point{1, 2}
	v, err := Freeze(map[string]any{"in": []any{linkedPair{p, p}, 1, "s"}, "p": p})
	require.NoError(t, err)
	pair := v.Path("in.0").Any().(linkedPair)
	require.Same(t, pair.Left, pair.Right)
	require.Equal(t, []any{linkedPair{p, p}, 1, "s"}, v.Key("in").Any())
	require.Equal(t, p, v.Key("p").Any())
	require.Equal(t, 1.0, v.Path("p.X").Any())
}

func TestPointersToInterfacesAndPointers(t *testing.T) {
	var five any = 5
	require.Equal(t, 5, *frozen(t, &five))
	var inner any = &five
	out := frozen(t, &inner)
	require.Equal(t, 5, *(*out).(*any))
	p := &point{1, 2}
	require.Equal(t, point{1, 2}, **frozen(t, &p))
	var nothing *point
	require.Nil(t, *frozen(t, &nothing))
	value, err := Freeze(1)
	require.NoError(t, err)
	pv := &value
	require.Equal(t, 1, (**frozen(t, &pv)).Any())
}

type guarded struct {
	mu sync.Mutex
	N  int
	by *string
}

func (g *guarded) Clone() *guarded {
	g.mu.Lock()
	defer g.mu.Unlock()
	by := "Clone"
	return &guarded{N: g.N, by: &by}
}

// A Clone with a pointer receiver copies what a pointer leads to, and what lies in
// another value.
func TestACloneWithAPointerReceiver(t *testing.T) {
	in := &guarded{N: 1}
	out := frozen(t, in)
	require.NotSame(t, in, out)
	require.Equal(t, 1, out.N)
	require.Equal(t, "Clone", *out.by)
	got := frozen(t, map[string]any{"g": []*guarded{in}})["g"].([]*guarded)[0]
	require.Equal(t, "Clone", *got.by)
	type holder struct {
		Name    string
		Guarded guarded
	}
	h := frozen(t, &holder{Name: "h"})
	require.Equal(t, "Clone", *h.Guarded.by)
	v, err := Freeze(in)
	require.NoError(t, err)
	require.Equal(t, int64(1), v.Key("N").Int())
}

func TestTheErrorForALockSaysWhatToDoHere(t *testing.T) {
	type session struct {
		Name string
		mu   sync.Mutex //lint:ignore U1000 it is there
	}
	for _, v := range []any{&session{Name: "s"}, []any{&session{}}, map[string]*session{"a": {}}} {
		_, err := Freeze(v)
		require.ErrorIs(t, err, ErrUnsupported)
		require.ErrorContains(t, err, "mu: sync.Mutex must not be copied")
		require.ErrorContains(t, err, "a method Clone")
		require.NotContains(t, err.Error(), "Options")
		require.NotContains(t, err.Error(), "Immutable")
	}
}

// A type's own Clone is trusted, also where its fields would do.
func TestAnOwnCloneIsUsed(t *testing.T) {
	require.Equal(t, "Clone", *frozen(t, struct{ S signed }{}).S.By)
	require.Equal(t, "Clone", *frozen(t, map[string]any{"s": []signed{{}}})["s"].([]signed)[0].By)
}

type signed struct{ By *string }

func (signed) Clone() signed {
	by := "Clone"
	return signed{&by}
}

// Levels are those of lists and maps.
func TestPointersAreNoLevels(t *testing.T) {
	type linked struct {
		N    int
		Next *linked
	}
	chain := func(n int) *linked {
		var first *linked
		for i := range n {
			first = &linked{i, first}
		}
		return first
	}
	for _, n := range []int{501, maxDepth} {
		v, err := Freeze(chain(n))
		require.NoError(t, err, n)
		require.Equal(t, chain(n), v.Any())
		require.Equal(t, int64(0), v.Path(strings.TrimSuffix(strings.Repeat("Next.", n-1), ".")).Key("N").Int())
	}
	_, err := Freeze(chain(maxDepth + 1))
	require.ErrorIs(t, err, ErrTooDeep)
	// Pointers alone go deep, but not without an end.
	type pointer *pointer
	deep := func(n int) pointer {
		var p pointer
		for range n {
			next := new(pointer)
			*next = p
			p = pointer(next)
		}
		return p
	}
	v, err := Freeze(deep(1000))
	require.NoError(t, err)
	require.IsType(t, deep(1), v.Any())
	_, err = Freeze(deep(100_000))
	require.ErrorIs(t, err, ErrTooDeep)
	self := new(pointer)
	*self = self
	_, err = Freeze(self)
	require.ErrorIs(t, err, ErrCycle)
}

func TestNumbersThatMarshalThemselves(t *testing.T) {
	n, ok := new(big.Int).SetString("123456789012345678901234567890", 10)
	require.True(t, ok)
	v, err := Freeze(map[string]any{"a": n, "b": []any{n}})
	require.NoError(t, err)
	text, err := v.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, `{"a":123456789012345678901234567890,"b":[123456789012345678901234567890]}`, string(text))
	require.Zero(t, n.Cmp(v.Key("a").Any().(*big.Int)))
	back, err := As[*big.Int](v.Path("b.0"))
	require.NoError(t, err)
	require.Zero(t, n.Cmp(back))
}
