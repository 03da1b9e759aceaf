package snapshot

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// A world is a map under random edits beside plain Go maps that get the same.
// It keeps old snapshots and edits them too, so that there are several
// lineages, and holds all of them against their models again and again.
//
// Every write stores a number that was never used before. So two models agree on
// a key exactly if the same write made it, which is what diffs go by.
type world[K comparable, V any] struct {
	t      testing.TB
	choose func(n int) int // a decision between 0 and n-1
	keys   []K
	values values[V]
	serial int
	snaps  []moment[K, V]
}

// values are how numbers become values of V.
type values[V any] struct {
	of    func(n int) V
	in    func(v V) int // the number of v; -1 if its parts disagree
	spoil func(v *V)    // writes to all that v reaches
}

// An item is what the model has under a key.
type item struct {
	n   int
	rev uint64
}

// A moment is a sealed map and its model.
type moment[K comparable, V any] struct {
	m     *Map[K, V]
	model map[K]item
}

const moments = 24 // kept at a time

func newWorld[K comparable, V any](t testing.TB, m *Map[K, V], keys []K, v values[V], choose func(int) int) *world[K, V] {
	return &world[K, V]{t: t, choose: choose, keys: keys, values: v,
		snaps: []moment[K, V]{{m, map[K]item{}}}}
}

func (w *world[K, V]) key() K { return w.keys[w.choose(len(w.keys))] }

// next returns a fresh number.
func (w *world[K, V]) next() int { w.serial++; return w.serial }

func (w *world[K, V]) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf(format, args...)
}

// gone is given a value once a map has taken it, or that a map has given. What
// is done to it must not matter.
func (w *world[K, V]) gone(v V) { w.values.spoil(&v) }

// step derives a new version of some snapshot and checks it.
func (w *world[K, V]) step() {
	at := len(w.snaps) - 1
	if w.choose(4) == 0 {
		at = w.choose(len(w.snaps)) // a fork
	}
	base := w.snaps[at]
	var e *Editor[K, V]
	version := base.m.Version() + 1
	if w.choose(3) == 0 {
		version += uint64(w.choose(1000))
		e = base.m.editAt(version)
	} else {
		e = base.m.Edit()
	}
	if e.Version() != version {
		w.fail("Editor at version %d, want %d", e.Version(), version)
	}
	model := maps.Clone(base.model)
	ops := 1 + w.choose(4)
	if w.choose(5) == 0 {
		ops = w.choose(200)
	}
	deletes := w.choose(3) // how much this batch likes to delete
	for range ops {
		w.edit(e, model, deletes)
	}
	if w.choose(8) == 0 {
		// What is given up must leave no trace.
		e.discard()
		w.check(base)
		return
	}
	m := e.Seal()
	if maps.Equal(model, base.model) {
		if m != base.m {
			w.fail("an edit without a change made a new map")
		}
		return
	}
	if m.Version() != version {
		w.fail("version %d, want %d", m.Version(), version)
	}
	sealed := moment[K, V]{m, model}
	checkTree(w.t, m)
	w.check(sealed)
	w.diff(base, sealed)
	w.diff(sealed, base)
	if len(w.snaps) < moments {
		w.snaps = append(w.snaps, sealed)
		return
	}
	// The oldest go, but some stay for long.
	i := w.choose(len(w.snaps))
	w.snaps = append(slices.Delete(w.snaps, i, i+1), sealed)
}

