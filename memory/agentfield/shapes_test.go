package agentfield_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/cowstore/cowstore/memory/value"
	. "github.com/cowstore/cowstore/snapshot/snapshottest"
)

// inBackend is a Backend, and what metadata of a vector is in one.
func inBackend(t *testing.T, typ reflect.Type) []Place {
	b := newBackend(nil)
	refused := func(err error) error {
		if errors.Is(err, value.ErrCycle) || errors.Is(err, value.ErrUnsupported) {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return err
	}
	return []Place{{
		Type: typ,
		Put:  func(v reflect.Value) error { return refused(b.Set(t.Context(), session, "s", "k", v.Interface())) },
		Get: func() reflect.Value {
			v, _, err := b.Get(t.Context(), session, "s", "k")
			if err != nil {
				t.Fatal(err)
			}
			return reflect.ValueOf(v)
		},
	}, {
		Type: typ,
		Put: func(v reflect.Value) error {
			return refused(b.SetVector(t.Context(), session, "s", "k", []float64{1}, map[string]any{"v": v.Interface()}))
		},
		Get: func() reflect.Value {
			_, metadata, _, err := b.GetVector(t.Context(), session, "s", "k")
			if err != nil {
				t.Fatal(err)
			}
			return reflect.ValueOf(metadata["v"])
		},
	}}
}

func TestValuesKeepTheirShape(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 500
	}
	var places []Place
	for _, typ := range Types() {
		places = append(places, inBackend(t, typ)...)
	}
	Run(t, places, n)
}
