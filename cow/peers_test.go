package cow_test

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// What users of go-memdb, StateDB, BuntDB, immutable and tidwall/btree rely on: a comment says of which.

// shelf is a table with an order by key, and one by value.
func shelf(t *testing.T) (*cow.Table[string, int], *cow.Index[string, int, string], *cow.Index[string, int, int]) {
	s := cow.New[string](cow.Options[int]{})
	byValue, err := cow.NewIndex(s, "value", cow.Row[string, int].Value, cow.IndexOptions[string]{})
	require.NoError(t, err)
	return s, cow.NewOrder(s, "key"), byValue
}

func edit(t *testing.T, s *cow.Table[string, int], f func(e *cow.Editor[string, int])) {
	t.Helper()
	require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error { f(e); return nil }))
}

// All five: a lower bound, and the one from above, at, before, between and after keys of which
// some begin with others, of no text and of zero bytes.
func TestBoundsAtTheEdgesOfTexts(t *testing.T) {
	s, byKey, _ := shelf(t)
	all := []string{"", "\x00", "\x00\x00", "\x00a", "a", "a\x00", "a\x00b", "aa", "ab", "aba", "b", "\xfe\xff", "\xff", "\xff\xff"}
	for n := 0; n <= len(all); n++ { // every second key, then all of the first n
		for _, some := range [][]string{all[:n], all[n:]} {
			edit(t, s, func(e *cow.Editor[string, int]) {
				e.Clear()
				for i, key := range some {
					e.Set(key, i)
				}
			})
			in := byKey.In(s.Load())
			for _, at := range append(slices.Clone(all), "\x00\x01", "a\x01", "az", "c", "\xff\xff\xff") {
				from, found := slices.BinarySearch(some, at)
				above := from
				if found {
					above++
				}
				for name, part := range map[string]struct {
					got  cow.Range[string, int, string]
					want []string
				}{
					"From": {in.From(at), some[from:]}, "To": {in.To(at), some[:from]},
					"Above": {in.Above(at), some[above:]}, "Through": {in.Through(at), some[:above]}, "Equal": {in.Equal(at), some[from:above]},
				} {
					require.Equal(t, len(part.want), part.got.Len(), "%s(%q) of %q", name, at, some)
					if len(part.want) > 0 {
						key, _, _ := part.got.First()
						last, _, _ := part.got.Reverse().First()
						require.Equal(t, []string{part.want[0], part.want[len(part.want)-1]}, []string{key, last}, "%s(%q) of %q", name, at, some)
					}
				}
			}
		}
	}
}

// immutable, tidwall/btree: an order of any size, made in any way, has the same entries, and the
// n-th is the n-th.
func TestOrdersOfEverySize(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 1025} {
		want, rows := make([]string, n), map[string]int{}
		for i := range want {
			want[i] = fmt.Sprintf("%04d", i)
			rows[want[i]] = i
		}
		shuffled, down := slices.Clone(want), slices.Sorted(slices.Values(want))
		r.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		slices.Reverse(down)
		one := func(keys []string) func(e *cow.Editor[string, int]) error {
			return func(e *cow.Editor[string, int]) error {
				for _, key := range keys {
					require.NoError(t, e.Insert(key, rows[key]))
				}
				return nil
			}
		}
		for name, fill := range map[string]func(e *cow.Editor[string, int]) error{
			"up": one(want), "down": one(down), "shuffled": one(shuffled),
			"at once": func(e *cow.Editor[string, int]) error { e.SetAll(maps.All(rows)); return nil },
		} {
			s, byKey, byValue := shelf(t)
			require.NoError(t, s.Update(fill))
			for _, x := range []*cow.Index[string, int, string]{byKey, cow.NewOrder(s, "late")} {
				in := x.In(s.Load())
				require.True(t, n == in.Len() && slices.Equal(want, keysOf(in)) && slices.Equal(down, keysOf(in.Reverse())), "%d %s", n, name)
			}
			require.True(t, slices.Equal(want, keysOf(byValue.In(s.Load()))), "%d %s", n, name)
		}
	}
}

