package main_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cilium/statedb"
	"github.com/cilium/statedb/index"
	"github.com/hashicorp/go-memdb"
	"github.com/maypok86/otter/v2"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/btree"
	"github.com/tidwall/buntdb"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/snapshot/view"
)

// The pages of ../cow/coming-from have what users of other stores write beside what does the
// same in cowstore. Here each pair, a call of same or wakes, runs on equal data, and
// TestThePagesAreThisFile holds the pages against the pairs.

type user struct {
	Name, City, Mail string
	Age              int
	Tags             []string
}
type (
	place   struct{ City, Name string }
	userRow = cow.Row[string, user]
	options = cow.IndexOptions[string]
	editor  = cow.Editor[string, int]
)

type tagging struct {
	db    *cow.DB
	tags  *cow.Table[string, []string]
	views cow.Views[string, []string, view.Slice[string]] // key, value, view
	byTag *cow.Index[string, []string, string]            // key, value, index key
	old   *cow.Map[string, []string]                      // key, value; what Load returns
}

var citizens = map[string]user{
	"ada":  {"ada", "London", "ada@example.org", 36, []string{"math", "poetry"}},
	"adam": {"adam", "Paris", "", 36, nil},
	"bob":  {"bob", "London", "bob@example.org", 27, []string{"math"}},
	"eve":  {"eve", "Rome", "eve@example.org", 21, []string{"chess"}},
}

var years, zoe = map[string]int{"ada": 36, "adam": 36, "bob": 27, "eve": 21}, user{Name: "zoe", Age: 30}

func good[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func val[T any](v T, _ ...any) T                   { return v }
func second[A, T any](_ A, v T, _ ...any) T        { return v }
func third[A, B, T any](_ A, _ B, v T, _ ...any) T { return v }
func two[A, B any](a A, b B, _ ...any) []any       { return []any{a, b} }
func count[T any](all iter.Seq[T]) int             { return len(slices.Collect(all)) }
func ageOf(r userRow) int                          { return r.Shared().Age }
func ran(f func()) any                             { f(); return nil }

// names are those of rows, objects or keys, in order.
func names[A, B any](rows iter.Seq2[A, B]) []string {
	all := []string{}
	for a, b := range rows {
		if r, ok := any(b).(interface{ Key() string }); ok {
			all = append(all, r.Key())
		} else {
			all = append(all, any(a).(*user).Name)
		}
	}
	return all
}

func newDB[V any](rows map[string]V, age func(r cow.Row[string, V]) int) (*cow.DB, *cow.Table[string, V], *cow.Index[string, V, string], *cow.Index[string, V, int]) {
	db := new(cow.DB)
	t := cow.NewTable[string](db, "table", cow.Options[V]{Codec: cow.Versioned[V]{}})
	byName, byAge := cow.NewOrder(t, "name"), good(cow.NewIndex(t, "age", age, options{}))
	good(0, t.Replace(maps.All(rows)))
	return db, t, byName, byAge
}

func tagsOf(r userRow, add func(string)) {
	for _, tag := range r.Shared().Tags {
		add(tag)
	}
}

func mailOf(r userRow, add func(string)) {
	if mail := r.Shared().Mail; mail != "" {
		add(mail)
	}
}

func inA(r cow.Row[string, int], add func(int)) {
	if strings.HasPrefix(r.Key(), "a") {
		add(r.Shared())
	}
}

// indexed has the rows of a new index of a table of users.
func indexed[I any](x *cow.Index[string, user, I], err error) func(t *cow.Table[string, user]) []string {
	return func(t *cow.Table[string, user]) []string { return names(good(x, err).In(t.Load()).All()) }
}

// pairs returns a function that requires equal results, and then equal contents.
func pairs(t *testing.T, contents func() (was, is any)) func(theirs, ours any) {
	return func(theirs, ours any) {
		t.Helper()
		require.Equal(t, theirs, ours)
		was, is := contents()
		require.Equal(t, was, is)
	}
}

// watches returns a function that requires that both channels are closed when a user is set,
// and were not before.
// ended returns a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func watches(t *testing.T, set func(u user)) func(theirs, ours <-chan struct{}, name string, age int) {
	return func(theirs, ours <-chan struct{}, name string, age int) {
		t.Helper()
		set(user{Name: "other"})
		select {
		case <-theirs:
			t.Fatal("theirs is closed")
		case <-ours:
			t.Fatal("ours is closed")
		default:
			set(user{Name: name, Age: age})
		}
		<-theirs
		<-ours
	}
}

// unended is a memdb.StringFieldIndex without the zero at the end, which LongestPrefix needs.
type unended struct{ *memdb.StringFieldIndex }

func (u unended) FromObject(obj any) (bool, []byte, error) {
	ok, b, err := u.StringFieldIndex.FromObject(obj)
	return ok, bytes.TrimSuffix(b, []byte{0}), err
}

func newMem(name string, x memdb.Indexer) *memdb.MemDB {
	schema := &memdb.DBSchema{Tables: map[string]*memdb.TableSchema{"users": {Name: "users", Indexes: map[string]*memdb.IndexSchema{
		"id":   {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "Name"}},
		"bare": {Name: "bare", Unique: true, Indexer: unended{&memdb.StringFieldIndex{Field: "Name"}}},
		name:   {Name: name, AllowMissing: true, Indexer: x},
	}}}}
	mem, err := memdb.NewMemDB(schema)
	txn := good(mem, err).Txn(true)
	defer txn.Commit()
	for _, u := range citizens {
		good(0, txn.Insert("users", &u))
	}
	return mem
}

func mems(it memdb.ResultIterator, err error) []string {
	return names(func(yield func(*user, any) bool) {
		for obj := good(it, err).Next(); obj != nil && yield(obj.(*user), nil); obj = it.Next() {
		}
	})
}