// edit does one random verb to e and to its model.
func (w *world[K, V]) edit(e *Editor[K, V], model map[K]item, deletes int) {
	key := w.key()
	old, found := model[key]
	version := e.Version()
	revision := func(key K) uint64 {
		rev := e.Revision(key)
		if rev == Pending {
			return version
		}
		return rev
	}
	set := func(n int) { model[key] = item{n, version} }
	put := func(f func(v V)) {
		n := w.next()
		v := w.values.of(n)
		f(v)
		w.gone(v)
		model[key] = item{n, version}
	}
	verb := w.choose(22 + 4*deletes)
	switch verb {
	default: // 0 to 3, and the more the batch likes it
		if e.Delete(key) != found {
			w.fail("Delete(%v) of %v", key, found)
		}
		delete(model, key)
	case 4, 5, 6, 7:
		put(func(v V) { e.Set(key, v) })
	case 8:
		pairs := map[K]V{}
		for range w.choose(20) {
			k := w.key()
			n := w.next()
			pairs[k], model[k] = w.values.of(n), item{n, version}
		}
		if w.choose(2) == 0 {
			e.SetAll(maps.All(pairs))
		} else {
			batches := []*Batch[K, V]{e.batch(0), e.batch(len(pairs))}
			for k, v := range pairs {
				if err := batches[w.choose(2)].Add(k, v, 0); err != nil {
					w.fail("Add(%v): %v", k, err)
				}
			}
			e.putBatches(batches, inTurn)
		}
		for _, v := range pairs {
			w.gone(v)
		}
	case 9:
		n := w.next()
		v := w.values.of(n)
		err := e.Insert(key, v)
		w.gone(v)
		w.expect(err, key, found, ErrExists)
		if !found {
			set(n)
		}
	case 10, 11:
		rev := old.rev
		if w.choose(2) == 0 {
			rev += uint64(w.choose(3))
		}
		conflict := rev != old.rev || rev == version // what this edit wrote is pending
		if verb == 10 {
			n := w.next()
			v := w.values.of(n)
			err := e.SetIf(key, rev, v)
			w.gone(v)
			w.expect(err, key, conflict, ErrRevision)
			if !conflict {
				set(n)
			}
			break
		}
		w.expect(e.check(key, rev), key, conflict, ErrRevision)
		w.expect(e.DeleteIf(key, rev), key, conflict, ErrRevision)
		if !conflict {
			delete(model, key)
		}
	case 12, 13:
		w.update(e, model, key, verb == 12)
	case 14:
		v, ok := e.Take(key)
		if ok != found || ok && w.values.in(v) != old.n {
			w.fail("Take(%v) = %v, %v; want %+v", key, v, ok, old)
		}
		w.gone(v)
		delete(model, key)
	case 15:
		if w.choose(40) == 0 {
			e.Clear()
			clear(model)
		}
	case 16:
		put(func(v V) { e.put(key, must(e.isolate(key, v))) })
	case 17:
		// One value cloned ahead, by any map of the lineage, and put twice.
		n := w.next()
		v := w.values.of(n)
		i := must(w.snaps[w.choose(len(w.snaps))].m.isolate(key, v))
		w.gone(v)
		e.put(key, i)
		set(n)
		key = w.key()
		e.put(key, i)
		model[key] = item{w.serial, version}
		if w.choose(2) == 0 {
			// Now they must not be one.
			n := w.next()
			err := e.Modify(key, func(v *V) error { *v = w.values.of(n); return nil })
			w.expect(err, key, false, nil)
			set(n)
		}
	case 18:
		// Of what is written meanwhile, All shows nothing.
		before := maps.Clone(model)
		left := 1 + w.choose(30)
		seen := 0
		for k, v := range e.All() {
			if w.values.in(v) != before[k].n {
				w.fail("All during writes: %v = %v, want %+v", k, v, before[k])
			}
			w.gone(v)
			seen++
			if left--; left >= 0 && deletes == 0 {
				w.edit(e, model, 1)
			}
			if left == -100 {
				return
			}
		}
		if seen != len(before) {
			w.fail("All during writes: %d keys, want %d", seen, len(before))
		}
	case 19:
		// The same key many times over.
		for range 3 {
			put(func(v V) { e.Set(key, v) })
			if w.choose(2) == 0 {
				e.Delete(key)
				delete(model, key)
			}
		}
	case 20, 21:
		w.read(key, model, e.Get, e.Has, revision, e.Len)
	}
	old, found = model[key]
	if e.Len() != len(model) || e.Has(key) != found || revision(key) != old.rev {
		w.fail("verb %d of %v: %d keys, %v at %d; want %d, %+v",
			verb, key, e.Len(), e.Has(key), e.Revision(key), len(model), old)
	}
	w.net(e)
}

// net compares what e says it has changed so far with what comparing the maps
// finds, at first each time and later now and then.
func (w *world[K, V]) net(e *Editor[K, V]) {
	w.t.Helper()
	if e.writes == many && w.choose(8) > 0 {
		return
	}
	want := make(map[K]Change[K, V])
	for c := range e.cur.Diff(e.base) {
		want[c.Key] = c
	}
	got := e.net(nil)
	for _, c := range got {
		is := want[c.Key]
		if c.old != is.old || c.new != is.new || c.Kind != is.Kind || c.cfg != is.cfg {
			w.fail("Net: %v %v, want %v", c.Key, c.Kind, is.Kind)
		}
	}
	if len(got) != len(want) {
		w.fail("Net: %d changes, want %d", len(got), len(want))
	}
}

var errGiveUp = errors.New("give up")

