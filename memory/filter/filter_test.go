package filter

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowstore/cowstore/memory/value"
	"github.com/stretchr/testify/require"
)

type Value = value.Value

var (
	Freeze = value.Freeze
	Equal  = value.Equal
)

func mustFreeze(t testing.TB, v any) Value {
	t.Helper()
	f, err := Freeze(v)
	require.NoError(t, err)
	return f
}

type word string

func TestFiltersOfOneField(t *testing.T) {
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	elsewhere := noon.In(time.FixedZone("east", 3600))
	type user struct {
		Name string `json:"name"`
	}
	of := mustFreeze(t, "the value")
	meta := mustFreeze(t, map[string]any{
		"int": 7, "negative": int8(-7), "uint": uint(7), "float": 7.0, "half": 7.5, "max": uint64(math.MaxUint64), "min": int64(math.MinInt64),
		"odd": int64(1<<53 + 1), "huge": 1e300, "s": "b", "empty": "", "raw": []byte("b"), "t": noon, "yes": true, "no": false, "null": nil,
		"list": []any{1, "x", []string{"y"}}, "map": map[string]any{"a": map[string]int{"b": 1}}, "users": []user{{"Ada"}}, "": "no name", "a.b": "dotted",
	})
	is := func(want bool, f Filter) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			require.NoError(t, f.Err())
			require.Equal(t, want, f.Match(&Entry{Value: of, Metadata: meta}))
			require.Equal(t, !want, Not(f).Match(&Entry{Value: of, Metadata: meta}))
		}
	}
	type row struct {
		at         Field
		with       any
		eq, gt, lt bool
	}
	for _, r := range []row{
		{at: Meta("int"), with: 7, eq: true},
		{at: Meta("int"), with: uint8(7), eq: true},
		{at: Meta("int"), with: float32(7), eq: true},
		{at: Meta("int"), with: json.Number("7"), eq: true},
		{at: Meta("uint"), with: 7, eq: true},
		{at: Meta("float"), with: 7, eq: true},
		{at: Meta("int"), with: 7.5, lt: true},
		{at: Meta("half"), with: 7, gt: true},
		{at: Meta("half"), with: 8, lt: true},
		{at: Meta("negative"), with: -7.5, gt: true},
		{at: Meta("negative"), with: -6.5, lt: true},
		{at: Meta("negative"), with: uint64(math.MaxUint64), lt: true},
		{at: Meta("max"), with: -1, gt: true},
		{at: Meta("max"), with: uint64(math.MaxUint64), eq: true},
		{at: Meta("max"), with: 0x1p64, lt: true},
		{at: Meta("max"), with: int64(math.MaxInt64), gt: true},
		{at: Meta("min"), with: -0x1p63, eq: true},
		{at: Meta("min"), with: -0x1p63 * 2, gt: true},
		{at: Meta("min"), with: int64(math.MinInt64 + 1), lt: true},
		{at: Meta("odd"), with: 0x1p53, gt: true}, // equal once rounded
		{at: Meta("odd"), with: int64(1<<53 + 1), eq: true},
		{at: Meta("huge"), with: uint64(math.MaxUint64), gt: true},
		{at: Meta("huge"), with: int64(math.MinInt64), gt: true},
		{at: Meta("int"), with: "7"},
		{at: Meta("int"), with: true},
		{at: Meta("s"), with: "b", eq: true},
		{at: Meta("s"), with: "a", gt: true},
		{at: Meta("s"), with: "B", gt: true},
		{at: Meta("s"), with: "ba", lt: true},
		{at: Meta("s"), with: word("b"), eq: true},
		{at: Meta("s"), with: []byte("b")},
		{at: Meta("empty"), with: "", eq: true},
		{at: Meta("empty"), with: nil},
		{at: Meta("raw"), with: []byte("b"), eq: true},
		{at: Meta("raw"), with: []byte("a"), gt: true},
		{at: Meta("raw"), with: []byte("b\x00"), lt: true},
		{at: Meta("t"), with: elsewhere, eq: true},
		{at: Meta("t"), with: elsewhere.Add(1), lt: true},
		{at: Meta("t"), with: elsewhere.Add(-1), gt: true},
		{at: Meta("t"), with: noon.Format(time.RFC3339)},
		{at: Meta("yes"), with: true, eq: true},
		{at: Meta("yes"), with: false},
		{at: Meta("no"), with: false, eq: true},
		{at: Meta("no"), with: 0},
		{at: Meta("null"), with: nil, eq: true},
		{at: Meta("null"), with: (*int)(nil), eq: true},
		{at: Meta("null"), with: Value{}},
		{at: Meta("none"), with: nil},
		{at: Meta("none"), with: Value{}},
		{at: Meta("list"), with: []any{1.0, "x", []any{"y"}}, eq: true},
		{at: Meta("list"), with: []any{1, "x", []any{"z"}}},
		{at: Meta("list"), with: []any{1, "x"}},
		{at: Meta("list", "0"), with: 1, eq: true},
		{at: Meta("list", "2", "0"), with: "y", eq: true},
		{at: Meta("list", "00"), with: 1},
		{at: Meta("list", "3"), with: nil},
		{at: Meta("list", "-1"), with: 1},
		{at: Meta("list", "x"), with: 1},
		{at: Meta("map"), with: map[string]any{"a": map[string]uint8{"b": 1}}, eq: true},
		{at: Meta("map"), with: map[string]any{"a": map[string]int{"c": 1}}},
		{at: Meta("map"), with: map[string]any{"a": map[string]int{"b": 2}}},
		{at: Meta("map"), with: map[string]any{}},
		{at: Meta("map", "a", "b"), with: 1, eq: true},
		{at: Meta("map", "a", "b", "c"), with: 1},
		{at: Meta("users", "0", "name"), with: "Ada", eq: true},
		{at: Meta("users", "0"), with: map[string]string{"name": "Ada"}, eq: true},
		{at: Meta(""), with: "no name", eq: true},
		{at: Meta("a.b"), with: "dotted", eq: true},
		{at: Meta(), with: meta, eq: true},
		{at: Val(), with: "the value", eq: true},
		{at: Field{}, with: "the value", eq: true},
		{at: Val(), with: of, eq: true},
		{at: Val("s"), with: "b"},
	} {
		t.Run(fmt.Sprintf("%v with %v", r.at, r.with), func(t *testing.T) {
			is(r.eq, r.at.Eq(r.with))(t)
			is(!r.eq, r.at.Ne(r.with))(t)
			is(r.eq, r.at.In("something else", r.with))(t)
			is(r.gt, r.at.Gt(r.with))(t)
			is(r.lt, r.at.Lt(r.with))(t)
			ordered := r.eq && slices.Contains([]value.Kind{value.Int, value.Uint, value.Float, value.String, value.Bytes, value.Time}, mustFreeze(t, r.with).Kind())
			is(r.gt || ordered, r.at.Gte(r.with))(t)
			is(r.lt || ordered, r.at.Lte(r.with))(t)
		})
	}
	is(true, Meta("null").Exists())(t)
	is(true, Meta().Exists())(t)
	is(true, Val().Exists())(t)
	is(false, Val("x").Exists())(t)
	is(false, Meta("none").Exists())(t)
	is(false, Meta("int").In())(t)
	is(true, Meta("int").In(1, nil, 7))(t)
	is(false, Meta("none").In(nil, Value{}))(t)
}

