package cow_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// An entry is one index key and the key of its row; serial is the write.
type entry[I any] struct {
	index  I
	key    string
	serial int
}

// A rule is an index and all there is to know about it without one.
type rule[I any] struct {
	x       *cow.Index[string, good, I]
	unique  bool
	compare func(a, b I) int
	keys    func(key string, v good, add func(I))
	any     func(r *rand.Rand) I
	same    func(a, b I) bool
	begins  func(i, p I) bool // nil: no Prefix
}

// A checker is a rule without its type parameter in the way.
type checker interface {
	name() string
	violated(model map[string]good) bool
	in(t *testing.T, r *rand.Rand, m *snapshot.Map[string, good], model map[string]good)
	during(t *testing.T, r *rand.Rand, e *cow.Editor[string, good], model map[string]good)
}

func (u *rule[I]) name() string { return u.x.Name() }

// entries is what the index of these rows must hold, in order.
func (u *rule[I]) entries(model map[string]good) []entry[I] {
	var all []entry[I]
	for key, v := range model {
		var mine []I
		u.keys(key, v, func(i I) {
			if !slices.ContainsFunc(mine, func(j I) bool { return u.compare(i, j) == 0 }) {
				mine = append(mine, i)
			}
		})
		for _, i := range mine {
			all = append(all, entry[I]{i, key, v.Serial})
		}
	}
	slices.SortFunc(all, u.order)
	return all
}

func (u *rule[I]) order(a, b entry[I]) int {
	return cmp.Or(u.compare(a.index, b.index), strings.Compare(a.key, b.key))
}

func (u *rule[I]) violated(model map[string]good) bool {
	all := u.entries(model)
	for i := 1; u.unique && i < len(all); i++ {
		if u.compare(all[i-1].index, all[i].index) == 0 {
			return true
		}
	}
	return false
}

func (u *rule[I]) in(t *testing.T, r *rand.Rand, m *snapshot.Map[string, good], model map[string]good) {
	u.check(t, r, u.x.In(m), model)
	for _, row := range u.x.In(m).All() {
		if same, _ := m.Row(row.Key()); same != row {
			require.FailNow(t, "a row that is not the map's", "index %s, key %s", u.name(), row.Key())
		}
	}
}

func (u *rule[I]) during(t *testing.T, r *rand.Rand, e *cow.Editor[string, good], model map[string]good) {
	u.check(t, r, u.x.During(e), model)
}

// check holds a whole index against the model, and random ranges of it.
func (u *rule[I]) check(t *testing.T, r *rand.Rand, got cow.Range[string, good, I], model map[string]good) {
	t.Helper()
	all := u.entries(model)
	u.equal(t, r, "", got, all)
	for range 8 {
		part, want, path := got, all, ""
		for range 1 + r.IntN(3) {
			var keep func(e entry[I]) bool
			i := u.any(r)
			key := fmt.Sprintf("key%02d", r.IntN(70))
			if len(all) > 0 && r.IntN(2) == 0 {
				e := all[r.IntN(len(all))] // one that is there
				i, key = e.index, e.key
			}
			at := entry[I]{index: i, key: key}
			switch r.IntN(12) {
			case 7:
				part, path = part.Above(i), path+fmt.Sprintf(".Above(%v)", i)
				keep = func(e entry[I]) bool { return u.compare(e.index, i) > 0 }
			case 8:
				part, path = part.Through(i), path+fmt.Sprintf(".Through(%v)", i)
				keep = func(e entry[I]) bool { return u.compare(e.index, i) <= 0 }
			case 9:
				n := r.IntN(len(want) + 3)
				part, path = part.Skip(n), path+fmt.Sprintf(".Skip(%d)", n)
				want = want[min(n, len(want)):]
				continue
			case 10:
				n := r.IntN(len(want) + 3)
				part, path = part.Limit(n), path+fmt.Sprintf(".Limit(%d)", n)
				want = want[:min(n, len(want))]
				continue
			case 11:
				cursor, err := part.Cursor(i, key)
				require.NoError(t, err)
				part, err = part.Resume(cursor)
				require.NoError(t, err)
				path += fmt.Sprintf(".Resume(%v, %s)", i, key)
				down := strings.Count(path, "Reverse")%2 == 1
				keep = func(e entry[I]) bool { return u.order(e, at) > 0 && !down || u.order(e, at) < 0 && down }
			case 0:
				part, path = part.From(i), path+fmt.Sprintf(".From(%v)", i)
				keep = func(e entry[I]) bool { return u.compare(e.index, i) >= 0 }
			case 1:
				part, path = part.To(i), path+fmt.Sprintf(".To(%v)", i)
				keep = func(e entry[I]) bool { return u.compare(e.index, i) < 0 }
			case 2:
				part, path = part.Equal(i), path+fmt.Sprintf(".Equal(%v)", i)
				keep = func(e entry[I]) bool { return u.compare(e.index, i) == 0 }
			case 3:
				part, path = part.After(i, key), path+fmt.Sprintf(".After(%v, %s)", i, key)
				keep = func(e entry[I]) bool { return u.order(e, at) > 0 }
			case 4:
				part, path = part.Before(i, key), path+fmt.Sprintf(".Before(%v, %s)", i, key)
				keep = func(e entry[I]) bool { return u.order(e, at) < 0 }
			case 5:
				part, path = part.Reverse(), path+".Reverse()"
				want = slices.Clone(want)
				slices.Reverse(want)
				continue
			default:
				if u.begins == nil {
					continue
				}
				part, path = part.Prefix(i), path+fmt.Sprintf(".Prefix(%v)", i)
				keep = func(e entry[I]) bool { return u.begins(e.index, i) }
			}
			was := want
			want = nil
			for _, e := range was {
				if keep(e) {
					want = append(want, e)
				}
			}
		}
		u.equal(t, r, path, part, want)
	}
}