// update does a random Modify or Upsert.
func (w *world[K, V]) update(e *Editor[K, V], model map[K]item, key K, modify bool) {
	old, found := model[key]
	n := w.next()
	var kept *V
	end := w.choose(8)
	f := func(v *V, ok bool) error {
		kept = v
		if ok != found || ok && w.values.in(*v) != old.n {
			w.fail("update of %v got %v, %v; want %+v", key, *v, ok, old)
		}
		w.values.spoil(v)
		*v = w.values.of(n)
		switch end {
		case 0:
			return errGiveUp
		case 1:
			panic(errGiveUp)
		case 2:
			e.Set(key, *v)
			model[key] = item{n, e.Version()}
		case 3:
			if e.Delete(key) {
				delete(model, key)
			} else {
				end = -1 // nothing happened
			}
		case 4, 5:
			// Other keys are of no matter.
			for range 3 {
				if k := w.key(); k != key {
					e.Delete(k)
					delete(model, k)
				}
			}
		}
		return nil
	}
	err := func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				if r != errGiveUp {
					panic(r)
				}
				err = errGiveUp
			}
		}()
		if modify {
			return e.Modify(key, func(v *V) error { return f(v, true) })
		}
		return e.Upsert(key, f)
	}()
	if kept != nil {
		w.values.spoil(kept)
	}
	switch {
	case modify && !found:
		w.expect(err, key, true, ErrNotFound)
	case end == 0 || end == 1:
		if err != errGiveUp {
			w.fail("update returned %v", err)
		}
	case end == 2 || end == 3:
		w.expect(err, key, true, ErrModified)
	default:
		w.expect(err, key, false, nil)
		model[key] = item{n, e.Version()}
	}
}

// expect fails unless err is a KeyError of want for key, if there must be one.
func (w *world[K, V]) expect(err error, key K, must bool, want error) {
	w.t.Helper()
	var k *KeyError[K]
	if must != (err != nil) || must && (!errors.Is(err, want) || !errors.As(err, &k) || k.Key != key) {
		w.fail("key %v: error %v, want %v: %v", key, err, want, must)
	}
}

// read compares what the methods say about key with the model.
func (w *world[K, V]) read(key K, model map[K]item, get func(K) (V, bool), has func(K) bool, rev func(K) uint64, n func() int) {
	w.t.Helper()
	want, found := model[key]
	v, ok := get(key)
	if ok != found || ok && w.values.in(v) != want.n || has(key) != found || rev(key) != want.rev || n() != len(model) {
		w.fail("key %v: %v, %v at revision %d of %d keys; want %v, %v of %d",
			key, v, ok, rev(key), n(), found, want, len(model))
	}
	if ok {
		w.gone(v)
	}
}

// check compares all of a map with its model.
func (w *world[K, V]) check(s moment[K, V]) {
	w.t.Helper()
	n := 0
	for k, v := range s.m.Shared().All() {
		n++
		if want, ok := s.model[k]; !ok || w.values.in(v) != want.n {
			w.fail("key %v: %v, want %v, %+v", k, v, ok, want)
		}
	}
	if n != len(s.model) || n != s.m.Len() {
		w.fail("%d keys and Len %d, want %d", n, s.m.Len(), len(s.model))
	}
	for range min(20, n) {
		w.read(w.key(), s.model, s.m.Get, s.m.Has, s.m.Revision, s.m.Len)
	}
}

// checkAll compares every snapshot that is kept with its model, and some pairs
// of them, of one lineage and of different ones, with each other.
func (w *world[K, V]) checkAll() {
	w.t.Helper()
	for _, s := range w.snaps {
		w.check(s)
	}
	checkTree(w.t, w.snaps[w.choose(len(w.snaps))].m)
	for range 4 {
		a, b := w.snaps[w.choose(len(w.snaps))], w.snaps[w.choose(len(w.snaps))]
		w.diff(a, b)
		w.diff(b, a)
	}
}

