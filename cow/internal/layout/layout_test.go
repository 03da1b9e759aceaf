//lint:file-ignore U1000,SA5008 Fields and their tags are there to be found by reflection.

package layout_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/internal/layout"
)

type (
	inner struct {
		A     int
		Twice string
	}
	second struct{ Twice string }
	hidden int
	deep   struct{ Below *deep }
	list   []list
	first  struct {
		inner
		*second
		hidden
		b      int
		Left   int    `json:"-"`
		Dash   int    `json:"-,"`
		Odd    int    `json:"odd name,omitempty"`
		Bad    string `json:"not\\a name"`
		Text   int    `json:",string"`
		Number int    `cbor:"7,keyasint"`
		When   time.Time
	}
	l0 struct{ A, B [1]struct{ X, Y int } } // and so on, 4 times as many each
	l1 struct{ A, B, C, D l0 }
	l2 struct{ A, B, C, D l1 }
	l3 struct{ A, B, C, D l2 }
	l4 struct{ A, B, C, D l3 }
	l5 struct{ A, B, C, D l4 }
	l6 struct{ A, B, C, D l5 }
	l7 struct{ A, B, C, D l6 }
	l8 struct{ A, B, C, D l7 }
)

func TestShapes(t *testing.T) {
	_ = first{}.b
	for _, is := range []struct {
		of   layout.Of
		t    reflect.Type
		want string
	}{
		{layout.JSON, reflect.TypeFor[first](), `{"-":"int","A":"int","Bad":"string","Number":"int","Text":"int,string","When":"time.Time","odd name":"int"}`},
		{layout.CBOR, reflect.TypeFor[struct {
			Number int `cbor:"7,keyasint"`
			Name   int `json:"n" cbor:"m"`
			Other  int `json:"o"`
		}](), `{"7,keyasint":"int","m":"int","o":"int"}`},
		{layout.CBOR, reflect.TypeFor[struct {
			_    struct{} `cbor:",toarray"`
			B, A int
		}](), `["fields",["B","int"],["A","int"]]`},
		{layout.Go, reflect.TypeFor[struct {
			inner
			Left int32 `json:"-"`
			N    uint  `json:"n"`
		}](), `{"Left json:-":"int32","N json:n":"uint","embedded inner":{"A":"int","Twice":"string"}}`},
		{layout.JSON, reflect.TypeFor[[]byte](), `"bytes"`},
		{layout.JSON, reflect.TypeFor[map[hidden][2]*float32](), `["map","int",["[2]",["*","float32"]]]`},
		{layout.JSON, reflect.TypeFor[deep](), `{"Below":["*","^0"]}`},
		{layout.JSON, reflect.TypeFor[any](), `"any"`},
		{layout.JSON, reflect.TypeFor[*time.Time](), `["*","time.Time"]`},
		{layout.JSON, reflect.TypeFor[struct{ time.Time }](), `"struct { time.Time }"`},
	} {
		require.Equal(t, is.want, is.of.Shape(is.t))
	}
}

// A shape is bounded, whatever the type.
func TestShapesAreBounded(t *testing.T) {
	wide := make([]reflect.StructField, 2000)
	for i := range wide {
		wide[i] = reflect.StructField{Name: fmt.Sprint("Field", i), Type: reflect.TypeFor[int]()}
	}
	for _, of := range []layout.Of{layout.Go, layout.JSON, layout.CBOR} {
		for _, is := range []reflect.Type{reflect.TypeFor[l8](), reflect.TypeFor[list](), reflect.StructOf(wide), reflect.TypeFor[*reflect.Method]()} {
			text := of.Shape(is)
			require.Less(t, len(text), 9<<10)
			require.True(t, json.Valid([]byte(text)))
			require.Empty(t, value(text).Differences(value(text)))
		}
	}
	require.Contains(t, layout.JSON.Shape(reflect.TypeFor[l8]()), `"D"`, "what is near the top is there")
	long := strings.Repeat("é", 30<<10)
	is := layout.NewText(long, long)
	require.Less(t, len(is.String()), 40<<10)
	require.Equal(t, is, layout.Parse(is.String()))
	other := layout.NewText(long+"x", long)
	require.Len(t, is.Differences(other), 1)
	require.Less(t, len(is.Differences(other)[0]), 400)
}

