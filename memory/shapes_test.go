package memory_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
	. "github.com/cowstore/cowstore/snapshot/snapshottest"
)

// refused is the error of a Place for a value that err refuses, and says why it may.
func refused(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, value.ErrCycle), errors.Is(err, value.ErrUnsupported):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// maxBytes is more than any of the graphs takes, as long as all of it is kept once.
const maxBytes = 16 << 10

// inMemory is a Memory of anything: pointers, and the values themselves. Handles are
// taken where they are frozen as such.
func inMemory(typ reflect.Type) []Place {
	space := memory.New(memory.Options{NoText: true, MaxBytes: maxBytes}).Space("a", "b")
	put := func(v any) error {
		frozen, err := value.FreezeHandles(v)
		if err == nil {
			_, err = space.Put("k", frozen)
		}
		return refused(err)
	}
	get := func() any {
		v, _ := space.Get("k")
		return v.Any()
	}
	return []Place{{
		Type: typ,
		Put:  func(v reflect.Value) error { return put(v.Interface()) },
		Get:  func() reflect.Value { return reflect.ValueOf(get()) },
	}, {
		Type:   typ,
		Inside: true,
		Put:    func(v reflect.Value) error { return put(v.Elem().Interface()) },
		Get: func() reflect.Value {
			p := reflect.New(typ)
			if v := get(); v != nil {
				p.Elem().Set(reflect.ValueOf(v))
			}
			return p
		},
	}}
}

// as is a Memory that is read by type.
func as[T any]() Place {
	space := memory.New(memory.Options{}).Space()
	return Place{
		Type: reflect.TypeFor[T](),
		Put:  func(v reflect.Value) error { return refused(errOf(space.Put("k", v.Interface()))) },
		Get: func() reflect.Value {
			v, _ := space.Get("k")
			got, err := memory.As[*T](v)
			if err != nil {
				panic(err)
			}
			return reflect.ValueOf(got)
		},
	}
}

func TestValuesKeepTheirShape(t *testing.T) {
	n := 40_000
	if testing.Short() || raceEnabled {
		n = 1_500
	}
	var places []Place
	for _, typ := range Types() {
		places = append(places, inMemory(typ)...)
	}
	places = append(places, as[Entity](), as[Buffer](), as[Matrix](), as[Queue](), as[Doc](), as[Std](), as[Object](),
		as[Node[any]](), as[Ring[Leaf]](), as[Table[int]](), as[Deep[Base]](), as[Heap[any]](), as[Box[error]](), as[Twin[int]]())
	Run(t, places, n)
}
