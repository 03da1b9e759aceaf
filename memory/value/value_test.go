package value

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type address struct {
	City string `json:"city"`
	Zip  *int   `json:"zip,omitempty"`
}

type person struct {
	Name    string
	Age     uint8 `json:"age"`
	Home    address
	Tags    []string       `json:"tags"`
	Extra   map[string]any `json:"extra"`
	Skipped string         `json:"-"`
	secret  int
}

type point struct{ X, Y float64 }

type base struct {
	ID   string
	Kind string `json:"kind"`
}

type derived struct {
	base
	*point
	Kind string
}

type level int

type word string

// values are what can be frozen, one of each sort at least. Each call returns
// fresh ones.
func values() map[string]any {
	zip := 8000
	when := time.Date(2026, 2, 3, 4, 5, 6, 7, time.UTC)
	same := &point{1, 2}
	return map[string]any{
		"nil": nil, "true": true, "false": false, "int": 42, "negative": -1, "int8": int8(-8), "level": level(3),
		"uint64": uint64(math.MaxUint64), "uintptr": uintptr(7), "float": 1.5, "float32": float32(0.25), "string": "text", "empty": "",
		"word": word("named"), "bytes": []byte("raw"), "no bytes": []byte{}, "nil bytes": []byte(nil), "time": when,
		"duration": time.Minute, "list": []any{1, "a", nil, []any{}}, "nil list": []any(nil), "empty list": []any{},
		"strings": []string{"a", "b"}, "ints": []int{1, 2}, "floats": []float64{1, 2.5}, "matrix": [][]float64{{1}, {}, nil},
		"array": [3]int{1, 2, 3}, "map": map[string]any{"a": 1, "b": map[string]any{"c": nil}}, "nil map": map[string]any(nil),
		"strings by string": map[string]string{"k": "v"}, "lists": map[string][]string{"k": {"v"}, "none": nil},
		"maps": []map[string]any{{"a": 1}, nil}, "by word": map[word]int{"w": 1}, "by int": map[int]string{-3: "x"},
		"by uint8": map[uint8]bool{200: true}, "point": point{1, 2}, "pointer": &point{3, 4}, "nil pointer": (*point)(nil),
		"pointer to pointer": func() **point { p := &point{5, 6}; return &p }(), "twice": []*point{same, same},
		"person":  person{Name: "Ada", Age: 36, Home: address{"London", &zip}, Tags: []string{"x"}, Extra: map[string]any{"n": 1}, Skipped: "s", secret: 9},
		"derived": derived{base: base{"1", "hidden"}, point: &point{1, 2}, Kind: "own"}, "empty struct": struct{}{},
		"addr": netip.MustParseAddr("10.0.0.1"), "big": big.NewInt(12345), "raw": json.RawMessage(`{"a":[1,2]}`), "number": json.Number("12"),
		"interfaces": []any{level(1), word("w"), []string{"s"}, &point{7, 8}},
	}
}

func TestAnyGivesBackWhatCameInWithItsTypes(t *testing.T) {
	again := values()
	for name, in := range values() {
		t.Run(name, func(t *testing.T) {
			v, err := Freeze(in)
			require.NoError(t, err)
			out := v.Any()
			require.Equal(t, again[name], out)
			require.Equal(t, reflect.TypeOf(in), reflect.TypeOf(out))
			require.Equal(t, again[name], v.Any(), "twice")
		})
	}
}

func TestAValueReadsAsJSONShowsIt(t *testing.T) {
	for name, in := range values() {
		t.Run(name, func(t *testing.T) {
			v, err := Freeze(in)
			require.NoError(t, err)
			want, err := json.Marshal(in)
			require.NoError(t, err)
			got, err := v.MarshalJSON()
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(got))
			if v.Kind() == Map {
				var m map[string]any
				require.NoError(t, json.Unmarshal(want, &m))
				require.Equal(t, len(m), v.Len())
				for k := range m {
					require.True(t, v.Key(k).Exists(), k)
				}
			}
		})
	}
}