func TestComingFromMemDB(t *testing.T) {
	mem := newMem("age", &memdb.IntFieldIndex{Field: "Age"})
	db, users, byName, byAge := newDB(citizens, ageOf)
	same := pairs(t, func() (any, any) {
		return mems(mem.Txn(false).Get("users", "age")), names(byAge.In(users.Load()).All())
	})
	with := func(x memdb.Indexer) []string { return mems(newMem("x", x).Txn(false).Get("users", "x")) }
	same(memdb.TableSchema{Name: "users", Indexes: map[string]*memdb.IndexSchema{"id": {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "Name"}}}}.Name,
		cow.NewTable[string](db, "users", cow.Options[user]{}).Name())
	same(with(&memdb.StringFieldIndex{Field: "Name"}), indexed(cow.NewOrder(users, "order"), nil)(users))
	same(with(&memdb.StringFieldIndex{Field: "City", Lowercase: true}),
		indexed(cow.NewIndex(users, "city", func(r userRow) string { return strings.ToLower(r.Shared().City) }, options{}))(users))
	same(with(&memdb.StringSliceFieldIndex{Field: "Tags"}), indexed(cow.NewMultiIndex(users, "tags", tagsOf, options{}))(users))
	same(with(&memdb.CompoundIndex{Indexes: []memdb.Indexer{&memdb.StringFieldIndex{Field: "City"}, &memdb.StringFieldIndex{Field: "Name"}}}),
		indexed(cow.NewIndex(users, "place", func(r userRow) place { return place{r.Shared().City, r.Shared().Name} }, options{}))(users))
	same(with(&memdb.ConditionalIndex{Conditional: func(obj any) (bool, error) { return obj.(*user).Age > 30, nil }}),
		indexed(cow.NewIndex(users, "old", func(r userRow) bool { return r.Shared().Age > 30 }, options{}))(users))
	same(with(&memdb.StringFieldIndex{Field: "Mail"}), indexed(cow.NewMultiIndex(users, "mail", mailOf, options{Unique: true}))(users))
	txn, rows, ages := mem.Txn(false), byName.In(users.Load()), byAge.In(users.Load())
	memName := func(obj any, err error) string { return good(obj, err).(*user).Name }
	same(memName(txn.First("users", "id", "ada")), val(users.Get("ada")).Name)
	same(memName(txn.First("users", "age", 36)), val(ages.Get(36)).Key())
	same(memName(txn.First("users", "age")), second(ages.First()).Key())
	same(memName(txn.Last("users", "age")), second(ages.Reverse().First()).Key())
	same(memName(txn.LongestPrefix("users", "bare_prefix", "adamant")), second(rows.LongestPrefix("adamant")).Key())
	same(mems(txn.Get("users", "id")), names(rows.All()))
	same(mems(txn.Get("users", "age", 36)), names(ages.Equal(36).All()))
	same(mems(txn.Get("users", "id_prefix", "ad")), names(rows.Prefix("ad").All()))
	same(mems(txn.GetReverse("users", "id")), names(rows.Reverse().All()))
	same(mems(txn.LowerBound("users", "age", 27)), names(ages.From(27).All()))
	same(mems(txn.ReverseLowerBound("users", "id", "b")), names(rows.Through("b").Reverse().All()))
	same(func() (all []string) {
		it, err := txn.LowerBound("users", "age", 21)
		for obj := good(it, err).Next(); obj != nil && obj.(*user).Age < 30; obj = it.Next() {
			all = append(all, obj.(*user).Name)
		}
		return all
	}(), names(ages.From(21).To(30).All()))
	byPlace := good(cow.NewIndex(users, "places", func(r userRow) place { return place{r.Shared().City, r.Shared().Name} }, options{}))
	places := byPlace.In(users.Load())
	txn = newMem("place", &memdb.CompoundIndex{Indexes: []memdb.Indexer{&memdb.StringFieldIndex{Field: "City"}, &memdb.StringFieldIndex{Field: "Name"}}}).Txn(false)
	same(mems(txn.Get("users", "place_prefix", "London", "")), names(places.Leading(1, place{City: "London"}).All()))
	same(mems(txn.Get("users", "place_prefix", "London", "a")), names(places.Prefix(place{"London", "a"}).All()))
	txn = mem.Txn(false)
	seen := db.Load()
	wakes := watches(t, func(u user) {
		txn := mem.Txn(true)
		defer txn.Commit()
		good(0, txn.Insert("users", &u))
		good(users.Set(u.Name, u))
	})
	wakes(val(txn.FirstWatch("users", "id", "ada")), val(db.Notify(db.Load(), users.OnKeys("ada"))), "ada", 36)
	txn = mem.Txn(false)
	wakes(good(txn.Get("users", "age", 36)).WatchCh(), val(db.Notify(db.Load(), byAge.OnKeys(36))), "dan", 36)
	wakes(good(txn.Get("users", "id_prefix", "ad")).WatchCh(), val(db.Notify(db.Load(), byName.OnRange(rows.Prefix("ad")))), "ade", 1)
	ctx, ada, older := t.Context(), val(txn.FirstWatch("users", "id", "ada")), good(txn.Get("users", "age", 36)).WatchCh()
	same(func() error { ws := memdb.NewWatchSet(); ws.Add(ada); ws.Add(older); return ws.WatchCtx(ctx) }(),
		second(db.Watch(ctx, seen, users.OnKeys("ada"), byAge.OnKeys(36))))
	ada, older = val(mem.Txn(false).FirstWatch("users", "id", "ada")), good(mem.Txn(false).Get("users", "age", 36)).WatchCh()
	seen, ctx = db.Load(), ended(t)
	require.Equal(t, func() error { ws := memdb.NewWatchSet(); ws.Add(ada); ws.Add(older); return ws.WatchCtx(ctx) }(),
		second(db.Watch(ctx, seen, users.OnKeys("ada"), byAge.OnKeys(36))), "neither has anything to tell")
	same(ran(func() { txn := mem.Txn(true); defer txn.Abort(); _ = txn.Insert("users", &zoe); txn.Commit() }),
		func() error { tx := db.Begin(); defer tx.Abort(); users.Edit(tx).Set("zoe", zoe); return tx.Commit() }())
	same(mems(mem.Txn(false).Get("users", "id")), names(byName.In(users.In(db.Load())).All()))
	same(mems(mem.Snapshot().Txn(true).Get("users", "id")), names(byName.In(users.In(db.Fork(db.Load()).Load())).All()))
	txn = mem.Txn(true)
	tx, done := db.Begin(), 0
	e := users.Edit(tx)
	same = pairs(t, func() (any, any) { return mems(txn.Get("users", "age")), names(byAge.During(e).All()) })
	txn.TrackChanges()
	same(ran(func() { txn.Defer(func() { done++ }) }), ran(func() { tx.Defer(func() { done++ }) }))
	same(txn.Insert("users", &user{Name: "kim", Age: 40}), ran(func() { e.Set("kim", user{Name: "kim", Age: 40}) }))
	bob := good(txn.First("users", "id", "bob")).(*user)
	same(func() error { u := *bob; u.Age++; return txn.Insert("users", &u) }(), e.Modify("bob", func(u *user) error { u.Age++; return nil }))
	same(mems(txn.Snapshot().Get("users", "age")), names(byAge.In(users.During(tx)).All()))
	same(txn.Delete("users", &user{Name: "eve"}) == nil, e.Delete("eve"))
	same(len(txn.Changes()), count(users.Changes(tx)))
	same(good(txn.DeleteAll("users", "age", 30)), byAge.During(e).Equal(30).Delete())
	same(good(txn.DeletePrefix("users", "id_prefix", "ad")), byName.During(e).Prefix("ad").Delete() > 0)
	same(good(txn.DeleteAll("users", "id")) > 0, func() bool { e.Clear(); return true }())
	txn.Commit()
	require.NoError(t, tx.Commit())
	require.Equal(t, 2, done)
}

