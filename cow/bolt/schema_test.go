package bolt_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/cow/internal/layout"
)

// A program is one that has a table "t" of some type.
type program struct {
	open func(path string, accept ...string) (*opened, error)
}

// An opened is a file that a program has open.
type opened struct {
	rows  map[string]any // by key, in words: the values, as JSON has them
	write func() error   // each row as it is
	fill  func() error
	close func() error
}

func programOf[K comparable, V any](codec cow.Codec[V], keys []K, values []V) program {
	return program{func(path string, accept ...string) (*opened, error) {
		db := new(cow.DB)
		table := cow.NewTable[K](db, "t", cow.Options[V]{Codec: codec, Accept: accept})
		if _, err := bolt.Open(path, db, bolt.Options{}); err != nil {
			return nil, err
		}
		o := &opened{close: db.Close, rows: make(map[string]any)}
		for k, v := range table.All() {
			text, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			var is any
			_ = json.Unmarshal(text, &is)
			o.rows[fmt.Sprintf("%v", k)] = is
		}
		o.fill = func() error {
			for i, k := range keys {
				if _, err := table.Set(k, values[i%len(values)]); err != nil {
					return err
				}
			}
			return nil
		}
		o.write = func() error {
			return db.Update(func(tx *cow.Tx) error {
				e := table.Edit(tx)
				for k, v := range table.In(tx.Base()).All() {
					e.Delete(k)
					e.Set(k, v)
				}
				return nil
			})
		}
		return o, nil
	}}
}

func byKey[K comparable](keys ...K) program {
	return programOf(cow.Codec[int](cow.Versioned[int]{}), keys, []int{5, 6})
}

func byValue[V any](codec cow.Codec[V], values ...V) program {
	return programOf(codec, []string{"a", "bobby123"}, values)
}

type pair struct{ A, B int }

type numeral int

type (
	rec      struct{ Name, Note string }
	recTitle struct{ Name, Title string }
	recAB    struct{ Note, Name string }
	base     struct{ Name string }
	outer    struct {
		base
		Note string
	}
	outerNamed struct {
		Base base
		Note string
	}
	node struct {
		Name string
		Kids []node `json:",omitempty"`
	}
	nodes     []nodeOther
	nodeOther struct {
		Name string
		Kids nodes `json:",omitempty"`
	}
	nodeRenamed struct {
		Name  string
		Below []nodeRenamed `json:",omitempty"`
	}
	inOrder struct {
		_    struct{} `cbor:",toarray"`
		A, B int
	}
	inOtherOrder struct {
		_    struct{} `cbor:",toarray"`
		B, A int
	}
	inText struct {
		A int `json:",string"`
		B int
	}
	byNumber struct {
		A int `cbor:"1,keyasint"`
		B int `cbor:"2,keyasint"`
	}
	byOtherNumber struct {
		A int `cbor:"3,keyasint"`
		B int `cbor:"1,keyasint"`
	}
)

// A plain is a codec of one's own, which says nothing; a told says what it is.
type (
	plain[V any]  struct{}
	plain2[V any] struct{}
	told[V any]   struct {
		plain[V]
		text string
	}
)

func (plain[V]) Append(b []byte, v V) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(b, text...), err
}
func (plain[V]) Decode(b []byte) (v V, err error)      { return v, json.Unmarshal(b, &v) }
func (plain2[V]) Append(b []byte, v V) ([]byte, error) { return plain[V]{}.Append(b, v) }
func (plain2[V]) Decode(b []byte) (v V, err error)     { return plain[V]{}.Decode(b) }
func (c told[V]) Schema() string                       { return c.text }

// A coded is a type of values with a codec, and some of them.
type coded struct {
	name   string
	schema layout.Text
	values [][]byte
	recode func(b []byte) (shown any, again []byte, err error) // shown as JSON has it
}