// spoil writes to everything that x reaches.
func spoil(x reflect.Value) {
	switch x.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !x.IsNil() {
			spoil(x.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range x.Len() {
			spoil(x.Index(i))
			if e := x.Index(i); e.CanSet() {
				e.SetZero()
			}
		}
	case reflect.Map:
		for _, k := range x.MapKeys() {
			spoil(x.MapIndex(k))
			x.SetMapIndex(k, reflect.Value{})
		}
	case reflect.Struct:
		for i := range x.NumField() {
			if f := x.Field(i); x.Type().Field(i).IsExported() {
				spoil(f)
				if f.CanSet() {
					f.SetZero()
				}
			}
		}
	}
}

func TestNothingReachesAFrozenValue(t *testing.T) {
	want := values()
	for name, in := range values() {
		t.Run(name, func(t *testing.T) {
			v, err := Freeze(in)
			require.NoError(t, err)
			text, err := v.MarshalJSON()
			require.NoError(t, err)
			spoil(reflect.ValueOf(&in).Elem())
			spoil(reflect.ValueOf(v.Any()))
			if b := v.Bytes(); len(b) > 0 {
				b[0]++
			}
			require.Equal(t, want[name], v.Any())
			after, err := v.MarshalJSON()
			require.NoError(t, err)
			require.Equal(t, string(text), string(after))
		})
	}
}

func TestAccessorsOfTheirOwnKindAndOfOthers(t *testing.T) {
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	v, err := Freeze(map[string]any{
		"b": true, "i": -7, "u": uint(7), "f": 2.0, "half": 0.5, "huge": 1e300, "max": uint64(math.MaxUint64),
		"s": "text", "raw": []byte{1, 2}, "t": when, "l": []any{1, "two"}, "n": nil,
	})
	require.NoError(t, err)
	require.Equal(t, Map, v.Kind())
	require.Equal(t, 12, v.Len())
	require.True(t, v.Key("b").Bool())
	require.Equal(t, int64(-7), v.Key("i").Int())
	require.Equal(t, int64(7), v.Key("u").Int())
	require.Equal(t, int64(2), v.Key("f").Int())
	require.Zero(t, v.Key("half").Int())
	require.Zero(t, v.Key("huge").Int())
	require.Zero(t, v.Key("max").Int())
	require.Equal(t, -7.0, v.Key("i").Float())
	require.Equal(t, 7.0, v.Key("u").Float())
	require.Equal(t, 0.5, v.Key("half").Float())
	require.Equal(t, "text", v.Key("s").String())
	require.Equal(t, 4, v.Key("s").Len())
	require.Equal(t, []byte{1, 2}, v.Key("raw").Bytes())
	require.Equal(t, when, v.Key("t").Time())
	require.Equal(t, "two", v.Key("l").Index(1).String())
	require.True(t, v.Key("n").IsNull())
	require.True(t, v.Key("n").Exists())
	for _, wrong := range []Value{{}, v, v.Key("none"), v.Key("n"), v.Key("l").Index(2), v.Key("l").Index(-1), v.Key("s").Key("x")} {
		require.False(t, wrong.Bool())
		require.Zero(t, wrong.Int())
		require.Zero(t, wrong.Float())
		require.Empty(t, wrong.String())
		require.Nil(t, wrong.Bytes())
		require.True(t, wrong.Time().IsZero())
		require.False(t, wrong.Index(0).Exists())
	}
	require.Equal(t, Absent, Value{}.Kind())
	require.Nil(t, Value{}.Any())
	var keys []string
	for k, e := range v.All() {
		keys = append(keys, k)
		require.True(t, e.Exists())
		if k == "i" {
			break
		}
	}
	require.Equal(t, []string{"b", "f", "half", "huge", "i"}, keys)
	require.Equal(t, "map", v.Kind().String())
	require.Equal(t, "unknown", Kind(99).String())
}

func TestPath(t *testing.T) {
	v, err := Freeze(map[string]any{
		"user": map[string]any{"addresses": []any{map[string]any{"city": "Rome"}, "x"}, "0": "zero"},
		"":     "empty", "a.b": "dotted",
	})
	require.NoError(t, err)
	for path, want := range map[string]any{
		"user.addresses.0.city": "Rome", "user.addresses.1": "x", "user.0": "zero",
		"user.addresses.2": nil, "user.addresses.-1": nil, "user.addresses.00": nil, "user.addresses.x": nil,
		"user.": nil, ".user": nil, "user..addresses": nil, "a.b": nil, "nobody": nil, "user.0.x": nil,
		"user.addresses.99999999999999999999": nil,
	} {
		got := v.Path(path)
		require.Equal(t, want, got.Any(), path)
		require.Equal(t, want != nil, got.Exists(), path)
	}
	require.Equal(t, v, v.Path(""))
	require.Equal(t, "dotted", v.Key("a.b").String())
	require.Equal(t, "empty", v.Key("").String())
}

func TestAs(t *testing.T) {
	v, err := Freeze(map[string]any{"Name": "Ada", "age": 36, "tags": []any{"x"}, "Home": map[string]any{"city": "London"}})
	require.NoError(t, err)
	p, err := As[person](v)
	require.NoError(t, err)
	require.Equal(t, person{Name: "Ada", Age: 36, Tags: []string{"x"}, Home: address{City: "London"}}, p)
	pp, err := As[*person](v)
	require.NoError(t, err)
	require.Equal(t, p, *pp)
	n, err := As[int64](v.Key("age"))
	require.NoError(t, err)
	require.Equal(t, int64(36), n)
	_, err = As[int](v.Key("Name"))
	require.ErrorContains(t, err, "value: as int")
	_, err = As[uint8](v.Key("none"))
	require.ErrorIs(t, err, ErrAbsent)
	same, err := Freeze(person{Name: "Bob", secret: 7})
	require.NoError(t, err)
	p, err = As[person](same)
	require.NoError(t, err)
	require.Equal(t, 7, p.secret, "its own type comes back whole")
	then := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	in, err := Freeze(map[string]any{"At": then})
	require.NoError(t, err)
	at, err := As[struct{ At time.Time }](in)
	require.NoError(t, err)
	require.Equal(t, then, at.At)
}

type failing struct{}

func (failing) MarshalText() ([]byte, error) { return nil, errors.New("never") }

func TestWhatCannotBeFrozen(t *testing.T) {
	loop := map[string]any{}
	loop["self"] = []any{loop}
	list := []any{nil}
	list[0] = list
	type ring struct{ Next *ring }
	r := &ring{}
	r.Next = r
	deep := any("bottom")
	for range maxDepth + 1 {
		deep = []any{deep}
	}
	for name, c := range map[string]struct {
		in   any
		err  error
		path string
	}{
		"chan":        {make(chan int), ErrUnsupported, ""},
		"func":        {map[string]any{"a": []any{1, func() {}}}, ErrUnsupported, "a.1"},
		"complex":     {struct{ C complex128 }{1}, ErrUnsupported, "C"},
		"NaN":         {map[string]any{"x": math.NaN()}, ErrUnsupported, "x"},
		"Inf":         {[]float64{1, math.Inf(-1)}, ErrUnsupported, "1"},
		"float keys":  {map[string]any{"m": map[float64]int{1: 1}}, ErrUnsupported, "m"},
		"marshaler":   {[]any{failing{}}, ErrUnsupported, "0"},
		"a map":       {loop, ErrCycle, "self.0"},
		"a list":      {list, ErrCycle, "0"},
		"a pointer":   {r, ErrCycle, "Next"},
		"further in":  {map[string]any{"a": []any{0, loop}}, ErrCycle, "a.1.self.0"},
		"too deep":    {deep, ErrTooDeep, strings.TrimSuffix(strings.Repeat("0.", maxDepth), ".")},
		"locked away": {struct{ ch any }{make(chan int)}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := Freeze(c.in)
			if c.err == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.err)
			require.False(t, v.Exists())
			var ve *Error
			require.ErrorAs(t, err, &ve)
			if c.path != "" {
				require.Equal(t, c.path, ve.Path)
			}
			require.NotEmpty(t, err.Error())
		})
	}
	flat := any("bottom")
	for range maxDepth {
		flat = []any{flat}
	}
	_, err := Freeze(flat)
	require.NoError(t, err)
	shared := []any{1}
	_, err = Freeze([]any{shared, shared, map[string]any{"a": shared}})
	require.NoError(t, err, "the same one in several places is no cycle")
}