func TestComingFromStateDB(t *testing.T) {
	state := statedb.New(statedb.WithMetrics(&statedb.NopMetrics{}))
	db, users, byName, byAge := newDB(citizens, ageOf)
	nameOf := statedb.Index[*user, string]{Name: "name", FromObject: func(u *user) index.KeySet { return index.NewKeySet(index.String(u.Name)) }, FromKey: index.String, Unique: true}
	newTable := func(name string, more ...statedb.Indexer[*user]) statedb.RWTable[*user] {
		tbl, err := statedb.NewTableAny(state, name, func() []string { return nil }, func(*user) []string { return nil }, nameOf, more...)
		txn := state.WriteTxn(good(tbl, err))
		defer txn.Commit()
		for name, u := range citizens {
			good(name, third(tbl.Insert(txn, &u)))
		}
		return tbl
	}
	years := statedb.Index[*user, int]{Name: "age", FromObject: func(u *user) index.KeySet { return index.NewKeySet(index.Int(u.Age)) }, FromKey: index.Int}
	tbl, byWrite := newTable("users", years), good(cow.NewIndex(users, "write", userRow.Revision, options{}))
	same := pairs(t, func() (any, any) { return names(tbl.All(state.ReadTxn())), names(byName.In(users.Load()).All()) })
	same(good(statedb.NewTableAny(state, "another", func() []string { return nil }, func(*user) []string { return nil }, nameOf)).Name(),
		cow.NewTable[string](db, "another", cow.Options[user]{}).Name())
	same(names(newTable("one", statedb.Index[*user, int]{Name: "age", FromObject: func(u *user) index.KeySet { return index.NewKeySet(index.Int(u.Age)) }, FromKey: index.Int}).LowerBound(state.ReadTxn(), years.Query(0))),
		indexed(cow.NewIndex(users, "ages", func(r userRow) int { return r.Shared().Age }, options{}))(users))
	tags := statedb.Index[*user, string]{Name: "tags", FromKey: index.String}
	same(names(newTable("two", statedb.Index[*user, string]{Name: "tags", FromObject: func(u *user) index.KeySet { return index.StringSlice(u.Tags) }, FromKey: index.String}).List(state.ReadTxn(), tags.Query("math"))),
		names(good(cow.NewMultiIndex(users, "tags", tagsOf, options{})).In(users.Load()).Equal("math").All()))
	txn, now := state.ReadTxn(), users.In(db.Load())
	rows, ages := byName.In(now), byAge.In(now)
	same(val(tbl.Get(txn, nameOf.Query("ada"))).City, val(now.Get("ada")).City)
	same(second(tbl.Get(txn, nameOf.Query("ada"))) > 0, now.Revision("ada") > 0)
	same(names(tbl.List(txn, years.Query(36))), names(ages.Equal(36).All()))
	same(names(tbl.Prefix(txn, nameOf.Query("ad"))), names(rows.Prefix("ad").All()))
	same(names(tbl.LowerBound(txn, years.Query(27))), names(ages.From(27).All()))
	same(len(names(tbl.LowerBound(txn, statedb.ByRevision[*user](1)))), byWrite.In(now).From(1).Len())
	same(names(tbl.All(txn)), names(rows.All()))
	same(tbl.NumObjects(txn), now.Len())
	same(tbl.Revision(txn) > 0, now.Version() > 0)
	same(len(statedb.Collect(tbl.All(txn))), len(slices.Collect(now.Values())))
	same(txn.WriteJSON(new(bytes.Buffer), "users"), json.NewEncoder(new(bytes.Buffer)).Encode(now))
	wakes := watches(t, func(u user) {
		txn := state.WriteTxn(tbl)
		defer txn.Commit()
		good(0, third(tbl.Insert(txn, &u)))
		good(users.Set(u.Name, u))
	})
	wakes(third(tbl.GetWatch(txn, nameOf.Query("ada"))), val(db.Notify(db.Load(), users.OnKeys("ada"))), "ada", 36)
	txn = state.ReadTxn()
	wakes(second(tbl.ListWatch(txn, years.Query(36))), val(db.Notify(db.Load(), byAge.OnKeys(36))), "dan", 36)
	txn = state.ReadTxn()
	seen := db.Load()
	wakes(second(tbl.PrefixWatch(txn, nameOf.Query("ad"))), val(db.Notify(db.Load(), byName.OnRange(rows.Prefix("ad")))), "ade", 1)
	ctx, changed := t.Context(), second(tbl.AllWatch(txn))
	same(func() error { ws := statedb.NewWatchSet(); ws.Add(changed); return second(ws.Wait(ctx, 0)) }(),
		second(db.Watch(ctx, seen, users.OnAll(), byAge.OnKeys(36))))
	changed, ctx, seen = second(tbl.AllWatch(state.ReadTxn())), ended(t), db.Load()
	require.Equal(t, func() error { ws := statedb.NewWatchSet(); ws.Add(changed); return second(ws.Wait(ctx, 0)) }(),
		second(db.Watch(ctx, seen, users.OnAll(), byAge.OnKeys(36))), "neither has anything to tell")
	ctx, seen = t.Context(), nil
	txn2 := state.WriteTxn(tbl)
	feed, err := tbl.Changes(txn2)
	txn2.Commit()
	same(len(maps.Collect(val(good(feed, err).Next(state.ReadTxn())))), count(users.In(db.Load()).Diff(users.In(seen))))
	db.Retain(cow.Retention{Versions: 100})
	got, before := make(chan string, 100), db.Load().Version()
	good(users.Set("bob", citizens["bob"]))
	observe := func(c statedb.Change[*user]) { got <- c.Object.Name }
	same(ran(func() { statedb.Observable(state, tbl).Observe(ctx, observe, func(error) {}); <-got }), func() error {
		for commit, err := range db.Changes(ctx, before) {
			require.Equal(t, 1, count(users.Rows(commit)))
			return err
		}
		return nil
	}())
	same(statedb.Derive("copies", func(u *user, deleted bool) (*user, statedb.DeriveResult) { return u, statedb.DeriveInsert }) != nil,
		good(cow.NewDerived(db, "copies", cow.Options[user]{}, func(tx *cow.Tx, e *cow.Editor[string, user]) error {
			for c := range users.During(tx).Diff(users.In(tx.Base())) {
				if u, ok := c.New(); ok {
					e.Set(c.Key, u)
				} else {
					e.Delete(c.Key)
				}
			}
			return nil
		})).Len() == users.Len())
	same(ran(func() { txn := state.WriteTxn(tbl); defer txn.Abort(); _, _, _ = tbl.Insert(txn, &zoe); txn.Commit() }),
		func() error { tx := db.Begin(); defer tx.Abort(); users.Edit(tx).Set("zoe", zoe); return tx.Commit() }())
	wtxn := state.WriteTxn(tbl)
	tx := db.Begin()
	e, rev, was := users.Edit(tx), second(tbl.Get(wtxn, nameOf.Query("bob"))), users.Load().Revision("bob")
	same = pairs(t, func() (any, any) { return names(tbl.All(wtxn)), names(byName.During(e).All()) })
	same(second(tbl.Insert(wtxn, &user{Name: "pat"})), func() bool { had := e.Has("pat"); e.Set("pat", user{Name: "pat"}); return had }())
	same(third(tbl.Modify(wtxn, &user{Name: "eve", Age: 1}, func(old, new *user) *user { new.Age += old.Age; return new })),
		e.Upsert("eve", func(u *user, found bool) error { u.Age++; return nil }))
	same(errors.Is(third(tbl.CompareAndSwap(wtxn, rev+1, &user{Name: "bob"})), statedb.ErrRevisionNotEqual), errors.Is(e.SetIf("bob", was+1, user{Name: "bob"}), cow.ErrRevision))
	same(third(tbl.CompareAndDelete(wtxn, rev, &user{Name: "bob"})), e.DeleteIf("bob", was))
	same(val(tbl.Delete(wtxn, &user{Name: "adam"})).City, val(e.Take("adam")).City)
	same(tbl.DeleteAll(wtxn), ran(func() { e.Clear() }))
	same = pairs(t, func() (any, any) { return names(tbl.All(state.ReadTxn())), names(byName.In(users.Load()).All()) })
	same(ran(func() { wtxn.Abort() }), ran(func() { tx.Abort() }))
}