func codedBy[V any](name string, codec cow.Codec[V], values ...V) coded {
	c := coded{name: name, schema: layout.NewText("", layout.CodecSchema[V](codec))}
	for _, v := range values {
		b, err := codec.Append(nil, v)
		if err != nil {
			panic(err)
		}
		c.values = append(c.values, b)
	}
	c.recode = func(b []byte) (shown any, again []byte, err error) {
		v, err := codec.Decode(b)
		if err != nil {
			return nil, nil, err
		}
		text, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(text, &shown)
		}
		if err == nil {
			again, err = codec.Append(nil, v)
		}
		return shown, again, err
	}
	return c
}

func asJSON[V any](name string, values ...V) []coded {
	return []coded{
		codedBy("JSON "+name, cow.Codec[V](cow.Versioned[V]{}), values...),
		codedBy("CBOR "+name, bolt.CBOR[V](), values...),
		codedBy("plain "+name, cow.Codec[V](plain[V]{}), values...),
	}
}

func codedValues() (all []coded) {
	for _, of := range [][]coded{
		asJSON("int", 5, 6), asJSON[uint8]("uint8", 5, 6), asJSON[numeral]("number", 5, 6), asJSON("float64", 5.5, 1<<53+2),
		asJSON[float32]("float32", 0.1), asJSON("bool", true, false), asJSON("string", "AAAA", "2026-01-02T03:04:05Z"),
		asJSON("bytes", []byte("abc")), asJSON("[3]int", [3]int{1, 2, 3}), asJSON("[2]int", [2]int{1, 2}), asJSON("ints", []int{1, 2, 3}),
		asJSON("any", any(5.0), any("x")), asJSON("map", map[string]string{"Name": "Ada", "x": "y"}), asJSON("int keys", map[int]string{1: "a"}),
		asJSON("time", time.Unix(1, 5).UTC()), asJSON("rec", rec{"Ada", "x"}), asJSON("pointer", &rec{"Ada", "y"}, nil),
		asJSON("swapped", recAB{"x", "Ada"}), asJSON("outer", outer{base{"Ada"}, "x"}), asJSON("outer named", outerNamed{base{"Ada"}, "x"}),
		asJSON("one less", struct{ Name string }{"Ada"}), asJSON("one more", struct{ Name, More, Note string }{"Ada", "more", "x"}),
		asJSON("renamed", recTitle{"Ada", "x"}),
		asJSON("other case", struct{ Name, NOTE string }{"Ada", "x"}),
		asJSON("left out", struct {
			Name string
			Note string `json:"-"`
		}{"Ada", "x"}),
		asJSON("tagged", struct {
			Name  string
			Title string `json:"Note,omitempty"`
		}{"Ada", "x"}),
		asJSON("tagged away", struct {
			Name string
			Note string `json:"note"`
		}{"Ada", "x"}),
		asJSON("optional", struct {
			Name string
			Note *string
		}{"Ada", nil}),
		asJSON("other type", struct {
			Name string
			Note int
		}{"Ada", 7}),
		asJSON("node", node{"Ada", []node{{Name: "Bob"}}}), asJSON("node of a list", nodeOther{"Ada", nodes{{Name: "Bob"}}}),
		asJSON("node renamed", nodeRenamed{"Ada", []nodeRenamed{{Name: "Bob"}}}),
		asJSON("in order", inOrder{A: 1, B: 2}), asJSON("in another order", inOtherOrder{A: 1, B: 2}),
		asJSON("by number", byNumber{1, 2}), asJSON("by another number", byOtherNumber{1, 2}), asJSON("pair", pair{1, 2}),
	} {
		all = append(all, of...)
	}
	return append(all,
		codedBy("JSON in text", cow.Codec[inText](cow.Versioned[inText]{}), inText{1, 2}),
		codedBy("plain in text", cow.Codec[inText](plain[inText]{}), inText{1, 2}),
		codedBy("plain2 int", cow.Codec[int](plain2[int]{}), 5, 6),
		codedBy("told 1", cow.Codec[int](told[int]{text: "mine 1"}), 5, 6), codedBy("told 2", cow.Codec[int](told[int]{text: "mine 2"}), 5, 6),
		codedBy("version 1", cow.Codec[int](cow.Versioned[int]{Version: 1}), 5, 6),
		codedBy("version 1 of CBOR", cow.Codec[int](cow.Versioned[int]{Version: 1, Of: bolt.CBOR[int]()}), 5, 6),
		codedBy("version 1 of told", cow.Codec[int](cow.Versioned[int]{Version: 1, Of: told[int]{text: "JSON of "}}), 5, 6))
}