// diff compares the diff of two maps with that of their models.
func (w *world[K, V]) diff(older, newer moment[K, V]) {
	w.t.Helper()
	is := func(get func() (V, bool), want item, there bool) {
		v, ok := get()
		if ok != there || ok && w.values.in(v) != want.n {
			w.fail("change: %v, %v; want %+v, %v", v, ok, want, there)
		}
		if ok {
			w.gone(v)
		}
	}
	seen := map[K]bool{}
	for c := range newer.m.Diff(older.m) {
		if seen[c.Key] {
			w.fail("key %v: two changes", c.Key)
		}
		seen[c.Key] = true
		o, wasThere := older.model[c.Key]
		n, isThere := newer.model[c.Key]
		var want Kind
		switch {
		case !wasThere && isThere:
			want = Added
		case wasThere && !isThere:
			want = Removed
		case wasThere && isThere && o != n:
			want = Changed
		}
		if c.Kind != want {
			w.fail("key %v: %v, want %v", c.Key, c.Kind, want)
		}
		is(c.Old, o, wasThere)
		is(c.New, n, isThere)
	}
	want := 0
	for k, n := range newer.model {
		if o, ok := older.model[k]; !ok || o != n {
			want++
		}
	}
	for k := range older.model {
		if _, ok := newer.model[k]; !ok {
			want++
		}
	}
	if len(seen) != want {
		w.fail("%d changes, want %d", len(seen), want)
	}
}

// Sorts of values.

var intValues = values[int]{
	of:    func(n int) int { return n },
	in:    func(v int) int { return v },
	spoil: func(v *int) { *v = -1 },
}

var stringValues = values[string]{
	of:    func(n int) string { return fmt.Sprint("value", n) },
	in:    func(v string) (n int) { fmt.Sscanf(v, "value%d", &n); return n },
	spoil: func(v *string) { *v = "" },
}

// A parcel has its number in every place it reaches.
type parcel struct {
	n    int
	text []byte
	next *parcel
	all  map[string][]int
	any  any
}

func newParcel(n int) *parcel {
	return &parcel{n: n, text: []byte{byte(n), byte(n >> 8)}, next: &parcel{n: n}, all: map[string][]int{"n": {n}}, any: []any{n}}
}

func (p *parcel) number() int {
	if p == nil || p.next == nil || len(p.text) != 2 || len(p.all["n"]) != 1 ||
		p.next.n != p.n || p.text[0] != byte(p.n) || p.text[1] != byte(p.n>>8) ||
		p.all["n"][0] != p.n || p.any.([]any)[0] != p.n {
		return -1
	}
	return p.n
}

func (p *parcel) spoil() {
	if p == nil || p.next == nil {
		return
	}
	p.n, p.next.n, p.text[0], p.text[1], p.all["n"][0], p.any.([]any)[0] = -1, -1, 255, 255, -1, -1
	clear(p.all)
	p.all["x"] = nil
}

var pointerValues = values[*parcel]{
	of:    newParcel,
	in:    func(v *parcel) int { return v.number() },
	spoil: func(v **parcel) { (*v).spoil() },
}

var structValues = values[parcel]{
	of:    func(n int) parcel { return *newParcel(n) },
	in:    func(v parcel) int { return v.number() },
	spoil: func(v *parcel) { v.spoil() },
}

var byteValues = values[[]byte]{
	of:    func(n int) []byte { return fmt.Append(nil, n) },
	in:    func(v []byte) (n int) { fmt.Sscan(string(v), &n); return n },
	spoil: func(v *[]byte) { clear((*v)[:cap(*v)]) },
}

// Sorts of keys.

type (
	label     string
	composite struct {
		n    int32
		s    string
		half bool
	}
)

// stringKeys returns n strings of every length that is stored in its own way,
// among them ones that differ in a single byte, anywhere.
func stringKeys[S ~string](n int) []S {
	keys := []S{"", "a", "b"}
	for l := 2; len(keys) < n; l++ {
		if l > 140 {
			l = 2
		}
		b := []byte(strings.Repeat("k", l))
		copy(b, fmt.Sprint(len(keys)))
		at := len(keys) * 7 % l
		b[at] ^= 0x80
		keys = append(keys, S(b))
		// And twins.
		b[l-1] ^= 1
		keys = append(keys, S(b))
		b[l-1] ^= 1
		b[l/2] ^= 1
		keys = append(keys, S(b))
	}
	for _, l := range []int{7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 39, 40, 41, maxInline - 1, maxInline, maxInline + 1, 1000} {
		keys = append(keys, S(strings.Repeat("x", l)))
	}
	return distinct(keys)
}

func keysOf[K comparable](n int, f func(i int) K) []K {
	keys := make([]K, n)
	for i := range keys {
		keys[i] = f(i)
	}
	return distinct(keys)
}

func distinct[K comparable](keys []K) []K {
	seen := map[K]bool{}
	return slices.DeleteFunc(keys, func(k K) bool { was := seen[k]; seen[k] = true; return was })
}

