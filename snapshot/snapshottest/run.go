package snapshottest

import (
	"reflect"
	"testing"
)

// A Place is where one value of a type can be put, and taken from any number of
// times. What is given and taken is a pointer to it.
type Place struct {
	Type reflect.Type
	Put  func(v reflect.Value)
	Get  func() reflect.Value

	// Inside says that Put and Get copy the value itself out of the variable that
	// they are given, so that pointers to that lead to a variable of their own.
	Inside bool
}

// Run puts n graphs into the places, one after the other, and takes each out
// again. It fails the test unless what comes out has the shape of what went in,
// nobody's memory is anybody else's, and three in ten of the graphs had interior
// pointers, slices that overlap, or cycles.
func Run(t testing.TB, places []Place, n int) {
	t.Helper()
	special := 0
	for i := range n {
		p, seed := places[i%len(places)], uint64(i/len(places))
		f, err := p.Try(seed)
		if err != nil {
			t.Fatalf("%s, seed %d: %v", p.Type, seed, err)
		}
		if f.Interior || f.Cycle {
			special++
		}
	}
	t.Logf("%d graphs, %d with interior pointers, overlaps or cycles", n, special)
	if special*10 < n*3 {
		t.Errorf("only %d graphs of %d have interior pointers, overlaps or cycles", special, n)
	}
}

// Try puts one graph into the place and takes it out again.
func (p Place) Try(seed uint64) (Features, error) {
	put, want := p.graph(seed), p.graph(seed)
	p.Put(put)
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