// Values of each type by each codec, read as all others: either there is a difference, by which
// a program is refused, or all that was in them is there, and still is when they were written again.
// What does not decode is refused by its row.
func TestAllValuesAgainstEachOther(t *testing.T) {
	all := codedValues()
	same, refused, rows := 0, 0, 0
	for _, was := range all {
		require.Empty(t, was.schema.Differences(was.schema))
		for _, is := range all {
			what := was.name + " -> " + is.name
			if other := was.schema.Differences(is.schema); len(other) > 0 {
				refused++
				continue
			}
			same++
			for _, b := range was.values {
				want, _, err := was.recode(b)
				require.NoError(t, err, what)
				got, again, err := is.recode(b)
				if err != nil {
					rows++
					continue
				}
				requireHas(t, want, got, what)
				back, _, err := was.recode(again)
				require.NoError(t, err, what)
				requireHas(t, want, back, what)
			}
		}
	}
	t.Logf("%d types: of %d pairs %d are refused, and %d of the other's rows", len(all), same+refused, refused, rows)
	require.Greater(t, refused, 20*same)
}

// requireHas ends the test unless a value, as JSON has it, has all that was in another.
func requireHas(t *testing.T, was, is any, what string) {
	old, ok := was.(map[string]any)
	if !ok {
		require.Equal(t, was, is, what)
		return
	}
	for name, field := range old {
		require.Contains(t, is, name, what)
		requireHas(t, field, is.(map[string]any)[name], what)
	}
}

// Two programs and one file: the second is refused, with both schemas spelled out, and the
// first has all that it had.
func TestOtherSchemasAreRefused(t *testing.T) {
	for _, is := range []struct{ was, is program }{
		{byKey(-1, 1), byKey[string]()},
		{byKey(point{1, 2}), byKey[struct{ Y, X int }]()},
		{byValue(cow.Codec[int](cow.Versioned[int]{}), 5), byValue(cow.Codec[int](cow.Versioned[int]{Of: bolt.CBOR[int]()}), 5)},
		{byValue(cow.Codec[*rec](cow.Versioned[*rec]{}), &rec{"Ada", "x"}), byValue(cow.Codec[*recTitle](cow.Versioned[*recTitle]{}), &recTitle{})},
	} {
		path := temp(t)
		o, err := is.was.open(path)
		require.NoError(t, err)
		require.NoError(t, o.fill())
		require.NoError(t, o.close())
		info, err := bolt.Check(path)
		require.NoError(t, err)
		_, err = is.is.open(path)
		require.ErrorIs(t, err, cow.ErrSchema)
		require.ErrorContains(t, err, "stored are "+info.Tables[0].Schema)
		require.ErrorContains(t, err, "the program has key ")
		o, err = is.was.open(path)
		require.NoError(t, err)
		require.NotEmpty(t, o.rows)
		require.NoError(t, o.close())
	}
}