func TestAFrozenValueIsAPartOfAnother(t *testing.T) {
	inner, err := Freeze(map[string]any{"a": 1})
	require.NoError(t, err)
	again, err := Freeze(inner)
	require.NoError(t, err)
	require.Equal(t, inner, again)
	outer, err := Freeze(map[string]any{"in": inner, "none": Value{}, "list": []Value{inner}})
	require.NoError(t, err)
	require.Equal(t, 1, outer.Path("in.a").Any())
	require.True(t, outer.Key("none").IsNull())
	require.Equal(t, int64(1), outer.Path("list.0.a").Int())
	require.Equal(t, []Value{inner}, outer.Key("list").Any())
}

func TestReadingAllocatesNothing(t *testing.T) {
	if info, _ := debug.ReadBuildInfo(); slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-gcflags" }) {
		t.Skip("an iteration allocates nothing where it is inlined")
	}
	m := map[string]any{"nested": map[string]any{"list": []any{"a", 1.5}}, "at": time.Now()}
	for _, k := range strings.Fields("a b c d e f g h i j") {
		m[k] = k
	}
	v, err := Freeze(m)
	require.NoError(t, err)
	n := 0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		n += len(v.Key("j").String()) + int(v.Path("nested.list.1").Float()) + v.Key("at").Time().Second()
		for k, e := range v.All() {
			n += len(k) + e.Len()
		}
		for _, e := range v.Path("nested.list").Values() {
			n += e.Len()
		}
	}))
}