// parts are filters of all truths, for an entry of {"a": 1} and 2.
func parts() map[string]Filter {
	return map[string]Filter{
		"everything": {}, "nothing": Or(), "all": And(), "eq": Meta("a").Eq(1), "not eq": Meta("a").Eq(2), "missing": Meta("b").Lt(1),
		"value": Val().Gt(1), "not the value": Val().Gt(2), "nested": Not(Or(Meta("a").Eq(1), Not(Filter{}))),
	}
}

func TestFiltersFollowDeMorgan(t *testing.T) {
	value, meta := mustFreeze(t, 2), mustFreeze(t, map[string]any{"a": 1})
	is := func(f Filter) bool { require.NoError(t, f.Err()); return f.Match(&Entry{Value: value, Metadata: meta}) }
	require.True(t, is(Filter{}) && is(And()) && !is(Or()) && !is(Not(Filter{})))
	for _, f := range parts() {
		require.Equal(t, is(f), is(Not(Not(f))))
		require.Equal(t, is(f), is(And(f)))
		require.Equal(t, is(f), is(Or(f)))
		require.True(t, is(Or(f, Not(f))))
		require.False(t, is(And(f, Not(f))))
		for _, g := range parts() {
			require.Equal(t, is(f) && is(g), is(And(f, g)))
			require.Equal(t, is(f) || is(g), is(Or(f, g)))
			require.Equal(t, is(Not(And(f, g))), is(Or(Not(f), Not(g))))
			require.Equal(t, is(Not(Or(f, g))), is(And(Not(f), Not(g))))
			for _, h := range parts() {
				require.Equal(t, is(And(f, Or(g, h))), is(Or(And(f, g), And(f, h))))
				require.Equal(t, is(And(f, g, h)), is(And(And(f, g), h)))
			}
		}
	}
}