func anyKey(i int) any {
	switch i % 8 {
	case 0:
		return i
	case 1:
		return fmt.Sprint("s", i)
	case 2:
		return int64(i - 2) // equal in number, not in type
	case 3:
		return composite{n: int32(i)}
	case 4:
		return [2]any{i, "x"}
	case 5:
		return float64(i)
	case 6:
		return i%16 == 6
	}
	return label(fmt.Sprint("s", i-6))
}

// run makes steps steps and checks all that is kept every few of them.
func (w *world[K, V]) run(steps, every int) {
	for i := range steps {
		w.step()
		if i%every == 0 {
			w.checkAll()
		}
	}
	w.checkAll()
}

// modelSeed is fixed in short mode, and new every time otherwise.
func modelSeed(t testing.TB) uint64 {
	seed := uint64(1)
	if !testing.Short() {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	return seed
}

// A model is one run of a world, whatever its types.
type model struct {
	name string
	run  func(t *testing.T, seed uint64, steps, every int, bad func(uint64) uint64)
}

func modelOf[K comparable, V any](name string, keys []K, v values[V]) model {
	return model{name, func(t *testing.T, seed uint64, steps, every int, bad func(uint64) uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		m := New[K](Options[V]{})
		if bad != nil {
			spoilHash(m, bad)
		}
		newWorld(t, m, keys, v, r.IntN).run(steps, every)
	}}
}

func models(n int) []model {
	return []model{
		modelOf("string/int", stringKeys[string](n), intValues),
		modelOf("string/pointer", stringKeys[string](n), pointerValues),
		modelOf("label/struct", stringKeys[label](n), structValues),
		modelOf("int/string", keysOf(n, func(i int) int { return i }), stringValues),
		modelOf("int/pointer", keysOf(n, func(i int) int { return i << 16 }), pointerValues),
		modelOf("struct/int", keysOf(n, func(i int) composite { return composite{int32(i / 2), "s", i%2 == 0} }), intValues),
		modelOf("interface/struct", keysOf(n, anyKey), structValues),
		modelOf("array/bytes", keysOf(n, func(i int) [3]int32 { return [3]int32{0, int32(i), 1} }), byteValues),
	}
}

// Each step edits one of the snapshots kept and checks its tree, all of its
// content and its diffs. Every so many steps all snapshots are checked, and a
// sample of trees and of diffs between any two of them.
func TestModel(t *testing.T) {
	seed := modelSeed(t)
	steps, every := 200, 5
	if raceEnabled {
		steps, every = 60, 10
	}
	for _, m := range models(400) {
		t.Run(m.name, func(t *testing.T) { m.run(t, seed, steps, every, nil) })
	}
}

func TestModelWithBadHashes(t *testing.T) {
	seed := modelSeed(t)
	steps, every := 60, 6
	if raceEnabled {
		steps, every = 12, 6
	}
	for name, bad := range badHashes {
		// Enough for bags, and every string there is.
		ms := models(150)
		for _, m := range []model{ms[0], ms[1], ms[3], ms[6]} {
			t.Run(name+"/"+m.name, func(t *testing.T) { m.run(t, seed, steps, every, bad) })
		}
	}
}

// A larger map, with directories below directories.
func TestModelOfManyKeys(t *testing.T) {
	seed := modelSeed(t)
	n, steps := 20_000, 150
	if raceEnabled {
		n, steps = 5_000, 30
	}
	keys := keysOf(n, func(i int) int { return i })
	r := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t, New[int](Options[int]{}), keys, intValues, r.IntN)
	e := w.snaps[0].m.Edit()
	for _, k := range keys {
		n := w.next()
		e.Set(k, n)
		w.snaps[0].model[k] = item{n, 1}
	}
	w.snaps[0].m = e.Seal()
	w.run(steps, steps/3)
}

// A collector that runs all the time must find every page, bag and entry that
// is in use by the pointers into them, and nothing that is not.
func TestModelUnderConstantCollection(t *testing.T) {
	seed := modelSeed(t)
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	steps := 20
	if raceEnabled {
		steps = 6
	}
	t.Run("all", func(t *testing.T) {
		for i, m := range models(300) {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				m.run(t, seed+uint64(i), steps, 2, nil)
				m.run(t, seed+uint64(i), steps, 2, badHashes["8bits"])
				m.run(t, seed+uint64(i), steps/2, 2, badHashes["top6"])
			})
		}
	})
}

// editAt returns a new Editor that makes the given version of m.
func (m *Map[K, V]) editAt(version uint64) *Editor[K, V] { return new(Editor[K, V]).editAt(m, version) }