func TestComingFromBuntDB(t *testing.T) {
	bunt := good(buntdb.Open(":memory:"))
	db, ages, byName, byAge := newDB(years, cow.Row[string, int].Value)
	_, users, _, _ := newDB(citizens, ageOf)
	for name, age := range years {
		good(0, bunt.Update(func(txn *buntdb.Tx) error { return third(txn.Set(name, strconv.Itoa(age), nil)) }))
	}
	got := []string{}
	each := func(name, age string) bool { got = append(got, name); return true }
	list := func(err error) []string { all := got; got = []string{}; return good(all, err) }
	same := pairs(t, func() (any, any) {
		return list(bunt.View(func(txn *buntdb.Tx) error { return txn.Ascend("", each) })), names(byName.In(ages.Load()).All())
	})
	same(len(good(good(buntdb.Open(":memory:")).Indexes())), cow.New[string](cow.Options[int]{}).Len())
	same(bunt.CreateIndex("age", "*", buntdb.IndexInt), second(cow.NewIndex(ages, "ages", cow.Row[string, int].Value, options{})))
	same(bunt.CreateIndex("some", "a*", buntdb.IndexInt), second(cow.NewMultiIndex(ages, "some", inA, options{})))
	same(bunt.CreateIndex("place", "*", buntdb.IndexJSONCaseSensitive("City"), buntdb.IndexJSON("Name")),
		second(cow.NewIndex(users, "place", func(r userRow) place { return place{r.Shared().City, r.Shared().Name} }, options{})))
	down := func(r cow.Row[string, int], add func(int)) error { add(r.Value()); return nil }
	same(bunt.CreateIndex("down", "*", buntdb.Desc(buntdb.IndexInt)), second(cow.NewIndexFunc(ages, "down", down, options{}, func(a, b int) int { return cmp.Compare(b, a) })))
	same(bunt.DropIndex("down"), ran(func() { good(cow.NewIndex(ages, "x", cow.Row[string, int].Value, options{})).Drop(ages) }))
	same(bunt.Update(func(txn *buntdb.Tx) error { return third(txn.Set("zoe", "30", nil)) }),
		ages.Update(func(e *editor) error { e.Set("zoe", 30); return nil }))
	same(bunt.View(func(txn *buntdb.Tx) error { return second(txn.Get("ada")) }), ran(func() { ages.Load().Get("ada") }))
	txn, tx := good(bunt.Begin(true)), db.Begin()
	e := ages.Edit(tx)
	rows, inOrder := byName.During(e), byAge.During(e)
	same = pairs(t, func() (any, any) { return list(txn.Ascend("age", each)), names(byAge.During(e).All()) })
	same(second(txn.Get("nobody")) == buntdb.ErrNotFound, !second(e.Get("nobody")))
	same(val(txn.Get("ada")), fmt.Sprint(val(e.Get("ada"))))
	same(val(txn.Len()), e.Len())
	same(list(txn.Ascend("", each)), names(rows.All()))
	same(list(txn.AscendKeys("ad*", each)), names(rows.Prefix("ad").All()))
	same(list(txn.DescendKeys("ad*", each)), names(rows.Prefix("ad").Reverse().All()))
	same(list(txn.Ascend("age", each)), names(inOrder.All()))
	same(list(txn.AscendEqual("age", "36", each)), names(inOrder.Equal(36).All()))
	same(list(txn.AscendGreaterOrEqual("age", "27", each)), names(inOrder.From(27).All()))
	same(list(txn.AscendLessThan("age", "36", each)), names(inOrder.To(36).All()))
	same(list(txn.AscendRange("age", "21", "36", each)), names(inOrder.From(21).To(36).All()))
	same(list(txn.Descend("age", each)), names(inOrder.Reverse().All()))
	same(list(txn.DescendEqual("age", "36", each)), names(inOrder.Equal(36).Reverse().All()))
	same(list(txn.DescendGreaterThan("age", "27", each)), names(inOrder.Above(27).Reverse().All()))
	same(list(txn.DescendLessOrEqual("age", "30", each)), names(inOrder.Through(30).Reverse().All()))
	same(list(txn.DescendRange("age", "36", "21", each)), names(inOrder.Above(21).Through(36).Reverse().All()))
	same(val(txn.Set("bob", "28", nil)), func() string { old, _ := e.Get("bob"); e.Set("bob", 28); return fmt.Sprint(old) }())
	same(val(txn.Delete("bob")), fmt.Sprint(val(e.Take("bob"))))
	same(txn.DeleteAll(), ran(func() { e.Clear() }))
	mem, dir := memory.New(memory.Options{}), t.TempDir()
	mem.DB().Retain(cow.Retention{Versions: 1000})
	sessions := mem.Space("sessions")
	minute := func(d time.Duration, err error) error { require.InDelta(t, time.Minute, d, 1e10); return err }
	same = pairs(t, func() (any, any) { return nil, nil })
	same(txn.Rollback(), ran(func() { tx.Abort() }))
	require.Equal(t, 5, ages.Len())
	brief := &buntdb.SetOptions{Expires: true, TTL: time.Minute}
	same(bunt.Update(func(txn *buntdb.Tx) error { return third(txn.Set("ada", "token", brief)) }),
		second(sessions.PutItem("ada", memory.Item{Value: "token", TTL: time.Minute})))
	same(bunt.View(func(txn *buntdb.Tx) error { return minute(txn.TTL("ada")) }), minute(time.Until(val(sessions.Entry("ada")).Expires), nil))
	same(bunt.SetConfig(buntdb.Config{OnExpired: func(keys []string) {}}), func() (err error) {
		for _, err = range sessions.Since(0) {
		}
		return err
	}())
	var file *bolt.File
	same(second(buntdb.Open(filepath.Join(dir, "bunt.db"))), func() (err error) {
		file, err = bolt.Open(filepath.Join(dir, "cow.db"), db, bolt.Options{Sync: bolt.Every(time.Second)})
		return err
	}())
	same(bunt.Save(new(bytes.Buffer)), second(file.Backup(new(bytes.Buffer))))
	same(bunt.Close(), db.Close())
	bunt = good(buntdb.Open(filepath.Join(dir, "other.db")))
	same(bunt.Shrink(), bolt.Compact(filepath.Join(dir, "cow.db")))
}