func FuzzPath(f *testing.F) {
	v, err := Freeze(map[string]any{"a": []any{map[string]any{"b": 1}}, "": map[string]any{"": 2}})
	require.NoError(f, err)
	for _, seed := range []string{"", "a", "a.0.b", "a.00", ".", "..", "a.", "a.18446744073709551616"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		want, steps := v, strings.Split(path, ".")
		for _, step := range steps {
			if path == "" {
				break
			}
			i, isIndex := index(step)
			switch {
			case want.Kind() == Map && step != "":
				want = want.Key(step)
			case want.Kind() == List && isIndex:
				want = want.Index(i)
			case want.Kind() == Map && step == steps[len(steps)-1] && path[len(path)-1] != '.':
				want = want.Key(step)
			default:
				want = Value{}
			}
		}
		require.Equal(t, want, v.Path(path))
	})
}

// What is decoded from JSON, frozen and encoded is the same JSON.
func FuzzFreezeJSON(f *testing.F) {
	for _, seed := range []string{`null`, `{"a":[1,2.5,"x",true,null,{}]}`, `"é\u0000"`, `[[[]]]`, `1e308`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var in any
		if json.Unmarshal([]byte(text), &in) != nil {
			return
		}
		v, err := Freeze(in)
		if errors.Is(err, ErrTooDeep) {
			return
		}
		require.NoError(t, err)
		require.Equal(t, in, v.Any())
		want, err := json.Marshal(in)
		require.NoError(t, err)
		got, err := json.Marshal(v)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	})
}

// errOf returns the error of a write.