// equal requires that a range is exactly want.
func (u *rule[I]) equal(t *testing.T, r *rand.Rand, path string, got cow.Range[string, good, I], want []entry[I]) {
	t.Helper()
	wrong := func(format string, args ...any) {
		t.Helper()
		require.FailNow(t, u.name()+path+": "+fmt.Sprintf(format, args...))
	}
	is := func(i I, row cow.Row[string, good], e entry[I]) bool {
		return u.same(i, e.index) && row.Key() == e.key && row.Shared().Serial == e.serial
	}
	if got.Len() != len(want) {
		wrong("Len %d, want %d", got.Len(), len(want))
	}
	n := 0
	for i, row := range got.All() {
		if n == len(want) || !is(i, row, want[n]) {
			wrong("entry %d of %d is %v of %v", n, len(want), i, row.Key())
		}
		n++
	}
	if n != len(want) {
		wrong("All ends after %d, want %d", n, len(want))
	}
	i, row, ok := got.First()
	if ok != (len(want) > 0) || ok && !is(i, row, want[0]) {
		wrong("First is %v, %v", i, ok)
	}
	stop := r.IntN(20)
	n = 0
	for range got.All() {
		if n++; n > stop {
			break
		}
	}
	if n != min(stop+1, len(want)) {
		wrong("a loop with a break after %d ran %d times", stop+1, n)
	}
	for range 4 {
		i := u.any(r)
		if len(want) > 0 && r.IntN(2) == 0 {
			i = want[r.IntN(len(want))].index
		}
		row, ok := got.Get(i)
		at := slices.IndexFunc(want, func(e entry[I]) bool { return u.compare(e.index, i) == 0 })
		if ok != (at >= 0) || ok && (row.Key() != want[at].key || row.Shared().Serial != want[at].serial) {
			wrong("Get(%v) found %v, want it at %d", i, ok, at)
		}
		if u.begins == nil {
			continue
		}
		// Of those that i begins with the longest are the last in order, and one who has it
		// is the first.
		key, row, ok := got.LongestPrefix(i)
		at = -1
		for n, e := range want {
			if u.begins(i, e.index) && (at < 0 || u.compare(e.index, want[at].index) > 0 || u.compare(e.index, want[at].index) == 0 && u.order(e, want[at]) < 0) {
				at = n
			}
		}
		if ok != (at >= 0) || ok && !is(key, row, want[at]) {
			wrong("LongestPrefix(%v) is %v, %v, want it at %d", i, key, ok, at)
		}
	}
}