func TestComingFromBTree(t *testing.T) {
	tree, set := btree.NewMap[string, int](0), btree.NewBTreeG(func(a, b string) bool { return a < b })
	db, ages, byName, _ := newDB(years, cow.Row[string, int].Value)
	for name, age := range ages.All() {
		tree.Set(name, age)
		set.Set(name)
	}
	rows := byName.In(ages.Load())
	var all []string
	each := func(name string, age int) bool { all = append(all, name); return true }
	got := func(f func()) []string { all = nil; f(); return all }
	same := pairs(t, func() (any, any) { return tree.Keys(), names(byName.In(ages.Load()).All()) })
	same(btree.NewMap[string, int](0).Len(), cow.NewOrder(cow.New[string](cow.Options[int]{}), "name").In(nil).Len())
	same(btree.NewBTreeG(func(a, b string) bool { return a > b }).Len(),
		cow.NewOrder(cow.New[string](cow.Options[struct{}]{}), "down", func(a, b string) int { return strings.Compare(b, a) }).In(nil).Len())
	same(two(tree.Get("ada")), two(ages.Get("ada")))
	same(tree.Len(), ages.Len())
	same(val(tree.Min()), val(rows.First()))
	same(val(tree.Max()), val(rows.Reverse().First()))
	same(val(tree.GetAt(2)), val(rows.Skip(2).First()))
	same(got(func() { tree.Scan(each) }), names(rows.All()))
	same(got(func() { tree.Reverse(each) }), names(rows.Reverse().All()))
	same(got(func() { tree.Ascend("b", each) }), names(rows.From("b").All()))
	same(got(func() { tree.Descend("b", each) }), names(rows.Through("b").Reverse().All()))
	same(tree.Keys(), names(rows.All()))
	same(func() string { it := tree.Iter(); it.Seek("b"); return it.Key() }(), val(rows.From("b").First()))
	same(func() string { it := tree.Iter(); it.Seek("b"); it.Prev(); return it.Key() }(), val(rows.To("b").Reverse().First()))
	same(func() int { old := tree.Copy(); tree.Set("zoe", 30); return old.Len() }(),
		func() int { old := ages.Load(); good(ages.Set("zoe", 30)); return old.Len() }())
	same(func() int { fork := tree.IsoCopy(); fork.Delete("zoe"); return fork.Len() }(),
		func() int { fork := ages.Of(db.Fork(db.Load())); good(fork.Delete("zoe")); return fork.Len() }())
	tx := db.Begin()
	e := ages.Edit(tx)
	rows = byName.During(e)
	same = pairs(t, func() (any, any) { return tree.Keys(), names(byName.During(e).All()) })
	same(two(tree.Set("zoe", 31)), func() []any { old, had := e.Get("zoe"); e.Set("zoe", 31); return two(old, had) }())
	same(two(tree.Delete("zoe")), two(e.Take("zoe")))
	same(ran(func() { tree.Load("zoe", 32) }), ran(func() { e.SetAll(maps.All(map[string]int{"zoe": 32})) }))
	same(val(tree.DeleteAt(1)), val(rows.Skip(1).TakeFirst()))
	same(val(tree.PopMin()), val(rows.TakeFirst()))
	same(val(tree.PopMax()), val(rows.Reverse().TakeFirst()))
	same(func() int { n := set.DeleteRange("b", "e", nil); tree.Delete("bob"); return n.Len() }(), rows.From("b").To("e").Delete())
	same(ran(func() { tree.Clear() }), ran(func() { e.Clear() }))
	require.NoError(t, tx.Commit())
}