// What is refused is accepted difference by difference, and by no other word.
func TestDifferencesAreAccepted(t *testing.T) {
	path := temp(t)
	type before struct {
		Name string
		At   pair
	}
	was := byValue(cow.Codec[*before](cow.Versioned[*before]{}), &before{"Ada", pair{1, 2}})
	o, err := was.open(path)
	require.NoError(t, err)
	require.NoError(t, o.fill())
	require.NoError(t, o.close())

	type now struct {
		Title string
		At    struct{ A, C int }
	}
	is := byValue(cow.Codec[*now](cow.Versioned[*now]{}), &now{Title: "x"})
	differences := []string{"value*.Name: string, now gone", "value*.At.B: int, now gone"}
	for _, some := range [][]string{nil, differences[:1], differences[1:], {"value*.Name"}, {"value: string, now gone"}} {
		_, err := is.open(path, some...)
		require.ErrorIs(t, err, cow.ErrSchema)
		for _, d := range differences {
			require.Equal(t, len(some) == 0 || len(some) > 0 && some[0] != d, strings.Contains(err.Error(), d), err)
		}
	}
	o, err = is.open(path, differences...)
	require.NoError(t, err)
	require.NoError(t, o.close())
	o, err = is.open(path) // which is recorded now
	require.NoError(t, err)
	require.NoError(t, o.close())
	_, err = was.open(path)
	require.ErrorIs(t, err, cow.ErrSchema)
	require.ErrorContains(t, err, "value*.At.C: int, now gone, value*.Title: string, now gone")
	o, err = was.open(path, "value*.At.C: int, now gone", "value*.Title: string, now gone")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"Name": "Ada", "At": map[string]any{"A": 1., "B": 2.}}, o.rows["a"], "nobody has written it")
	require.NoError(t, o.close())

	keys := byKey(point{1, 2})
	path = temp(t)
	o, err = keys.open(path)
	require.NoError(t, err)
	require.NoError(t, o.fill())
	require.NoError(t, o.close())
	swapped := byKey(struct{ Y, X int }{})
	_, err = swapped.open(path)
	require.ErrorContains(t, err, "key: struct{X int64; Y int64}, now struct{Y int64; X int64}")
	o, err = swapped.open(path, "key: struct{X int64; Y int64}, now struct{Y int64; X int64}")
	require.NoError(t, err)
	require.Contains(t, o.rows, "{1 2}")
	require.NoError(t, o.close())
}

// Versions go forward where Other reads what is there, and back where Newest says so.
func TestVersionsBackAndForth(t *testing.T) {
	other := func(version byte, b []byte) (n int, err error) { return n, json.Unmarshal(b, &n) }
	of := func(c cow.Versioned[int]) program { return byValue(cow.Codec[int](c), 5, 6) }
	v0, v1, v2 := of(cow.Versioned[int]{}), of(cow.Versioned[int]{Version: 1, Other: other}), of(cow.Versioned[int]{Version: 2, Other: other})
	alone, reads1 := of(cow.Versioned[int]{Version: 1}), of(cow.Versioned[int]{Other: other, Newest: 1})
	path := temp(t)
	for i, step := range []struct {
		program
		refused string
	}{
		{v0, ""}, {alone, "version 0, now version 1"}, {reads1, ""}, {v0, ""}, {v1, ""}, {v0, "version 1, now version 0"}, {alone, ""},
		{reads1, ""}, {v0, "version 1, now version 0"}, {v2, ""}, {reads1, "version 2, now version 0"}, {v1, "version 2, now version 1"}, {v2, ""},
	} {
		o, err := step.open(path)
		if step.refused != "" {
			require.ErrorIs(t, err, cow.ErrSchema, i)
			require.ErrorContains(t, err, step.refused, i)
			continue
		}
		require.NoError(t, err, i)
		if i == 0 {
			require.NoError(t, o.fill())
		} else {
			require.Equal(t, map[string]any{"a": 5., "bobby123": 6.}, o.rows, i)
		}
		if i == 4 {
			require.NoError(t, o.write())
		}
		require.NoError(t, o.close())
	}
}