// tidwall/btree, immutable, StateDB: entries go one by one, from an end or the middle, until
// there is none, and come back.
func TestRowsGoOneByOneAndComeBack(t *testing.T) {
	const n = 300
	for name, next := range map[string]func(left int) int{
		"first": func(int) int { return 0 }, "last": func(left int) int { return left - 1 }, "middle": func(left int) int { return left / 2 },
	} {
		t.Run(name, func(t *testing.T) {
			s, byKey, byValue := shelf(t)
			for range 2 {
				var left []string
				edit(t, s, func(e *cow.Editor[string, int]) {
					for i := range n {
						left = append(left, fmt.Sprintf("%03d", i))
						e.Set(left[i], i)
					}
				})
				for len(left) > 0 {
					i := next(len(left))
					edit(t, s, func(e *cow.Editor[string, int]) {
						key, row, ok := byKey.During(e).Skip(i).TakeFirst()
						require.True(t, ok)
						require.Equal(t, left[i], key)
						require.Equal(t, key, row.Key())
					})
					left = slices.Delete(left, i, i+1)
					require.True(t, slices.Equal(left, keysOf(byKey.In(s.Load()))))
					require.True(t, slices.Equal(left, keysOf(byValue.In(s.Load()))))
				}
			}
		})
	}
}

// tidwall/btree: what is popped from both ends comes in order, ties in the order of their keys.
func TestAQueueIsDrainedFromBothEnds(t *testing.T) {
	s, _, byValue := shelf(t)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 200 {
		s.Set(fmt.Sprint(i), r.IntN(20))
	}
	want := keysOf(byValue.In(s.Load()))
	var low, high []string
	for len(low)+len(high) < len(want) {
		edit(t, s, func(e *cow.Editor[string, int]) {
			_, row, ok := byValue.During(e).TakeFirst()
			require.True(t, ok)
			low = append(low, row.Key())
			_, row, ok = byValue.During(e).Reverse().TakeFirst()
			require.True(t, ok)
			high = append(high, row.Key())
		})
	}
	slices.Reverse(high)
	require.Equal(t, want, append(low, high...))
}

// go-memdb: an iteration in a transaction sees what was there when it began, whatever is
// written meanwhile. BuntDB refuses that, and tidwall/btree has verbs of its own for it.
func TestARangeIsIteratedWhileItsRowsChange(t *testing.T) {
	for name, write := range map[string]func(e *cow.Editor[string, int], key string, v int){
		"delete": func(e *cow.Editor[string, int], key string, _ int) { e.Delete(key) },
		"move":   func(e *cow.Editor[string, int], key string, v int) { e.Set(key, 1000-v) },
		"insert": func(e *cow.Editor[string, int], key string, v int) { e.Set(key+"x", v) },
		"clear":  func(e *cow.Editor[string, int], _ string, _ int) { e.Clear() },
	} {
		for _, reverse := range []bool{false, true} {
			s, _, byValue := shelf(t)
			for i := range 100 {
				s.Set(fmt.Sprint(i), i/3)
			}
			was := s.Load()
			edit(t, s, func(e *cow.Editor[string, int]) {
				in := byValue.During(e).From(5).Through(25)
				if reverse {
					in = in.Reverse()
				}
				want := keysOf(in)
				var got []string
				for v, row := range in.All() {
					got = append(got, row.Key())
					require.Equal(t, v, row.Value())
					write(e, row.Key(), v)
				}
				require.Equal(t, want, got, name)
				require.Equal(t, want, keysOf(in), name)
				require.Equal(t, e.Len(), byValue.During(e).Len(), name)
			})
			require.Equal(t, 100, byValue.In(was).Len())
			require.Equal(t, s.Len(), byValue.In(s.Load()).Len())
		}
	}
}

// All five: an iterator goes on in its version, several beside each other, and a sequence can be
// iterated again.
func TestAnIterationGoesOnInItsVersion(t *testing.T) {
	s, byKey, byValue := shelf(t)
	for i := range 200 {
		s.Set(fmt.Sprintf("%03d", i), 199-i)
	}
	up, down := byKey.In(s.Load()).All(), byValue.In(s.Load()).All()
	nextUp, stop := iter.Pull2(up)
	defer stop()
	nextDown, stop := iter.Pull2(down)
	defer stop()
	for i := range 200 {
		if i == 50 {
			_, err := s.Clear()
			require.NoError(t, err)
		}
		s.Set(fmt.Sprintf("%03d", i+1), -1)
		key, row, ok := nextUp()
		require.True(t, ok)
		require.Equal(t, i, 199-row.Value())
		v, row, ok := nextDown()
		require.True(t, ok)
		require.Equal(t, i, v)
		require.Equal(t, fmt.Sprintf("%03d", 199-i), row.Key())
		require.Equal(t, fmt.Sprintf("%03d", i), key)
	}
	for range 2 {
		require.Len(t, maps.Collect(up), 200)
	}
}