func alike[I comparable](a, b I) bool { return a == b }

var oddFloats = []float64{math.NaN(), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1)}

// codes has letters that are hard on Prefix.
const codes = "\x00a\x80\xc3\xfe\xff"

func randomCode(r *rand.Rand) []byte {
	b := make([]byte, r.IntN(4))
	for i := range b {
		b[i] = codes[r.IntN(len(codes))]
	}
	return b
}

// A model is an indexed table under random updates, beside plain maps.
type model struct {
	t        *testing.T
	r        *rand.Rand
	of       *cow.Table[string, good]
	update   func(f func(e *cow.Editor[string, good]) error) error
	load     func() *snapshot.Map[string, good]
	at       func(version uint64) *snapshot.Map[string, good]
	fork     func(version uint64) *model // the current one or one to be had by At
	replace  func(rows map[string]good)  // nil: there is none
	version  func() uint64
	serial   *int
	rules    []checker
	now      map[string]good
	versions map[uint64]map[string]good // those that At knows
	old      []moment
}

// A moment is a snapshot and what it must hold forever.
type moment struct {
	m    *snapshot.Map[string, good]
	rows map[string]good
}

func storeModel(t *testing.T, s cow.One[string, good]) *model {
	return &model{t: t, of: s.Table, update: s.Update, load: s.Load,
		version: func() uint64 { return s.Load().Version() },
		at: func(version uint64) *snapshot.Map[string, good] {
			m, err := s.At(version)
			require.NoError(t, err)
			return m
		},
		fork: func(version uint64) *model {
			m, err := s.At(version)
			require.NoError(t, err)
			return storeModel(t, s.Fork(m))
		},
		replace: func(rows map[string]good) { s.Replace(maps.All(rows)) },
	}
}

func tableModel(t *testing.T, db *cow.DB, table *cow.Table[string, good]) *model {
	return &model{t: t, of: table,
		update: func(f func(e *cow.Editor[string, good]) error) error {
			return db.Update(func(tx *cow.Tx) error { return f(table.Edit(tx)) })
		},
		load:    func() *snapshot.Map[string, good] { return table.In(db.Load()) },
		version: func() uint64 { return db.Load().Version() },
		at: func(version uint64) *snapshot.Map[string, good] {
			s, err := db.At(version)
			require.NoError(t, err)
			return table.In(s)
		},
		fork: func(version uint64) *model {
			s, err := db.At(version)
			require.NoError(t, err)
			return tableModel(t, db.Fork(s), table)
		},
	}
}

func (w *model) begin(r *rand.Rand, serial *int, rows map[string]good) {
	w.r, w.serial, w.now = r, serial, rows
	w.versions = map[uint64]map[string]good{w.version(): rows}
}