func TestComingFromSyncMap(t *testing.T) {
	var m sync.Map
	_, ages, _, _ := newDB(years, cow.Row[string, int].Value)
	for name, age := range ages.All() {
		m.Store(name, age)
	}
	same := pairs(t, func() (any, any) { return val(m.Load("kim")) != nil, ages.Load().Has("kim") })
	same(two(m.Load("ada")), two(ages.Get("ada")))
	same(ran(func() { m.Store("kim", 40) }), second(ages.Set("kim", 40)))
	same(second(m.LoadOrStore("kim", 41)), errors.Is(second(ages.Insert("kim", 41)), cow.ErrExists))
	same(two(m.LoadOrStore("kim", 41)), func() []any {
		age, loaded := 0, false
		_ = ages.Update(func(e *editor) error {
			if age, loaded = e.Get("kim"); !loaded {
				age = 41
				e.Set("kim", age)
			}
			return nil
		})
		return two(age, loaded)
	}())
	old := any(41)
	same(val(m.Swap("kim", 42)), val(old, second(ages.Upsert("kim", func(age *int, _ bool) error { old, *age = *age, 42; return nil }))))
	same(m.CompareAndSwap("kim", 42, 43), nil == second(ages.Modify("kim", func(age *int) error {
		if *age != 42 {
			return cow.ErrConflict
		}
		*age = 43
		return nil
	})))
	now, rev := val(m.Load("kim")), ages.Load().Revision("kim")
	same(m.CompareAndSwap("kim", now, 44), second(ages.SetIf("kim", rev, 44)) == nil)
	same(m.CompareAndDelete("kim", now), second(ages.DeleteIf("kim", rev)) == nil)
	same(two(m.LoadAndDelete("kim")), two(ages.Take("kim")))
	same(ran(func() { m.Delete("kim") }), second(ages.Delete("kim")))
	same(func() (n int) { m.Range(func(name, age any) bool { n++; return true }); return n }(), len(maps.Collect(ages.All())))
	same(ran(func() { m.Clear() }), second(ages.Clear()))
}

func tagsIn(r cow.Row[string, []string], add func(string)) {
	for _, tag := range r.Shared() { // without a clone
		add(tag)
	}
}