// go-memdb, immutable, tidwall/btree: of a thousand copies each is written to by itself, and
// their origin and the others stay as they are.
func TestAThousandCopies(t *testing.T) {
	s, byKey, byValue := shelf(t)
	edit(t, s, func(e *cow.Editor[string, int]) {
		for i := range 500 {
			e.Set(fmt.Sprintf("%03d", i), i)
		}
	})
	origin := s.DB().Load()
	copies := make([]*cow.Table[string, int], 1000)
	for i := range copies {
		copies[i] = s.Of(s.DB().Fork(origin))
		edit(t, copies[i], func(e *cow.Editor[string, int]) {
			e.Set("copy", -i)
			e.Delete(fmt.Sprintf("%03d", i%500))
			byValue.During(e).From(490).Delete()
		})
	}
	s.Clear()
	require.Equal(t, 500, byKey.In(s.In(origin)).Len())
	for i, c := range copies {
		least, _, _ := byValue.In(c.Load()).First()
		require.Equal(t, -i, least)
		want := map[bool]int{true: 490, false: 491}[i%500 < 490]
		require.Equal(t, []int{want, want}, []int{c.Len(), byKey.In(c.Load()).Len()})
		_, found := byKey.In(c.Load()).Get(fmt.Sprintf("%03d", i%500))
		require.False(t, found)
	}
}

// All five: a verb for what is not there changes nothing, makes no version and wakes nobody.
func TestVerbsForWhatIsNotThere(t *testing.T) {
	s, byKey, byValue := shelf(t)
	s.Set("a", 1)
	for name, verb := range map[string]func(e *cow.Editor[string, int]){
		"Delete":     func(e *cow.Editor[string, int]) { require.False(t, e.Delete("b")) },
		"DeleteIf":   func(e *cow.Editor[string, int]) { require.NoError(t, e.DeleteIf("b", 0)) },
		"DeleteIf 1": func(e *cow.Editor[string, int]) { require.ErrorIs(t, e.DeleteIf("b", 1), cow.ErrNotFound) },
		"Take":       func(e *cow.Editor[string, int]) { _, found := e.Take("b"); require.False(t, found) },
		"Modify":     func(e *cow.Editor[string, int]) { require.ErrorIs(t, e.Modify("b", uncalled), cow.ErrNotFound) },
		"SetIf":      func(e *cow.Editor[string, int]) { require.ErrorIs(t, e.SetIf("b", 1, 2), cow.ErrNotFound) },
		"Range":      func(e *cow.Editor[string, int]) { require.Zero(t, byKey.During(e).Above("a").Delete()) },
		"TakeFirst": func(e *cow.Editor[string, int]) {
			_, _, ok := byValue.During(e).Equal(2).TakeFirst()
			require.False(t, ok)
		},
		"prefix":   func(e *cow.Editor[string, int]) { require.Zero(t, byKey.During(e).Prefix("aa").Delete()) },
		"and back": func(e *cow.Editor[string, int]) { e.Set("b", 1); e.Delete("b") },
	} {
		seen := s.DB().Load()
		changed, stop := s.DB().Notify(seen)
		require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error { verb(e); return nil }), name)
		require.False(t, seen != s.DB().Load() || isClosed(changed), name)
		stop()
	}
}

// go-memdb, StateDB: the empty text is a key, an index key and a prefix like any other.
func TestTheEmptyText(t *testing.T) {
	s := cow.New[string](cow.Options[string]{})
	byText := mustIndex(cow.NewIndex(s, "text", cow.Row[string, string].Value, cow.IndexOptions[string]{}))
	byKey := cow.NewOrder(s, "key")
	on := []cow.Watched{s.OnKeys(""), byText.OnKeys(""), byKey.OnRange(byKey.In(nil).Through(""))}
	step := func(write func(), n int) {
		t.Helper()
		for _, w := range on {
			changed, stop := s.DB().Notify(s.DB().Load(), w)
			defer stop()
			defer func() { require.True(t, isClosed(changed)) }()
		}
		write()
		in := byKey.In(s.Load())
		for _, r := range []cow.Range[string, string, string]{in.Equal(""), in.Through(""), byText.In(s.Load()).Equal("")} {
			require.Equal(t, n, r.Len())
		}
		require.Equal(t, s.Len(), in.Prefix("").Len())
		require.Equal(t, s.Len(), in.From("").Len())
		_, _, ok := in.LongestPrefix("z")
		require.Equal(t, n == 1, ok && s.Has(""))
	}
	step(func() { s.Set("", "") }, 1)
	s.Set("a", "b")
	step(func() { s.Set("", "") }, 1)
	step(func() { s.Delete("") }, 0)
	step(func() { s.Set("", "") }, 1)
	step(func() { s.Clear() }, 0)
}