func TestAnErroneousConstantMakesTheWholeFilterErroneous(t *testing.T) {
	meta := mustFreeze(t, map[string]any{"a": 1})
	loop := []any{nil}
	loop[0] = loop
	for _, c := range []struct {
		v    any
		want error
	}{{make(chan int), value.ErrUnsupported}, {math.NaN(), value.ErrUnsupported}, {loop, value.ErrCycle}} {
		for _, bad := range []Filter{
			Meta("a", "b").Eq(c.v), Meta("a").Ne(c.v), Meta("a").Gt(c.v), Meta("a").Gte(c.v), Meta("a").Lt(c.v), Meta("a").Lte(c.v), Meta("a").In(1, c.v),
		} {
			for _, f := range []Filter{bad, Not(bad), And(bad), Or(Filter{}, bad), And(Or(), Not(And(Filter{}, bad))), Or(Meta("a").Eq(1), bad)} {
				require.ErrorIs(t, f.Err(), ErrInvalid)
				require.ErrorIs(t, f.Err(), c.want)
				require.ErrorContains(t, f.Err(), "memory: erroneous filter on metadata a")
				require.False(t, f.Match(&Entry{Metadata: meta}))
			}
		}
	}
}

func TestFiltersAreBounded(t *testing.T) {
	deep := Meta("a").Eq(1)
	for range maxFilterDepth - 1 {
		deep = Not(deep)
	}
	require.NoError(t, deep.Err())
	require.False(t, deep.Match(&Entry{Metadata: mustFreeze(t, map[string]any{"a": 1})}), "negated 999 times")
	for range 10 {
		deep = Not(And(deep))
		require.ErrorIs(t, deep.Err(), ErrInvalid)
		require.ErrorContains(t, deep.Err(), "1000 levels")
		require.False(t, deep.Match(&Entry{}))
	}
	wide := Meta("a").Exists()
	for range 19 {
		wide = And(wide, wide)
		require.NoError(t, wide.Err())
	}
	wide = And(wide, wide)
	require.ErrorIs(t, wide.Err(), ErrInvalid)
	require.ErrorContains(t, wide.Err(), "1048576 conditions")
	require.NoError(t, And(make([]Filter, 100000)...).Err())
}

func TestAFilterIsImmutable(t *testing.T) {
	meta := mustFreeze(t, map[string]any{"a": map[string]any{"b": []string{"x"}}})
	path := []string{"a", "b"}
	constant := []string{"x"}
	among := []any{constant}
	fs := []Filter{Meta(path...).Eq(constant), Meta(path...).In(among...)}
	both := And(fs...)
	require.True(t, both.Match(&Entry{Metadata: meta}))
	path[1], constant[0], among[0], fs[0], fs[1] = "c", "y", nil, Or(), Or()
	require.True(t, both.Match(&Entry{Metadata: meta}))

	var wg sync.WaitGroup
	wrong := make(chan string, 8)
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if !And(both, Not(Not(both))).Match(&Entry{Metadata: meta}) {
					wrong <- "no match"
					return
				}
			}
		})
	}
	wg.Wait()
	require.Empty(t, wrong)
}

func TestMatchingAllocatesNothing(t *testing.T) {
	entry := map[string]any{"kind": "note", "at": time.Now(), "n": 3, "tags": []any{"x", "y"}}
	meta := mustFreeze(t, entry)
	f := And(Meta("kind").In("fact", "note"), Or(Meta("n").Gt(7.5), Meta("at").Lte(time.Now().Add(time.Hour))),
		Not(Meta("none").Exists()), Meta("tags").Eq([]string{"x", "y"}), Meta().Ne(1))
	require.True(t, f.Match(&Entry{Metadata: meta}))
	require.Zero(t, testing.AllocsPerRun(100, func() { f.Match(&Entry{Metadata: meta}) }))
}

// naive decides like a filter by what Any gives back.
type naive struct {
	op       operator
	metadata bool
	path     []string
	with     []any
	parts    []naive
}