type (
	codec[V any]       struct{}
	codecOf[V, By any] struct{ by By }
	renamed[V any]     struct{ inner }
)

func TestNamesOfCodecs(t *testing.T) {
	type local struct{}
	const here = "github.com/cowstore/cowstore/cow/internal/layout_test."
	require.Equal(t, here+"codec[V]", layout.CodecName[int](codec[int]{}))
	require.Equal(t, here+"codec[V]", layout.CodecName[local](codec[local]{}))
	require.Equal(t, "*"+here+"codec[V]", layout.CodecName[*inner](&codec[*inner]{}))
	require.Equal(t, here+"inner", layout.CodecName[int](inner{}))
	require.NotEqual(t, layout.CodecName[int](codecOf[int, codec[int]]{}), layout.CodecName[int](codecOf[int, renamed[int]]{}))
}

func value(shape string) layout.Text { return layout.NewText("int64", "JSON of "+shape) }

func TestDifferences(t *testing.T) {
	for _, is := range []struct {
		was, is string
		want    []string
	}{
		{`{"A":"int"}`, `{"A":"int","B":"int"}`, nil},
		{`{"A":"int"}`, `{"A":["*","int"]}`, nil},
		{`{"A":["*","int"]}`, `{"A":"int"}`, []string{`value.A: ["*","int"], now int`}},
		{`{"A":"int","B c":["[]",{"X":"int"}]}`, `{"B c":["[]",{}]}`, []string{`value.A: int, now gone`, `value."B c"[].X: int, now gone`}},
		{`["map","int","string"]`, `["map","string","int"]`, []string{`value{key}: int, now string`, `value{}: string, now int`}},
		{`["[2]","int"]`, `["[3]","int"]`, []string{`value: ["[2]","int"], now ["[3]","int"]`}},
		{`["fields",["A","int"],["B","int"]]`, `["fields",["B","int"],["A","int"]]`, []string{`value: ["fields",["A","int"],["B","int"]], now ["fields",["B","int"],["A","int"]]`}},
		{`{"A":"…"}`, `{"A":"int"}`, nil},
		{`"…"`, `{"A":"int"}`, nil},
		{`{"A":"int"}`, `"int"`, []string{`value: {"A":"int"}, now int`}},
		{`{}`, `["map","string","int"]`, []string{`value: {}, now ["map","string","int"]`}},
	} {
		require.Equal(t, is.want, value(is.was).Differences(value(is.is)), is.was)
	}
	require.Equal(t, []string{"key: int64, now string", `value: mine of x of y, now mine of x of z`},
		layout.NewText("int64", "mine of x of y").Differences(layout.NewText("string", "mine of x of z")))
}

func FuzzDifferences(f *testing.F) {
	f.Add(`key int64, value JSON of {"A":"int"}`, `key string, value JSON of ["[]","int"]`)
	f.Add(`key int64, value JSON of []`, `key int64, value JSON of [[]]`)
	f.Add(`key int64, value JSON of [[],1]`, `key int64, value JSON of [[],2]`)
	f.Add(`key int64, value JSON of ["*",1]`, `key int64, value JSON of ["map"]`)
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := layout.Parse(a), layout.Parse(b)
		require.Empty(t, x.Differences(x))
		for _, d := range x.Differences(y) {
			require.NotEmpty(t, d)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(layout.Record{"a": "x", "": "y"}.Encode())
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := layout.Decode(b)
		if err != nil {
			return
		}
		again, err := layout.Decode(r.Encode())
		require.NoError(t, err)
		require.Equal(t, r, again)
	})
}