// index makes the indexes: some when the model begins, some later.
func (w *model) index(late bool) {
	t := w.t
	if !late {
		w.rules = append(w.rules, &rule[string]{x: cow.NewOrder(w.of, "order"), compare: strings.Compare, same: alike[string],
			keys: func(key string, v good, add func(string)) { add(key) },
			any:  func(r *rand.Rand) string { return fmt.Sprintf("key%02d", r.IntN(70)) },
		})
		name := func(v good, add func(string)) {
			if v.Name != "" {
				add(v.Name)
			}
		}
		x, err := cow.NewMultiIndex(w.of, "name", ofValue[string](name), cow.IndexOptions[string]{Unique: true})
		require.NoError(t, err)
		w.rules = append(w.rules, &rule[string]{x: x, unique: true, compare: strings.Compare, same: alike[string],
			keys:   func(_ string, v good, add func(string)) { name(v, add) },
			any:    func(r *rand.Rand) string { return fmt.Sprintf("n%d", r.IntN(120))[:1+r.IntN(2)] },
			begins: strings.HasPrefix,
		})
		weight := func(v good, add func(float64)) {
			for _, f := range v.Weight {
				add(f)
			}
		}
		y, err := cow.NewMultiIndex(w.of, "weight", ofValue[string](weight), cow.IndexOptions[string]{Unique: true})
		require.NoError(t, err)
		w.rules = append(w.rules, &rule[float64]{x: y, unique: true, compare: cmp.Compare[float64],
			keys: func(_ string, v good, add func(float64)) { weight(v, add) },
			same: func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) },
			any: func(r *rand.Rand) float64 {
				if r.IntN(2) == 0 {
					return oddFloats[r.IntN(len(oddFloats))]
				}
				return float64(r.IntN(2000))
			},
		})
		return
	}
	tags := func(v good, add func(int)) {
		for _, tag := range v.Tags {
			add(tag)
		}
	}
	x, err := cow.NewMultiIndex(w.of, "tags", ofValue[string](tags), cow.IndexOptions[string]{})
	require.NoError(t, err)
	w.rules = append(w.rules, &rule[int]{x: x, compare: cmp.Compare[int], same: alike[int],
		keys: func(_ string, v good, add func(int)) { tags(v, add) },
		any:  func(r *rand.Rand) int { return r.IntN(14) - 1 },
	})
	code := func(v good, add func([]byte)) {
		if v.Code != nil {
			add(v.Code)
		}
	}
	y, err := cow.NewIndexFunc(w.of, "code", willing(ofValue[string](code)), cow.IndexOptions[string]{}, bytes.Compare)
	require.NoError(t, err)
	w.rules = append(w.rules, &rule[[]byte]{x: y, compare: bytes.Compare, same: bytes.Equal, any: randomCode,
		keys:   func(_ string, v good, add func([]byte)) { code(v, add) },
		begins: bytes.HasPrefix,
	})
	v, err := cow.NewIndexFunc(w.of, "folded", willing(ofValue[string](func(v good, add func(string)) { add(shout(v)) })), cow.IndexOptions[string]{},
		func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	require.NoError(t, err)
	w.rules = append(w.rules, &rule[string]{x: v, same: alike[string],
		compare: func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) },
		keys:    func(_ string, v good, add func(string)) { add(shout(v)) },
		any: func(r *rand.Rand) string {
			n := []string{"N", "n", "\u1e9e"}[r.IntN(3)] + fmt.Sprintf("%d.%dz", r.IntN(100), r.IntN(100))
			return n[:r.IntN(len(n)+1)]
		},
		begins: func(i, p string) bool { return strings.HasPrefix(strings.ToLower(i), strings.ToLower(p)) },
	})
	u, err := cow.NewIndex(w.of, "ranked", func(r cow.Row[string, good]) ranked { return ranked{r.Shared().Rank, r.Shared().Name} }, cow.IndexOptions[string]{})
	require.NoError(t, err)
	w.rules = append(w.rules, &rule[ranked]{x: u, same: alike[ranked],
		compare: func(a, b ranked) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), strings.Compare(a.Name, b.Name)) },
		keys:    func(_ string, v good, add func(ranked)) { add(ranked{v.Rank, v.Name}) },
		any: func(r *rand.Rand) ranked {
			return ranked{r.IntN(22) - 1, fmt.Sprintf("n%d", r.IntN(120))[:r.IntN(3)]}
		},
		begins: func(i, p ranked) bool { return i.Rank == p.Rank && strings.HasPrefix(i.Name, p.Name) },
	})
	down := func(a, b int) int { return 7 * (b - a) }
	rank := func(v good, add func(int)) { add(v.Rank) }
	z, err := cow.NewIndexFunc(w.of, "rank", willing(ofValue[string](rank)), cow.IndexOptions[string]{}, down)
	require.NoError(t, err)
	w.rules = append(w.rules, &rule[int]{x: z, compare: down, same: alike[int],
		keys: func(_ string, v good, add func(int)) { rank(v, add) },
		any:  func(r *rand.Rand) int { return r.IntN(22) - 1 },
	})
}

// A ranked is an index key of two fields.
type ranked struct {
	Rank int
	Name string
}

// shout is the name of v in capital letters, every other time.
func shout(v good) string {
	if v.Serial%2 == 0 {
		return v.Name
	}
	return strings.ToUpper(v.Name)
}