func TestComingFromRWMutex(t *testing.T) {
	var mu sync.RWMutex // before
	m, lists := map[string]int{}, map[string][]string{}
	tagged := map[string][]string{} // who has a tag: it follows from lists

	var db cow.DB // after
	ages := cow.NewTable[string](&db, "ages", cow.Options[int]{})
	tags := cow.NewTable[string](&db, "tags", cow.Options[[]string]{})
	views := cow.NewViews[view.Slice[string]](tags) // needs no generated code

	byKey := cow.NewOrder(ages, "key") // indexes: rows in the order of their keys, or of what a function returns
	byAge, errAge := cow.NewIndex(ages, "age", cow.Row[string, int].Shared, cow.IndexOptions[string]{})
	byTag, err := cow.NewMultiIndex(tags, "tag", tagsIn, cow.IndexOptions[string]{}) // in place of tagged; errors are of unique indexes

	require.NoError(t, errAge)
	require.NoError(t, err)
	require.Equal(t, &db, tagging{&db, tags, views, byTag, tags.Load()}.tags.DB())
	maps.Copy(m, years)
	require.NoError(t, ages.Replace(maps.All(years)))
	ctx := t.Context()
	same := pairs(t, func() (any, any) { return two(m, lists), two(maps.Collect(ages.All()), maps.Collect(tags.All())) })
	same(func() int { mu.RLock(); age := m["ada"]; mu.RUnlock(); return age }(), val(ages.Get("ada")))
	same(ran(func() { mu.Lock(); m["kim"] = 40; mu.Unlock() }), second(ages.Set("kim", 40)))
	same(ran(func() { mu.Lock(); m["kim"]++; mu.Unlock() }), second(ages.Upsert("kim", func(age *int, _ bool) error { *age++; return nil })))
	same(ran(func() {
		mu.Lock()
		if _, ok := m["kim"]; !ok {
			m["kim"] = 1
		}
		mu.Unlock()
	}), ran(func() { _, _ = ages.Insert("kim", 1) }))
	same(ran(func() { mu.Lock(); delete(m, "kim"); mu.Unlock() }), second(ages.Delete("kim")))
	same(func() int { mu.RLock(); sum := m["ada"] + m["bob"]; mu.RUnlock(); return sum }(),
		func() int { now := ages.Load(); return val(now.Get("ada")) + val(now.Get("bob")) }())
	same(func() int { mu.RLock(); all := maps.Collect(maps.All(m)); mu.RUnlock(); return len(all) }(), len(maps.Collect(ages.All())))
	same(func() []string { mu.RLock(); all := slices.Sorted(maps.Keys(m)); mu.RUnlock(); return all }(), names(byKey.In(ages.Load()).All()))
	same(func() int { mu.RLock(); old := maps.Clone(m); mu.RUnlock(); return len(old) }(), func() int { old := ages.Load(); return old.Len() }())
	same(func() string { mu.RLock(); b, _ := json.Marshal(m); mu.RUnlock(); return string(b) }(),
		func() string { b, _ := json.Marshal(ages.Load()); return string(b) }())
	same(ran(func() { mu.Lock(); lists["ada"] = append(lists["ada"], "go"); mu.Unlock() }),
		second(tags.Upsert("ada", func(v *[]string, _ bool) error { *v = append(*v, "go"); return nil })))
	same(ran(func() {
		mu.Lock()
		if v, ok := lists["ada"]; ok {
			lists["ada"] = append(v, "c")
		}
		mu.Unlock()
	}), second(tags.Modify("ada", func(v *[]string) error { *v = append(*v, "c"); return nil })))
	same(func() []string { mu.RLock(); list := slices.Clone(lists["ada"]); mu.RUnlock(); return list }(),
		func() []string { list, ok := tags.Get("ada"); require.True(t, ok); return list }())
	same(func() (read string) {
		mu.RLock()
		for _, tag := range lists["ada"] {
			read += tag
		}
		mu.RUnlock()
		return read
	}(), func() (read string) {
		list, ok := views.Get("ada")
		for tag := range list.Values() {
			read += tag
		}
		require.True(t, ok)
		return read
	}())
	same(ran(func() { mu.Lock(); m["zoe"], lists["zoe"] = 30, nil; mu.Unlock() }),
		db.Update(func(tx *cow.Tx) error { ages.Edit(tx).Set("zoe", 30); tags.Edit(tx).Set("zoe", nil); return nil }))
	drop := func(list []string, text string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == text })
	}
	tagged["go"] = []string{"ada", "bob"}
	lists["bob"] = []string{"go"}
	good(tags.Set("bob", []string{"go"}))
	same(ran(func() {
		mu.Lock()
		lists["ada"] = drop(lists["ada"], "go")
		tagged["go"] = drop(tagged["go"], "ada")
		mu.Unlock()
	}), second(tags.Modify("ada", func(v *[]string) error { *v = drop(*v, "go"); return nil })))
	same(func() (read string) {
		mu.RLock()
		for _, name := range tagged["go"] {
			read += name
		}
		mu.RUnlock()
		return read
	}(), func() (read string) {
		for _, row := range byTag.In(tags.Load()).Equal("go").All() {
			read += row.Key()
		}
		require.Equal(t, "bob", read)
		return read
	}())
	young := func(_ string, age int) bool { return age < 25 }
	same(ran(func() { mu.Lock(); maps.DeleteFunc(m, young); mu.Unlock() }), second(ages.DeleteFunc(young)))
	named := func(name string, _ int) bool { return strings.HasPrefix(name, "z") }
	same(ran(func() { mu.Lock(); maps.DeleteFunc(m, named); mu.Unlock() }),
		ages.Update(func(e *cow.Editor[string, int]) error { byKey.During(e).Prefix("z").Delete(); return nil }))
	below := func(_ string, age int) bool { return age < 30 }
	same(ran(func() { mu.Lock(); maps.DeleteFunc(m, below); mu.Unlock() }),
		ages.Update(func(e *cow.Editor[string, int]) error { byAge.During(e).To(30).Delete(); return nil }))
	more := map[string]int{"one": 41, "two": 42}
	same(ran(func() { mu.Lock(); maps.Copy(m, more); mu.Unlock() }),
		ages.Update(func(e *cow.Editor[string, int]) error { e.SetAll(maps.All(more)); return nil }))
	next := map[string]int{"new": 1}
	nextLists := map[string][]string{"new": {"go"}}
	same(ran(func() { mu.Lock(); m = next; mu.Unlock() }), ages.Replace(maps.All(next)))
	same(ran(func() { mu.Lock(); m, lists = next, nextLists; mu.Unlock() }), db.Update(func(tx *cow.Tx) error {
		a, l := ages.Edit(tx), tags.Edit(tx)
		a.Clear()
		a.SetAll(maps.All(next))
		l.Clear()
		l.SetAll(maps.All(nextLists))
		return nil
	}))
	changed, seen := sync.NewCond(&mu), db.Load()
	go func() { mu.Lock(); m["new"] = 2; mu.Unlock(); changed.Broadcast(); good(ages.Set("new", 2)) }()
	same(ran(func() {
		mu.Lock()
		for m["new"] != 2 {
			changed.Wait()
		}
		mu.Unlock()
	}), func() (err error) {
		for n, _ := ages.In(seen).Get("new"); n != 2; n, _ = ages.In(seen).Get("new") {
			if seen, err = db.Watch(ctx, seen, ages.OnKeys("new")); err != nil {
				return err
			}
		}
		return nil
	}())
	same(ran(func() { mu.Lock(); clear(m); mu.Unlock() }), second(ages.Clear()))
}

// What the last table of the page names.
var notOffered = []any{
	statedb.RWTable[*user].InsertWatch, statedb.WriteTxn.Commit, statedb.ChangeIterator[*user].Next, (*statedb.DB).WriteTxn,
	statedb.RWTable[*user].RegisterInitializer, (*buntdb.Tx).CreateIndex, (*buntdb.Tx).Nearby, (*buntdb.Tx).Intersects,
	statedb.NetIPPrefixIndex[*user]{}, statedb.LPMIndex[*user]{}, (*btree.MapIter[string, int]).Prev, (*btree.Map[string, int]).GetMut,
	(*btree.BTreeG[string]).DeleteAscend, (*btree.BTreeG[string]).Walk, btree.PathHint{}, memdb.WatchSet.AddWithLimit,
	memdb.UUIDFieldIndex{}, (*buntdb.DB).Load, (*statedb.DB).ServeHTTP, statedb.ScriptCommands, statedb.WithMetrics,
	otter.Options[string, int]{MaximumSize: 1000},
}

// tokens is code without white space and the ends of statements.
var tokens = strings.NewReplacer(" ", "", "\t", "", "\n", "", ";", "").Replace