func (n naive) filter() Filter {
	at := Val(n.path...)
	if n.metadata {
		at = Meta(n.path...)
	}
	var parts []Filter
	for _, p := range n.parts {
		parts = append(parts, p.filter())
	}
	switch n.op {
	case opExists:
		return at.Exists()
	case opEq:
		return at.In(n.with...)
	case opNe:
		return at.Ne(n.with[0])
	case opGt:
		return at.Gt(n.with[0])
	case opGte:
		return at.Gte(n.with[0])
	case opLt:
		return at.Lt(n.with[0])
	case opLte:
		return at.Lte(n.with[0])
	case opAnd:
		return And(parts...)
	case opOr:
		return Or(parts...)
	}
	return Not(parts[0])
}

func (n naive) Match(value, metadata any) bool {
	switch n.op {
	case opAnd:
		return !slices.ContainsFunc(n.parts, func(p naive) bool { return !p.Match(value, metadata) })
	case opOr:
		return slices.ContainsFunc(n.parts, func(p naive) bool { return p.Match(value, metadata) })
	case opNot:
		return !n.parts[0].Match(value, metadata)
	}
	at, found := value, true
	if n.metadata {
		at = metadata
	}
	for _, step := range n.path {
		switch in := at.(type) {
		case map[string]any:
			at, found = in[step]
		case []any:
			found = false
			for i, e := range in {
				if strconv.Itoa(i) == step {
					at, found = e, true
				}
			}
		default:
			found = false
		}
		if !found {
			break
		}
	}
	if !found || n.op == opExists {
		return found == (n.op != opNe)
	}
	if n.op == opEq || n.op == opNe {
		return slices.ContainsFunc(n.with, func(v any) bool { return naiveEqual(at, v) }) == (n.op == opEq)
	}
	order, ok := naiveOrder(at, n.with[0])
	return ok && (order > 0 && (n.op == opGt || n.op == opGte) || order < 0 && (n.op == opLt || n.op == opLte) ||
		order == 0 && (n.op == opGte || n.op == opLte))
}

func naiveEqual(a, b any) bool {
	if order, ok := naiveOrder(a, b); ok {
		return order == 0
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, naiveEqual)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, naiveEqual)
	case bool, nil:
		return a == b
	}
	return false
}

func naiveOrder(a, b any) (int, bool) {
	if x, y := rational(a), rational(b); x != nil && y != nil {
		return x.Cmp(y), true
	}
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return strings.Compare(a, b), ok
	case []byte:
		b, ok := b.([]byte)
		return strings.Compare(string(a), string(b)), ok
	case time.Time:
		b, ok := b.(time.Time)
		return a.Compare(b), ok
	}
	return 0, false
}

func rational(v any) *big.Rat {
	switch v := v.(type) {
	case int:
		return new(big.Rat).SetInt64(int64(v))
	case int64:
		return new(big.Rat).SetInt64(v)
	case uint64:
		return new(big.Rat).SetUint64(v)
	case float64:
		return new(big.Rat).SetFloat64(v)
	}
	return nil
}

// A maker makes values and filters of the bytes of a fuzzer.
type maker struct{ data []byte }

func (m *maker) n(below int) int {
	if len(m.data) == 0 {
		return 0
	}
	b := m.data[0]
	m.data = m.data[1:]
	return int(b) % below
}

var (
	makerNumbers = []any{
		0, 1, -1, 2, 1.5, -0.5, math.Copysign(0, -1), 1.0, uint64(1), uint64(math.MaxUint64), int64(math.MinInt64), int64(math.MaxInt64), 0x1p63, -0x1p63, 0x1p64,
		int64(1<<53 + 1), uint64(1<<53 + 1), 0x1p53, int64(-1<<53 - 1), -0x1p53, math.MaxFloat64, math.SmallestNonzeroFloat64,
	}
	makerKeys = []string{"a", "b", "0", "1", "", "00"}
)

func (m *maker) value(depth int) any {
	kinds := 9
	if depth == 0 {
		kinds = 7
	}
	switch m.n(kinds) {
	case 1:
		return m.n(2) == 0
	case 2:
		return makerKeys[m.n(len(makerKeys))]
	case 3:
		return []byte(makerKeys[m.n(len(makerKeys))])
	case 4:
		return time.Unix(int64(m.n(2)), 0).In(time.FixedZone("", m.n(2)*3600))
	case 5, 6:
		return makerNumbers[m.n(len(makerNumbers))]
	case 7:
		l := make([]any, m.n(4))
		for i := range l {
			l[i] = m.value(depth - 1)
		}
		return l
	case 8:
		o := map[string]any{}
		for range m.n(4) {
			o[makerKeys[m.n(len(makerKeys))]] = m.value(depth - 1)
		}
		return o
	}
	return nil
}