// good returns a value like no other. Most of its unique keys are its own.
func (w *model) good() good {
	*w.serial++
	r, n := w.r, *w.serial
	v := good{Serial: n, Name: fmt.Sprintf("n%d.%d", r.IntN(100), n), Rank: r.IntN(20)}
	switch r.IntN(16) {
	case 0:
		v.Name = fmt.Sprintf("n%d", r.IntN(100))
	case 1:
		v.Name = ""
	}
	switch r.IntN(16) {
	case 0:
		v.Weight = []float64{oddFloats[r.IntN(len(oddFloats))]}
	case 1:
		v.Weight = []float64{0, float64(n), math.Copysign(0, -1)}
	case 2: // none
	default:
		v.Weight = []float64{float64(n)}
	}
	for range r.IntN(4) {
		v.Tags = append(v.Tags, r.IntN(12))
	}
	if r.IntN(4) > 0 {
		v.Code = randomCode(r)
	}
	return v
}

func (w *model) key() string { return fmt.Sprintf("key%02d", w.r.IntN(60)) }

// edit does one random thing to e and to rows.
func (w *model) edit(e *cow.Editor[string, good], rows map[string]good) {
	key := w.key()
	switch n := w.r.IntN(200); {
	case n < 80:
		v := w.good()
		e.Set(key, v)
		rows[key] = v
	case n < 120:
		require.Equal(w.t, rows[key].Serial > 0, e.Delete(key))
		delete(rows, key)
	case n < 140:
		v, _ := e.Take(key)
		require.Equal(w.t, rows[key].Serial, v.Serial)
		delete(rows, key)
	case n < 180:
		was, found := rows[key]
		if err := e.Modify(key, func(v *good) error {
			n := w.good()
			v.Serial, v.Tags, v.Rank = n.Serial, n.Tags, n.Rank // the same name
			v.Code = append(v.Code, 'a')
			return nil
		}); found {
			require.NoError(w.t, err)
			n, _ := e.Get(key)
			was.Serial, was.Tags, was.Rank, was.Code = n.Serial, n.Tags, n.Rank, n.Code
			rows[key] = was
		} else {
			require.ErrorIs(w.t, err, cow.ErrNotFound)
		}
	case n < 190: // swap
		other := w.key()
		a, found := rows[key]
		b, too := rows[other]
		if found && too && key != other {
			*w.serial += 2
			a.Serial, b.Serial = *w.serial-1, *w.serial
			e.Set(key, b)
			e.Set(other, a)
			rows[key], rows[other] = b, a
		}
	case n < 194 || len(rows) > 500 && n < 198:
		e.Clear()
		clear(rows)
	case n == 199 && len(rows) < 500 && w.r.IntN(3) == 0:
		many := w.many()
		e.SetAll(maps.All(many))
		maps.Copy(rows, many)
	}
}

func (w *model) many() map[string]good {
	many := make(map[string]good)
	for range 1500 + w.r.IntN(1500) {
		v := w.good()
		if w.r.IntN(50) > 0 { // or hardly any of these would be published
			v.Name, v.Weight = fmt.Sprintf("n%d.%d", w.r.IntN(100), v.Serial), nil
		}
		many[fmt.Sprintf("key%02d.%d", w.r.IntN(70), v.Serial)] = v
	}
	return many
}

func (w *model) violated(rows map[string]good) (names []string) {
	for _, u := range w.rules {
		if u.violated(rows) {
			names = append(names, u.name())
		}
	}
	return names
}

func (w *model) someRule() checker { return w.rules[w.r.IntN(len(w.rules))] }