// go-memdb, StateDB: a channel is closed by the commit that concerns it, and neither by a write
// that is not committed nor by one that is aborted.
func TestChannelsOfATransaction(t *testing.T) {
	s, byKey, byValue := shelf(t)
	s.Set("ab", 1)
	s.Set("abc", 1)
	db, in := s.DB(), byKey.In(nil)
	watched := map[string]cow.Watched{
		"ab": s.OnKeys("ab"), "abd": s.OnKeys("abd"), "ab…": byKey.OnRange(in.Prefix("ab")), "abc…": byKey.OnRange(in.Prefix("abc")),
		"a": byKey.OnKeys("a"), "1": byValue.OnKeys(1), "2": byValue.OnKeys(2), "all": s.OnAll(),
	}
	for _, step := range []struct {
		write func(e *cow.Editor[string, int])
		wakes string
	}{
		{func(e *cow.Editor[string, int]) { e.Set("ab", 1) }, "1 ab ab… all"},      // an equal value
		{func(e *cow.Editor[string, int]) { e.Set("ab", 2) }, "1 2 ab ab… all"},    // moved
		{func(e *cow.Editor[string, int]) { e.Set("abd", 3) }, "abd ab… all"},      // a sibling
		{func(e *cow.Editor[string, int]) { e.Set("a", 3) }, "a all"},              // above the prefix
		{func(e *cow.Editor[string, int]) { e.Set("abcd", 3) }, "abc… ab… all"},    // below it
		{func(e *cow.Editor[string, int]) { e.Set("b", 2) }, "2 all"},              // beside it
		{func(e *cow.Editor[string, int]) { e.Delete("ab") }, "2 ab ab… all"},      // gone
		{func(e *cow.Editor[string, int]) { e.Delete("ab") }, ""},                  // not there
		{func(e *cow.Editor[string, int]) { e.Clear() }, "1 2 a abc… abd ab… all"}, // the rest
		{func(e *cow.Editor[string, int]) { e.Clear() }, ""},                       // nothing
		{func(e *cow.Editor[string, int]) { e.Set("ab", 1); e.Delete("ab") }, ""},  // in passing
		{func(e *cow.Editor[string, int]) { e.Set("ab", 2) }, "2 ab ab… all"},      // back
	} {
		channels := map[string]<-chan struct{}{}
		for name, w := range watched {
			changed, stop := db.Notify(db.Load(), w)
			defer stop()
			channels[name] = changed
		}
		closed := func() string {
			names := slices.DeleteFunc(slices.Sorted(maps.Keys(channels)), func(name string) bool { return !isClosed(channels[name]) })
			return strings.Join(names, " ")
		}
		tx := db.Begin()
		step.write(s.Edit(tx))
		require.Empty(t, closed(), "before the commit")
		tx.Abort()
		require.Empty(t, closed(), "aborted")
		tx = db.Begin()
		step.write(s.Edit(tx))
		require.NoError(t, tx.Commit())
		require.Equal(t, step.wakes, closed())
	}
}

// StateDB: whoever asks from time to time for what was written since sees each row once, as it
// is by then, and nothing of a row that came and went.
func TestRowsInTheOrderOfTheirWrites(t *testing.T) {
	s, _, _ := shelf(t)
	byWrite := mustIndex(cow.NewIndex(s, "write", cow.Row[string, int].Revision, cow.IndexOptions[string]{}))
	r := rand.New(rand.NewPCG(7, 8))
	copied, since := map[string]int{}, uint64(0)
	for range 100 {
		seen := s.DB().Load()
		s.Set("passing", 0)
		s.Delete("passing")
		written := map[string]int{}
		for range r.IntN(20) {
			key := fmt.Sprint(r.IntN(30))
			s.Set(key, r.Int())
			written[key], _ = s.Get(key)
		}
		got := map[string]int{}
		for revision, row := range byWrite.In(s.Load()).Above(since).All() {
			require.Greater(t, revision, since)
			require.NotContains(t, got, row.Key())
			got[row.Key()], since = row.Value(), revision
		}
		require.Equal(t, written, got)
		maps.Copy(copied, got)
		differ := map[string]int{}
		for c := range s.Load().Diff(s.In(seen)) {
			differ[c.Key], _ = c.New()
		}
		require.Equal(t, written, differ)
	}
	require.Equal(t, copied, maps.Collect(s.All()))
}

