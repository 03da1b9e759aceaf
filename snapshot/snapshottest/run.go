package snapshottest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

// ErrRefused is wrapped by the error of a Place that may refuse a graph, and did so:
// nothing was put.
var ErrRefused = errors.New("refused")

// A Place is where one value of a type can be put, and taken from any number of
// times. What is given and taken is a pointer to it.
type Place struct {
	Type reflect.Type
	Put  func(v reflect.Value) error
	Get  func() reflect.Value

	// Inside says that Put and Get copy the value itself out of the variable that
	// they are given, so that pointers to that lead to a variable of their own.
	Inside bool
}

// Run puts n graphs into the places, one after the other, and takes each out
// again. It fails the test unless what comes out has the shape of what went in,
// nobody's memory is anybody else's, no more than four in ten were refused, and three
// in ten of the others had interior pointers, slices that overlap, or cycles.
func Run(t testing.TB, places []Place, n int) {
	t.Helper()
	special, refused := 0, 0
	for i := range n {
		p, seed := places[i%len(places)], uint64(i/len(places))
		f, err := p.Try(seed)
		switch {
		case errors.Is(err, ErrRefused):
			refused++
		case err != nil:
			t.Fatalf("%s, seed %d: %v", p.Type, seed, err)
		case f.Interior || f.Cycle:
			special++
		}
	}
	put := n - refused
	t.Logf("%d graphs and %d refused, %d with interior pointers, overlaps or cycles", put, refused, special)
	if refused*10 > n*4 {
		t.Errorf("%d graphs of %d were refused", refused, n)
	}
	if special*10 < put*3 {
		t.Errorf("only %d graphs of %d have interior pointers, overlaps or cycles", special, put)
	}
}

// Try puts one graph into the place and takes it out again.
func (p Place) Try(seed uint64) (Features, error) {
	put, want := p.graph(seed), p.graph(seed)
	if err := p.Put(put); err != nil {
		return Features{}, fmt.Errorf("put: %w", err)
	}
	got := p.Get()
	f, err := Compare(put, got)
	if err != nil {
		return f, err
	}
	Spoil(put)
	Spoil(got)
	_, err = Compare(want, p.Get())
	return f, err
}

func (p Place) graph(seed uint64) reflect.Value {
	v := Graph(p.Type, seed)
	if p.Inside {
		v = copyOf(v.Elem()).Addr()
	}
	return v
}