// step does one random update and looks at what came of it.
func (w *model) step() {
	rows := maps.Clone(w.now)
	base := w.load()
	version := w.version()
	var err error
	failing := w.r.IntN(10) == 0
	if w.replace != nil && w.r.IntN(60) == 0 {
		rows = w.many()
		if w.r.IntN(3) > 0 {
			maps.DeleteFunc(rows, func(string, good) bool { return len(rows) > 40 })
		}
		if w.violated(rows) != nil {
			return // Replace has no error to tell it by
		}
		w.replace(rows)
		failing = false
	} else {
		err = w.update(func(e *cow.Editor[string, good]) error {
			n := 1 + w.r.IntN(6)
			if w.r.IntN(10) == 0 {
				n = w.r.IntN(60)
			}
			for range n {
				w.edit(e, rows)
				if w.r.IntN(6) == 0 {
					w.someRule().during(w.t, w.r, e, rows)
				}
			}
			if failing {
				return errTest
			}
			return nil
		})
	}
	switch names := w.violated(rows); {
	case failing:
		require.ErrorIs(w.t, err, errTest)
	case names != nil:
		require.ErrorIs(w.t, err, cow.ErrExists, "violated: %v", names)
		var ie *cow.IndexError
		require.True(w.t, errors.As(err, &ie))
		require.Contains(w.t, names, ie.Index)
	default:
		require.NoError(w.t, err)
	}
	if err != nil {
		require.Same(w.t, base, w.load())
		require.Equal(w.t, version, w.version())
	} else {
		w.now = rows
		if w.version() != version {
			w.versions[w.version()] = rows
		}
	}
	for _, u := range w.rules {
		if len(w.now) < 500 || w.r.IntN(len(w.rules)) == 0 {
			u.in(w.t, w.r, w.load(), w.now)
		}
	}
	if len(w.old) < 36 {
		w.old = append(w.old, moment{w.load(), w.now})
	} else {
		w.old[w.r.IntN(len(w.old))] = moment{w.load(), w.now}
	}
	old := w.old[w.r.IntN(len(w.old))]
	w.someRule().in(w.t, w.r, old.m, old.rows)
	w.outside(old)
}

// outside edits a map where no store sees it. There even unique indexes may have
// rows under one key.
func (w *model) outside(of moment) {
	rows := maps.Clone(of.rows)
	e := of.m.Edit()
	u := w.someRule()
	for range w.r.IntN(12) {
		w.edit(e, rows)
		if w.r.IntN(8) == 0 {
			u.during(w.t, w.r, e, rows)
		}
	}
	u.in(w.t, w.r, e.Seal(), rows)
}

func (w *model) run(steps int) {
	retained := w.versions
	for i := range steps {
		if i == steps/4 && len(w.rules) == 3 {
			w.index(true)
		}
		w.step()
		if len(retained) > 40 {
			delete(retained, slices.Min(slices.Collect(maps.Keys(retained))))
		}
		if i%5 == 0 {
			versions := slices.Sorted(maps.Keys(retained))
			version := versions[w.r.IntN(len(versions))]
			w.someRule().in(w.t, w.r, w.at(version), retained[version])
		}
	}
	for _, old := range w.old {
		for _, u := range w.rules {
			if len(old.rows) < 500 || w.r.IntN(len(w.rules)) == 0 {
				u.in(w.t, w.r, old.m, old.rows)
			}
		}
	}
}

func testIndexModel(t *testing.T, seed uint64, make func(t *testing.T) *model) {
	w := make(t)
	w.begin(rand.New(rand.NewPCG(seed, 0)), new(int), map[string]good{})
	w.index(false)
	steps := 100
	if raceEnabled || testing.Short() {
		steps = 24
	}
	for range 3 {
		w.run(steps)
		versions := slices.Sorted(maps.Keys(w.versions))
		for _, version := range []uint64{w.version(), versions[w.r.IntN(len(versions))]} {
			f := w.fork(version)
			f.begin(w.r, w.serial, w.versions[version])
			f.rules = w.rules
			before := w.load()
			f.runAlone(steps / 4)
			require.Same(t, before, w.load(), "a fork has changed what it came from")
		}
	}
}

// runAlone is run without a past.
func (w *model) runAlone(steps int) {
	for range steps {
		w.step()
	}
}

func TestIndexesAgreeWithTheirRows(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("alone", seed), func(t *testing.T) {
			testIndexModel(t, seed, func(t *testing.T) *model {
				s := cow.NewOne[string](cow.Options[good]{})
				s.Retain(cow.Retention{Versions: 60})
				return storeModel(t, s)
			})
		})
		t.Run(fmt.Sprint("Table", seed), func(t *testing.T) {
			testIndexModel(t, 100+seed, func(t *testing.T) *model {
				db := new(cow.DB)
				cow.NewTable[int](db, "another", cow.Options[[]int]{})
				db.Retain(cow.Retention{Versions: 60})
				return tableModel(t, db, cow.NewTable[string](db, "goods", cow.Options[good]{}))
			})
		})
	}
}