// All five: long random sequences of transactions, with verbs of ranges, committed or aborted,
// against a sorted slice; and every copy that was kept is what it was.
func TestRandomTransactionsAgainstASortedSlice(t *testing.T) {
	rounds := 600
	if testing.Short() {
		rounds = 150
	}
	type entry struct {
		key string
		v   int
	}
	byEntry := func(a, b entry) int { return cmp.Or(cmp.Compare(a.v, b.v), strings.Compare(a.key, b.key)) }
	s, byKey, byValue := shelf(t)
	r := rand.New(rand.NewPCG(9, 10))
	check := func(keys cow.Range[string, int, string], values cow.Range[string, int, int], model []entry) {
		t.Helper()
		var got []entry
		for key, row := range keys.All() {
			got = append(got, entry{key, row.Value()})
		}
		require.True(t, slices.Equal(model, got))
		sorted := slices.SortedFunc(slices.Values(model), byEntry)
		got = nil
		for v, row := range values.All() {
			got = append(got, entry{row.Key(), v})
		}
		require.True(t, slices.Equal(sorted, got))
	}
	var model []entry
	past := map[*cow.Snapshot][]entry{}
	no := errors.New("no")
	for round := range rounds {
		next, was := slices.Clone(model), model
		drop := func(f func(e entry) bool) (n int) {
			n = len(next)
			next = slices.DeleteFunc(next, f)
			return n - len(next)
		}
		err := s.Update(func(e *cow.Editor[string, int]) error {
			for range 1 + r.IntN(12) {
				key, v := fmt.Sprintf("%02d", r.IntN(90)), r.IntN(12)
				to := fmt.Sprintf("%02d", r.IntN(90))
				at, found := slices.BinarySearchFunc(next, key, func(e entry, key string) int { return strings.Compare(e.key, key) })
				switch r.IntN(16) {
				default:
					e.Set(key, v)
					if found {
						next[at].v = v
					} else {
						next = slices.Insert(next, at, entry{key, v})
					}
				case 0, 1, 2:
					require.Equal(t, found, e.Delete(key))
					drop(func(e entry) bool { return e.key == key })
				case 3:
					require.Equal(t, drop(func(e entry) bool { return e.key >= key && e.key < to }), byKey.During(e).From(key).To(to).Delete())
				case 4:
					require.Equal(t, drop(func(e entry) bool { return e.v == v }), byValue.During(e).Equal(v).Delete())
				case 5:
					first, _, ok := byKey.During(e).Above(key).TakeFirst()
					require.Equal(t, ok, drop(func(e entry) bool { return ok && e.key == first }) == 1)
				case 6:
					if v, row, ok := byValue.During(e).Reverse().TakeFirst(); ok {
						require.Equal(t, slices.MaxFunc(next, byEntry), entry{row.Key(), v})
						drop(func(e entry) bool { return e.key == row.Key() })
					}
				case 7:
					n := min(r.IntN(5), len(next))
					require.Equal(t, n, byKey.During(e).Limit(n).Delete())
					next = next[n:]
				case 8:
					require.Equal(t, drop(func(e entry) bool { return e.v < v/8 }), byValue.During(e).To(v/8).Delete())
				}
			}
			check(byKey.During(e), byValue.During(e), next)
			if r.IntN(4) == 0 {
				return no
			}
			return nil
		})
		if model = next; err != nil {
			require.ErrorIs(t, err, no)
			model = was
		}
		check(byKey.In(s.Load()), byValue.In(s.Load()), model)
		if round%10 == 0 {
			past[s.DB().Load()] = slices.Clone(model)
		}
	}
	for then, model := range past {
		check(byKey.In(s.In(then)), byValue.In(s.In(then)), model)
	}
}
