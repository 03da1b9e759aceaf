package cowtest

import (
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/cowstore/cowstore/cow"
	. "github.com/cowstore/cowstore/snapshot/snapshottest"
)

// inStores is a table of a DB of its own and one of another, of pointers.
func inStores[V any]() []Place {
	s := cow.New[string](cow.Options[*V]{})
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[*V]{})
	typ := reflect.TypeFor[V]()
	return []Place{{
		Type: typ,
		Put:  func(v reflect.Value) error { s.Set("k", v.Interface().(*V)); return nil },
		Get:  func() reflect.Value { v, _ := s.Get("k"); return reflect.ValueOf(v) },
	}, {
		Type: typ,
		Put: func(v reflect.Value) error {
			return db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set("k", v.Interface().(*V)); return nil })
		},
		Get: func() reflect.Value { v, _ := table.In(db.Load()).Get("k"); return reflect.ValueOf(v) },
	}}
}

// inAny is the same of anything.
func inAny(typ reflect.Type) []Place {
	s := cow.New[string](cow.Options[any]{})
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[any]{})
	return []Place{{
		Type: typ,
		Put:  func(v reflect.Value) error { s.Set("k", v.Interface()); return nil },
		Get:  func() reflect.Value { v, _ := s.Get("k"); return reflect.ValueOf(v) },
	}, {
		Type:   typ,
		Inside: true,
		Put: func(v reflect.Value) error {
			return db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set("k", v.Elem().Interface()); return nil })
		},
		Get: func() reflect.Value {
			v, _ := table.In(db.Load()).Get("k")
			p := reflect.New(typ)
			p.Elem().Set(reflect.ValueOf(v))
			return p
		},
	}}
}

// allPlaces are those of all types in an any, and of some by type, each of which
// makes stores to be compiled.
func allPlaces() []Place {
	all := slices.Concat(inStores[Tree](), inStores[Doc](), inStores[Own](), inStores[Network[any]]())
	for _, typ := range Types() {
		all = append(all, inAny(typ)...)
	}
	return all
}

func TestGraphsKeepTheirShape(t *testing.T) {
	n := 40_000
	if testing.Short() || raceEnabled {
		n = 2_000
	}
	Run(t, allPlaces(), n)
}

// Every goroutine writes graphs of its own and spoils whatever it reads, its own
// and those of all others.
func TestGraphsKeepTheirShapeWhileOthersWrite(t *testing.T) {
	s := cow.New[string](cow.Options[any]{})
	keys, types := [4]string{"a", "b", "c", "d"}, Types()
	rounds := 2 * len(types)
	if testing.Short() {
		rounds = len(types) / 2
	}
	var wg sync.WaitGroup
	for g, own := range keys {
		wg.Go(func() {
			for i := range rounds {
				typ, seed := types[(i*7+g)%len(types)], uint64(i)
				v := Graph(typ, seed)
				s.Set(own, v.Interface())
				Spoil(v)
				_, _ = s.Modify(keys[(g+1)%4], func(v *any) error { return nil }) // cloned once more by whoever comes by
				for range 2 {
					for _, k := range keys {
						got, ok := s.Get(k)
						if !ok {
							continue
						}
						if k == own {
							if _, err := Compare(Graph(typ, seed), reflect.ValueOf(got)); err != nil {
								t.Errorf("%s, seed %d: %v", typ, seed, err)
							}
						}
						Spoil(reflect.ValueOf(got))
					}
				}
			}
		})
	}
	wg.Wait()
}

// raceEnabled says that the race detector is on.
var raceEnabled = func() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}()