// The cells of the page are code of the pairs, in the same order, and no pair is left out. An
// ellipsis stands for any code.
// pagesOf returns those pages, one after the other, in the order of the pairs.
func pagesOf(names ...string) string {
	var all strings.Builder
	for _, name := range names {
		all.Write(good(os.ReadFile(filepath.Join("../cow/coming-from", name+".md"))))
		all.WriteByte('\n')
	}
	return all.String()
}

func TestThePagesAreThisFile(t *testing.T) {
	src, page := string(good(os.ReadFile("coming_from_test.go"))), pagesOf("go-memdb", "statedb", "buntdb", "btree", "sync-map", "rwmutex", "not-offered")
	fset, pairs := token.NewFileSet(), [][]ast.Expr{}
	ast.Inspect(good(parser.ParseFile(fset, "", src, 0)), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.Ident); ok && (f.Name == "same" || f.Name == "wakes") {
				pairs = append(pairs, call.Args[:2])
			}
		} else if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name == "notOffered" {
			for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
				pairs = append(pairs, []ast.Expr{e})
			}
		}
		return true
	})
	page = regexp.MustCompile(`(?m)^\|.*\n\|[-| ]+\|\n`).ReplaceAllString(page, "") // the heads of tables
	lines := regexp.MustCompile(`(?m)^\| (.*) \| (.*) \|$`).FindAllStringSubmatch(page, -1)
	require.NotEmpty(t, notOffered) // which is there to be compiled
	require.Equal(t, len(pairs), len(lines), "the lines of the tables")
	for i, line := range lines {
		for j, e := range pairs[i] {
			left := tokens(src[fset.Position(e.Pos()).Offset:fset.Position(e.End()).Offset])
			require.Regexp(t, "^`[^`]+`(<br>`[^`]+`)*$", line[j+1])
			for _, part := range regexp.MustCompile("<br>|…").Split(strings.ReplaceAll(line[j+1], "`", ""), -1) {
				_, after, ok := strings.Cut(left, tokens(part))
				require.True(t, ok, "%s of the page is not in %s", part, left)
				left = after
			}
		}
	}
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(pagesOf("README", "rwmutex"), -1) {
		require.True(t, strings.Contains(tokens(src), tokens(block[1])), block[1])
	}
}

// An entry of a cache, its view, which cowview would make, and the cache.
type entry struct {
	Items []string
	Until time.Time
}

type entryView struct{ ref view.Ref[entry] }

func (entryView) ViewOf(r view.Ref[entry]) entryView { return entryView{r} }
func (e entryView) Items() view.Slice[string]        { return view.SliceOf(view.Shared(e.ref).Items) }
func (e entryView) Until() time.Time                 { return view.Shared(e.ref).Until }

type cache struct {
	lists   *cow.Table[string, entry]
	entries cow.Views[string, entry, entryView]
	ttl     time.Duration
}

func (c *cache) get(key string) (items view.Slice[string], ok bool) {
	e, ok := c.entries.Get(key)
	if !ok || !time.Now().Before(e.Until()) {
		return items, false
	}
	return e.Items(), true
}

func (c *cache) append(key string, item string) error {
	_, err := c.lists.Upsert(key, func(e *entry, _ bool) error {
		if now := time.Now(); !now.Before(e.Until) {
			*e = entry{Until: now.Add(c.ttl)}
		}
		e.Items = append(e.Items, item)
		return nil
	})
	return err
}

func (c *cache) json() ([]byte, error) {
	all := map[string]view.Slice[string]{}
	for key, e := range c.entries.In(c.lists.Load()).All() {
		if time.Now().Before(e.Until()) {
			all[key] = e.Items()
		}
	}
	return json.Marshal(all)
}

func TestComingFromACacheThatExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cache{ttl: time.Hour, lists: cow.New[string](cow.Options[entry]{Expires: func(e entry) time.Time { return e.Until }})}
		c.entries = cow.NewViews[entryView](c.lists)
		has := func(want string) {
			all, err := c.json()
			require.NoError(t, err)
			require.JSONEq(t, want, string(all))
		}
		require.NoError(t, c.append("ada", "a"))
		time.Sleep(c.ttl / 2)
		require.NoError(t, c.append("ada", "b"))
		require.NoError(t, c.append("bob", "c"))
		has(`{"ada": ["a", "b"], "bob": ["c"]}`)
		time.Sleep(c.ttl / 2)
		has(`{"bob": ["c"]}`)
		_, ok := c.get("ada")
		require.False(t, ok)
		items, ok := c.get("bob")
		require.True(t, ok)
		require.Equal(t, []string{"c"}, items.Clone())
		require.NoError(t, c.append("ada", "d"))
		has(`{"ada": ["d"], "bob": ["c"]}`)
		n, err := c.lists.DB().Sweep(t.Context())
		require.NoError(t, err)
		require.Zero(t, n, "what has begun anew is not swept")
	})
}

// The page about the reference memory server has the tools that the README of ours has, all of them.
func TestThePageOfTheMemoryServerHasItsTools(t *testing.T) {
	toolsIn := func(table string) (all []string) {
		for _, row := range regexp.MustCompile("(?m)^\\|.*`[a-z]+(_[a-z]+)?`.*$").FindAllString(table, -1) {
			for _, name := range regexp.MustCompile("`([a-z]+(_[a-z]+)?)`").FindAllStringSubmatch(row, -1) {
				all = append(all, name[1])
			}
		}
		return slices.Sorted(slices.Values(all))
	}
	_, readme, _ := strings.Cut(string(good(os.ReadFile("../memory/mcp/README.md"))), "\n## The tools\n")
	readme, _, _ = strings.Cut(readme, "\n## ")
	readme = regexp.MustCompile(`(?m)^(\| [^|]*\|).*`).ReplaceAllString(readme, "$1") // the names, without what they do
	require.NotEmpty(t, toolsIn(readme))
	require.Equal(t, toolsIn(readme), slices.DeleteFunc(toolsIn(pagesOf("memory-server")), func(name string) bool { return name == "cowmemory" }))
}
