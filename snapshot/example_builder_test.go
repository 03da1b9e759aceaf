package snapshot_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/cowstore/cowstore/snapshot"
)

// A store has two maps under one version, and its update of both fails as a whole.
func ExampleBuilder_EditAt() {
	users := snapshot.New[string](snapshot.Options[int]{Name: "users"})
	stock := snapshot.New[string](snapshot.Options[int]{Name: "stock"})
	version := uint64(7)
	var b snapshot.Builder[string, int]

	update := func(name, item string) error {
		u := b.EditAt(new(snapshot.Editor[string, int]), users, version+1)
		s := b.EditAt(new(snapshot.Editor[string, int]), stock, version+1)
		u.Set(name, 1)
		if err := s.Insert(item, 1); err != nil {
			b.Discard(u)
			b.Discard(s)
			return err
		}
		users, stock, version = u.Seal(), s.Seal(), version+1
		return nil
	}
	fmt.Println(update("ada", "tea"), users.Version(), stock.Version())
	fmt.Println(update("bob", "tea"), users.Version(), stock.Version())
	fmt.Println(b.Name(users), "akin to stock:", b.Akin(users, stock),
		"to its empty map:", b.Akin(users, b.Empty(users)))
	// Output:
	// <nil> 8 8
	// stock: tea: key exists 8 8
	// users akin to stock: false to its empty map: true
}

// The Insert and SetIf of a store: the value is cloned before its lock is taken, and the lock is
// held only for the check and the write.
func ExampleBuilder_Check() {
	m := snapshot.New[string](snapshot.Options[session]{})
	var lock sync.Mutex
	var b snapshot.Builder[string, session]
	setIf := func(key string, rev uint64, s session) error {
		isolated, err := b.Isolate(m, key, s)
		if err != nil {
			return err
		}
		lock.Lock()
		defer lock.Unlock()
		e := m.Edit()
		check := b.CheckAbsent(e, key) // that of Insert
		if rev > 0 {
			check = b.Check(e, key, rev)
		}
		if check == nil {
			b.Put(e, key, isolated)
			m = e.Seal()
		}
		return check
	}
	fmt.Println(setIf("s1", 0, session{User: "ann"}))
	fmt.Println(setIf("s1", 0, session{User: "bob"}))
	fmt.Println(setIf("s1", m.Revision("s1"), session{User: "eve"}))
	fmt.Println(m.Get("s1"))
	// Output:
	// <nil>
	// snapshot: s1: key exists
	// <nil>
	// {eve []} true
}

// Rows from a file, with the revisions that they have there. The goroutines that decode them fill
// a Batch each.
func ExampleBuilder_Batch() {
	m := snapshot.New[string](snapshot.Options[int]{})
	var b snapshot.Builder[string, int]
	e := b.EditAt(new(snapshot.Editor[string, int]), m, 40)
	each := func(n int, do func(i int)) { // in parallel
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { do(i) })
		}
		all.Wait()
	}
	pages := [][]string{{"tea", "milk"}, {"rice"}}
	batches := make([]*snapshot.Batch[string, int], len(pages))
	errs := make([]error, len(pages))
	each(len(pages), func(i int) {
		batches[i] = b.Batch(e, len(pages[i]))
		for n, key := range pages[i] {
			errs[i] = errors.Join(errs[i], batches[i].Add(key, n, uint64(10+n)))
		}
	})
	b.PutBatches(e, batches, each)
	m = e.Seal()
	fmt.Println(m, errors.Join(errs...))
	fmt.Println(m.Revision("tea"), m.Revision("milk"), m.Revision("rice"))
	// Output:
	// snapshot@40 (3 rows) <nil>
	// 10 11 10
}

// Many pairs that are cloned before a lock is taken, and may be put again if the update is made
// again.
func ExampleBuilder_Bulk() {
	m, _ := snapshot.Collect(snapshot.Options[[]int]{},
		maps.All(map[string][]int{"old": nil}))
	var b snapshot.Builder[string, []int]
	bulk := b.Bulk(m)
	for i, key := range []string{"a", "b", "c"} {
		if err := bulk.Add(key, []int{i}); err != nil {
			fmt.Println(err)
		}
	}
	for range 2 { // the second time for good
		e := m.Edit()
		e.Clear()
		b.PutBulk(e, bulk)
		fmt.Println(e.Seal(), b.Cleared(e))
	}
	// Output:
	// snapshot@2 (3 rows) true
	// snapshot@2 (3 rows) true
}

// The net changes of an edit, one for each key. An erased key is told as such, and Forget leaves
// out what it was, for logs that must not have it.
func ExampleBuilder_Erase() {
	m, _ := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"ada": 36}))
	var b snapshot.Builder[string, int]
	e := m.Edit()
	e.Set("bob", 1)
	e.Delete("bob") // as if nothing had been
	b.Erase(e, "ada")
	fmt.Println("erases:", b.Erases(e))
	for _, c := range b.Net(e, nil) {
		was, had := c.Old()
		fmt.Println(c, was, had)
		was, had = b.Forget(c).Old()
		fmt.Println(b.Forget(c), was, had)
	}
	// Output:
	// erases: true
	// erased "ada" 36 true
	// erased "ada" 0 false
}

// A store that keeps changes, and not maps, comes back to an earlier version, and makes that once
// more without a row that was erased.
func ExampleBuilder_Rewind() {
	var b snapshot.Builder[string, int]
	m, _ := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"ada": 36}))
	e := m.Edit()
	e.Set("ada", 37)
	e.Set("bob", 27)
	changes := b.Net(e, nil)
	m = e.Seal()

	then := b.Rewind(m, 1, slices.Values(changes))
	fmt.Println(then, maps.Collect(then.All()))

	e = b.Remake(b.Empty(m), m.Version())
	for row := range m.Rows() {
		if row.Key() != "ada" {
			b.PutRow(e, row) // the same row, at its revision
		}
	}
	again := e.Seal()
	fmt.Println(again, maps.Collect(again.All()))
	// Output:
	// snapshot@1 (1 row) map[ada:36]
	// snapshot@2 (1 row) map[bob:27]
}