// The schema goes along with the rows, is verified as they are, and a file without one gets
// it once its rows were decoded.
func TestTheSchemaIsKept(t *testing.T) {
	right, wrong := byKey(1, 2), byKey[string]()
	path := temp(t)
	o, err := right.open(path)
	require.NoError(t, err)
	require.NoError(t, o.fill())
	require.NoError(t, o.close())
	refuses := func(path string) {
		t.Helper()
		_, err := wrong.open(path)
		require.ErrorIs(t, err, cow.ErrSchema)
		require.ErrorContains(t, err, "key: int64, now string")
	}
	refuses(path)
	require.NoError(t, bolt.Compact(path))
	refuses(path)
	restored, salvaged := temp(t), temp(t)
	require.NoError(t, bolt.Restore(restored, path, 2))
	refuses(restored)
	left, err := bolt.Salvage(salvaged, path)
	require.NoError(t, err)
	require.Empty(t, left)
	refuses(salvaged)

	edit := func(path string, do func(meta *bbolt.Bucket) error) {
		db, err := bbolt.Open(path, 0o600, nil)
		require.NoError(t, err)
		require.NoError(t, db.Update(func(tx *bbolt.Tx) error { return do(tx.Bucket([]byte("meta"))) }))
		require.NoError(t, db.Close())
	}
	for _, do := range []func(meta *bbolt.Bucket) error{
		func(meta *bbolt.Bucket) error { return meta.Delete([]byte("schema")) },
		func(meta *bbolt.Bucket) error { return meta.Put([]byte("schema"), nil) },
		func(meta *bbolt.Bucket) error {
			b := append([]byte(nil), meta.Get([]byte("schema"))...)
			b[3] ^= 1
			return meta.Put([]byte("schema"), b)
		},
	} {
		damaged, salvaged := temp(t), temp(t)
		copyFile(t, path, damaged)
		edit(damaged, do)
		_, err := right.open(damaged)
		require.ErrorIs(t, err, bolt.ErrDamaged)
		require.ErrorContains(t, err, "schema")
		left, err := bolt.Salvage(salvaged, damaged)
		require.NoError(t, err)
		require.Len(t, left, 1)
		o, err := right.open(salvaged)
		require.NoError(t, err)
		require.Len(t, o.rows, 2)
		require.NoError(t, o.close())
	}
	stateless := temp(t)
	copyFile(t, path, stateless)
	edit(stateless, func(meta *bbolt.Bucket) error { return meta.Delete([]byte("state")) })
	salvaged = temp(t)
	left, err = bolt.Salvage(salvaged, stateless)
	require.NoError(t, err)
	require.NotEmpty(t, left)
	refuses(salvaged)
}

// A file of format 1 has no schema. A program that cannot decode it leaves none.
func TestAFileWithoutASchemaGetsOne(t *testing.T) {
	path := temp(t)
	require.NoError(t, os.WriteFile(path, unpack(t, "past.db"), 0o600))
	before, err := bolt.Check(path)
	require.NoError(t, err)
	for _, table := range before.Tables {
		require.Empty(t, table.Schema)
	}
	var wrong cow.DB
	cow.NewTable[int](&wrong, "string", cow.Options[int]{Codec: cow.Versioned[int]{}})
	_, err = bolt.Open(path, &wrong, bolt.Options{KeepUnknown: true})
	require.ErrorContains(t, err, `table "string"`)
	_, err = bolt.Open(path, new(cow.DB), bolt.Options{})
	require.ErrorIs(t, err, cow.ErrSchema)
	require.ErrorContains(t, err, `"int" "int8"`)
	require.ErrorContains(t, err, "and 11 more")
	after, err := bolt.Check(path)
	require.NoError(t, err)
	require.Equal(t, before, after)

	// One that knows a part of it records that part.
	var part cow.DB
	cow.NewTable[string](&part, "string", cow.Options[int]{Codec: cow.Versioned[int]{}})
	f, err := bolt.Open(path, &part, bolt.Options{KeepUnknown: true})
	require.NoError(t, err)
	require.Len(t, f.Unknown(), len(before.Tables)-1)
	require.NoError(t, part.Close())
	a := newAlbum()
	_, err = bolt.Open(path, &a.db, bolt.Options{KeepUnknown: true})
	require.NoError(t, err)
	require.NoError(t, a.db.Close())
	_, err = bolt.Open(path, &wrong, bolt.Options{KeepUnknown: true})
	require.ErrorIs(t, err, cow.ErrSchema)
	require.ErrorContains(t, err, "key: string, now int64")
}