func (m *maker) filter(depth int) naive {
	op := operator(m.n(int(opNot) + 1))
	if depth == 0 {
		op %= opAnd
	}
	n := naive{op: op, metadata: m.n(2) == 0}
	if op >= opAnd {
		count := 1
		if op != opNot {
			count = m.n(4)
		}
		for range count {
			n.parts = append(n.parts, m.filter(depth-1))
		}
		return n
	}
	for range m.n(4) {
		n.path = append(n.path, makerKeys[m.n(len(makerKeys))])
	}
	count := 1
	if op == opEq {
		count = m.n(3)
	}
	for range count {
		n.with = append(n.with, m.value(2))
	}
	return n
}

func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"", "8310571", "\x08\x03\x00\x05\x01\x01\x07\x02", "\x05\x0f\x05\x10\x03\x00\x00\x05\x11", strings.Repeat("\x08\x03\x07\x02\x09", 12)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &maker{data[:min(len(data), 4096)]}
		value, metadata := mustFreeze(t, m.value(3)), mustFreeze(t, m.value(3))
		n := m.filter(3)
		filter := n.filter()
		require.NoError(t, filter.Err())
		want := n.Match(value.Any(), metadata.Any())
		require.Equal(t, want, filter.Match(&Entry{Value: value, Metadata: metadata}), "%+v of %#v, %#v", n, value.Any(), metadata.Any())
		require.Equal(t, !want, Not(filter).Match(&Entry{Value: value, Metadata: metadata}))
		require.Equal(t, naiveEqual(value.Any(), metadata.Any()), Equal(value, metadata))
		require.True(t, Equal(value, mustFreeze(t, value.Any())))
	})
}

func TestContains(t *testing.T) {
	e := &Entry{
		Value:    mustFreeze(t, "Ada likes green tea"),
		Metadata: mustFreeze(t, map[string]any{"list": []any{1, "two", []any{3}, nil, 0.5}, "map": map[string]any{"a": nil, "": 1}, "text": "", "n": 12, "raw": []byte("abc")}),
	}
	for _, c := range []struct {
		at   Field
		v    any
		want bool
	}{
		{Val(), "green", true}, {Val(), "", true}, {Val(), "Green", false}, {Val(), 7, false}, {Val(), nil, false},
		{Meta("list"), 1.0, true}, {Meta("list"), "two", true}, {Meta("list"), "tw", false}, {Meta("list"), []any{3}, true}, {Meta("list"), 3, false},
		{Meta("list"), nil, true}, {Meta("list"), 0.5, true}, {Meta("list", "2"), 3, true},
		{Meta("map"), "a", true}, {Meta("map"), "", true}, {Meta("map"), "b", false}, {Meta("map"), 1, false}, {Meta(), "list", true},
		{Meta("text"), "", true}, {Meta("text"), "a", false}, {Meta("n"), 1, false}, {Meta("n"), "1", false}, {Meta("raw"), "a", false},
		{Meta("none"), "a", false}, {Created(), "a", false},
	} {
		f := c.at.Contains(c.v)
		require.NoError(t, f.Err())
		require.Equal(t, c.want, f.Match(e), "%v contains %v", c.at, c.v)
		require.Equal(t, !c.want, Not(f).Match(e))
	}
	require.ErrorIs(t, Meta("a").Contains(make(chan int)).Err(), ErrInvalid)
}

func TestTimesOfEntries(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 1, time.UTC)
	e := &Entry{Created: at, Updated: at.Add(time.Hour), Expires: at.Add(2 * time.Hour)}
	never := &Entry{Created: at, Updated: at}
	for i, c := range []struct {
		f           Filter
		want, never bool
	}{
		{Created().Eq(at.In(time.FixedZone("east", 3600))), true, true}, {Created().Gt(at), false, false}, {Created().Lte(at), true, true},
		{Updated().Gt(at), true, false}, {Updated().Lt(at.Add(time.Hour)), false, true}, {Updated().Eq("2026"), false, false},
		{Expires().Exists(), true, false}, {Expires().Gt(at), true, false}, {Expires().Ne(at), true, true}, {Expires().In(at, e.Expires), true, false},
		{ValidAt(at), true, true}, {ValidAt(at.Add(-1)), false, false}, {ValidAt(e.Expires.Add(-1)), true, true}, {ValidAt(e.Expires), false, true},
	} {
		require.NoError(t, c.f.Err())
		require.Equal(t, c.want, c.f.Match(e), i)
		require.Equal(t, c.never, c.f.Match(never), i)
	}
	require.Equal(t, "created updated expires", fmt.Sprint(Created(), " ", Updated(), " ", Expires()))
}