// Something that is computed of a map is kept with it, here a sum. That of a later map is computed
// from the changes since.
func ExampleBuilder_Annotate() {
	var b snapshot.Builder[string, int]
	sum := func(m *snapshot.Map[string, int]) (total, changes int) {
		x, to := b.Annotation(m) // nil and nil the first time
		total, _ = x.(int)
		for c := range m.Diff(to) {
			was, _ := c.Old()
			is, _ := c.New()
			total += is - was
			changes++
		}
		return total, changes
	}
	stock := map[string]int{"tea": 3, "milk": 1, "rice": 7}
	m, _ := snapshot.Collect(snapshot.Options[int]{}, maps.All(stock))
	total, changes := sum(m)
	fmt.Println(total, "from", changes)
	m = b.Annotate(m, total)

	e := m.Edit()
	e.Set("tea", 4)
	total, changes = sum(e.Map())
	fmt.Println(total, "from", changes)
	b.AnnotateDuring(e, total) // the edit goes on from here
	e.Delete("rice")
	total, changes = sum(e.Seal())
	fmt.Println(total, "from", changes)
	m = b.AnnotateSealed(e, total)
	fmt.Println(b.Annotation(m))
	fmt.Println("takes memory:", b.Structure(m) > 0) // the bytes that m takes apart from its rows
	// Output:
	// 11 from 3
	// 12 from 1
	// 5 from 1
	// 5 snapshot@2 (2 rows)
	// takes memory: true
}

// An index of one's own has its rows in order, each in one word, and looks for a row by one that
// is in no map.
func ExampleBuilder_Ref() {
	var b snapshot.Builder[string, int]
	stock := map[string]int{"tea": 3, "milk": 1, "rice": 7}
	m, _ := snapshot.Collect(snapshot.Options[int]{}, maps.All(stock))
	order := func(x, y *snapshot.RowRef) int {
		return cmp.Compare(b.KeyOf(x), b.KeyOf(y))
	}

	var sorted []*snapshot.RowRef
	for row := range m.Rows() {
		sorted = append(sorted, b.Ref(row))
	}
	slices.SortFunc(sorted, order)

	from, _ := slices.BinarySearchFunc(sorted, b.Ref(b.Probe(m, "n")), order)
	b.Prefetch(sorted[from:])
	rows := b.Deref(m, 0) // of no update that runs
	for _, ref := range sorted[from:] {
		row := rows.Row(ref)
		fmt.Println(row, row.Value())
	}
	// Output:
	// "rice"@1 7
	// "tea"@1 3
}

// A page of rows, and the next one, in the order of All. No list of the keys is made.
func ExampleBuilder_RowsFrom() {
	var b snapshot.Builder[string, int]
	stock := map[string]int{"tea": 3, "milk": 1, "rice": 7}
	m, _ := snapshot.Collect(snapshot.Options[int]{}, maps.All(stock))
	var last *string
	total := 0
	for page := 1; ; page++ {
		n := 0
		for row := range b.RowsFrom(m, last, false) {
			key := row.Key()
			last = &key
			total += row.Shared()
			if n++; n == 2 {
				break
			}
		}
		if n == 0 {
			break
		}
		fmt.Println("page", page, "has", n)
	}
	fmt.Println("in all", total)
	for i, row := range b.RowsOf(m, []string{"milk", "bread", "tea"}) { // by key
		fmt.Println(i, row)
	}
	// Output:
	// page 1 has 2
	// page 2 has 1
	// in all 11
	// 0 "milk"@1
	// 2 "tea"@1
}

// Reads without a clone of the value, for whoever wraps them in something that cannot write.
func ExampleBuilder_Lookup() {
	var b snapshot.Builder[string, session]
	m, _ := snapshot.Collect(snapshot.Options[session]{},
		maps.All(map[string]session{"s1": {"ann", []string{"likes tea"}}}))
	stored := b.Lookup(m, "s1")
	fmt.Println(len(stored.Notes), "note, s2 is absent:", b.Lookup(m, "s2") == nil)

	row, _ := m.Row("s1")
	fmt.Println("the same place:", b.Pointer(row) == stored)
	fmt.Println("larger than its text:", b.Size(row) > len("likes tea"))
	text, err := b.JSON(m, 2) // as a part of something larger
	fmt.Println(string(text), err)
	// Output:
	// 1 note, s2 is absent: true
	// the same place: true
	// larger than its text: true
	// {"s1":{"User":"ann","Notes":["likes tea"]}} <nil>
}

// What a change is to somebody who sees only some rows: here those above 10.
func ExampleBuilder_Part() {
	var b snapshot.Builder[string, int]
	m, _ := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3}))
	e := m.Edit()
	e.Set("tea", 30)
	next := e.Seal()
	for c := range next.Diff(m) {
		was, _ := c.Old()
		is, _ := c.New()
		seen, ok := b.Part(c, was > 10, is > 10)
		fmt.Println(c, "->", seen, ok)
		fmt.Println("concerns next:", b.Concerns(c, next)) // that of another table does not
	}

	// The same change, of its two rows.
	was, _ := m.Row("tea")
	is, _ := next.Row("tea")
	fmt.Println(b.Between(was, is))
	fmt.Println(b.Between(was, snapshot.Row[string, int]{}))
	// Output:
	// changed "tea" -> added "tea" true
	// concerns next: true
	// changed "tea"
	// removed "tea"
}
