package snapshot_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cowstore/cowstore/snapshot"
)

// An empty map. What is put into it makes another map.
func ExampleNew() {
	m := snapshot.New[string](snapshot.Options[int]{Name: "stock"})
	e := m.Edit()
	e.Set("tea", 3)
	fmt.Println(m, e.Seal())
	// Output: stock@0 (0 rows) stock@1 (1 row)
}

// All pairs, as a Go map. The iteration has the same order each time, not that of the keys.
func ExampleMap_All() {
	stock := map[string]int{"tea": 3, "milk": 1}
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(stock))
	fmt.Println(maps.Collect(m.All()), err)
	// Output: map[milk:1 tea:3] <nil>
}

// Each Editor begins with the map that it was made of. So two edits are two branches.
func ExampleMap_Edit() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3}))
	one, two := m.Edit(), m.Edit()
	one.Set("tea", 2)
	two.Delete("tea")
	fmt.Println(m, one.Seal(), two.Seal(), err)
	// Output: snapshot@1 (1 row) snapshot@2 (1 row) snapshot@2 (0 rows) <nil>
}

// Get of an absent key returns the zero value and false. So does Get of a nil map.
func ExampleMap_Get() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 0}))
	fmt.Println(err)
	fmt.Println(m.Get("tea"))
	fmt.Println(m.Get("milk"))
	fmt.Println(m.Has("tea"), m.Has("milk"))
	m = nil
	fmt.Println(m.Get("tea"))
	// Output:
	// <nil>
	// 0 true
	// 0 false
	// true false
	// 0 false
}

// Many keys in one call. What comes is the place of each key that is present, and its value.
func ExampleMap_GetMany() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3, "milk": 1}))
	for i, n := range m.GetMany([]string{"milk", "rice", "tea"}) {
		fmt.Println(i, n)
	}
	fmt.Println(err)
	// Output:
	// 0 1
	// 2 3
	// <nil>
}

// Keys in an order of the caller's choice.
func ExampleMap_Keys() {
	stock := map[string]int{"tea": 3, "milk": 1, "rice": 7}
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(stock))
	fmt.Println(slices.Sorted(m.Keys()), err)
	// Output: [milk rice tea] <nil>
}

// The revision of a row is the version that wrote it. Other writes leave it.
func ExampleMap_Revision() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3}))
	e := m.Edit()
	e.Set("milk", 1)
	next := e.Seal()
	fmt.Println(next.Revision("tea"), next.Revision("milk"),
		next.Revision("rice"), err)
	// Output: 1 2 0 <nil>
}

// Two rows are equal if they are one write, whatever the values are.
func ExampleMap_Row() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3, "milk": 1}))
	e := m.Edit()
	e.Set("tea", 3)
	next := e.Seal()
	for _, key := range []string{"tea", "milk"} {
		was, _ := m.Row(key)
		is, ok := next.Row(key)
		fmt.Println(is, is.Value(), ok, "same write:", is == was)
	}
	fmt.Println(err)
	// Output:
	// "tea"@2 3 true same write: false
	// "milk"@1 1 true same write: true
	// <nil>
}

// Where a key was added there is no old value, and where it was removed no new one.
func ExampleChange_New() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3}))
	e := m.Edit()
	e.Delete("tea")
	for c := range e.Seal().Diff(m) {
		fmt.Println(c)
		fmt.Println(c.Old())
		fmt.Println(c.New())
	}
	fmt.Println(err)
	// Output:
	// removed "tea"
	// 3 true
	// 0 false
	// <nil>
}

// A row goes only if it is at the revision that was read.
func ExampleEditor_DeleteIf() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3}))
	fmt.Println(err)
	e := m.Edit()
	fmt.Println(e.DeleteIf("tea", 7))
	fmt.Println(e.DeleteIf("tea", m.Revision("tea")))
	fmt.Println(e.DeleteIf("tea", 0)) // it is absent, as expected
	// Output:
	// <nil>
	// snapshot: tea: key is not at that revision
	// <nil>
	// <nil>
}

// The iteration is over the rows as they are when it begins. The Editor may write meanwhile.
func ExampleEditor_GetMany() {
	var m *snapshot.Map[string, int]
	e := m.Edit()
	e.Set("tea", 3)
	e.Set("milk", 1)
	keys := []string{"milk", "rice", "tea"}
	for i, n := range e.GetMany(keys) {
		e.Set(keys[i], 2*n)
	}
	fmt.Println(maps.Collect(e.Seal().All()))
	// Output: map[milk:2 tea:6]
}

// Insert leaves a row that is present alone. An error of a verb does not end the edit.
func ExampleEditor_Insert() {
	var m *snapshot.Map[string, int]
	e := m.Edit()
	fmt.Println(e.Insert("tea", 3))
	err := e.Insert("tea", 5)
	fmt.Println(err, errors.Is(err, snapshot.ErrExists))
	fmt.Println(e.Seal().Get("tea"))
	// Output:
	// <nil>
	// snapshot: tea: key exists true
	// 3 true
}

// Two branches of one map become one. Where both have written a key, here their sum stays.
func ExampleEditor_Merge() {
	var base *snapshot.Map[string, int]
	ours, theirs := base.Edit(), base.Edit()
	ours.Set("tea", 5)
	theirs.Set("tea", 4)
	theirs.Set("milk", 1)
	type conflict = snapshot.Conflict[string, int]
	add := func(c conflict) (int, bool, error) {
		our, _ := c.Ours() // 0 if our side removed the key
		their, _ := c.Theirs()
		was, _ := c.Base() // here both have added it
		return our + their - was, true, nil
	}
	err := ours.Merge(base, theirs.Seal(), add)
	fmt.Println(maps.Collect(ours.Seal().All()), err)
	// Output: map[milk:1 tea:9] <nil>
}

// An error of the function leaves the row as it was. An absent key is ErrNotFound.
func ExampleEditor_Modify() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3}))
	fmt.Println(err)
	e := m.Edit()
	fmt.Println(e.Modify("tea", func(n *int) error {
		*n = 0
		return errors.New("not today")
	}))
	fmt.Println(e.Modify("milk", func(n *int) error { *n++; return nil }))
	fmt.Println("the same map:", e.Seal() == m)
	// Output:
	// <nil>
	// not today
	// snapshot: milk: key not found
	// the same map: true
}

// Seal ends the edit. The map that it began with is returned if no key was changed.
func ExampleEditor_Seal() {
	var m *snapshot.Map[string, int]
	e := m.Edit()
	e.Set("tea", 3)
	m = e.Seal()
	e = m.Edit()
	fmt.Println("deleted:", e.Delete("milk"), "the same map:", e.Seal() == m)
	// Output: deleted: false the same map: true
}

// The Editor reads what it has written. The map that it began with never changes.
func ExampleEditor_Set() {
	m := snapshot.New[string](snapshot.Options[int]{})
	e := m.Edit()
	e.Set("tea", 3)
	fmt.Println(e.Get("tea"))
	fmt.Println(m.Get("tea"))
	fmt.Println(e.Err()) // what a Set could not store
	// Output:
	// 3 true
	// 0 false
	// <nil>
}

// Take removes a row and returns its value.
func ExampleEditor_Take() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3}))
	fmt.Println(err)
	e := m.Edit()
	fmt.Println(e.Take("tea"))
	fmt.Println(e.Take("tea"))
	// Output:
	// <nil>
	// 3 true
	// 0 false
}

// A count of words: the function gets a zero value where the key is absent.
func ExampleEditor_Upsert() {
	var m *snapshot.Map[string, int]
	e := m.Edit()
	for _, word := range []string{"tea", "milk", "tea"} {
		if err := e.Upsert(word, func(n *int, found bool) error {
			*n++
			return nil
		}); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(maps.Collect(e.Seal().All()))
	// Output: map[milk:1 tea:2]
}

// All rows, with the revision of each. Shared is the value without a clone, to be read only.
func ExampleMap_Rows() {
	m, err := snapshot.Collect(snapshot.Options[[]string]{},
		maps.All(map[string][]string{"ada": {"math", "poetry"}}))
	e := m.Edit()
	e.Set("bob", []string{"tea"})
	next := e.Seal()
	newer := 0
	for row := range next.Rows() {
		if row.Revision() > m.Version() {
			newer++
			fmt.Println(row.Key(), "is new, with", len(row.Shared()), "tags")
		}
	}
	fmt.Println(newer, "of", next.Len(), err)
	// Output:
	// bob is new, with 1 tags
	// 1 of 2 <nil>
}

// Values without their keys.
func ExampleMap_Values() {
	stock := map[string]int{"tea": 3, "milk": 1, "rice": 7}
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(stock))
	sum := 0
	for n := range m.Values() {
		sum += n
	}
	fmt.Println(sum, err)
	// Output: 11 <nil>
}

// Lookups without a clone: the tags are counted, and not changed.
func ExampleShared() {
	m, err := snapshot.Collect(snapshot.Options[[]string]{},
		maps.All(map[string][]string{"ada": {"math", "poetry"}, "bob": {"tea"}}))
	tags, ok := m.Shared().Get("ada")
	fmt.Println(len(tags), ok, err)
	names := []string{"bob", "cyd", "ada"}
	for i, tags := range m.Shared().GetMany(names) {
		fmt.Println(names[i], tags[0])
	}
	// Output:
	// 2 true <nil>
	// bob tea
	// ada math
}

// For how many versions a value was there before it was changed.
func ExampleChange_Rows() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3}))
	e := m.Edit()
	e.Set("milk", 1)
	before := e.Seal()
	e = before.Edit()
	e.Set("tea", 2)
	for c := range e.Seal().Diff(before) {
		was, is := c.Rows()
		fmt.Println(c, "after", is.Revision()-was.Revision(), "versions")
	}
	fmt.Println(err)
	// Output:
	// changed "tea" after 2 versions
	// <nil>
}

// Of two texts the longer one stays. Rows have all three sides, to be read without a clone.
func ExampleConflict_Rows() {
	base, err := snapshot.Collect(snapshot.Options[[]string]{},
		maps.All(map[string][]string{"note": {"tea"}}))
	fmt.Println(err)
	ours, theirs := base.Edit(), base.Edit()
	ours.Set("note", []string{"tea", "milk"})
	theirs.Set("note", []string{"rice"})

	type conflict = snapshot.Conflict[string, []string]
	longer := func(c conflict) ([]string, bool, error) {
		was, our, their := c.Rows()
		fmt.Println(len(was.Shared()), len(our.Shared()), len(their.Shared()))
		if len(our.Shared()) >= len(their.Shared()) {
			return our.Value(), true, nil
		}
		return their.Value(), true, nil
	}
	fmt.Println(ours.Merge(base, theirs.Seal(), longer))
	fmt.Println(ours.Get("note"))
	// Output:
	// <nil>
	// 1 2 1
	// <nil>
	// [tea milk] true
}

// Reads of an edit: what was there, with all that the edit has written so far.
func ExampleEditor_reads() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3, "milk": 1}))
	e := m.Edit()
	e.Set("tea", 4)
	e.Delete("milk")
	fmt.Println(e.Len(), e.Has("milk"), maps.Collect(e.All()), err)
	fmt.Println("makes version", e.Version())
	fmt.Println("pending:", e.Revision("tea") == snapshot.Pending)
	fmt.Println(e.Seal().Revision("tea"))
	// Output:
	// 1 false map[tea:4] <nil>
	// makes version 2
	// pending: true
	// 2
}

// Content that is read anew takes the place of all that was there.
func ExampleEditor_SetAll() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3, "milk": 1}))
	e := m.Edit()
	e.Clear()
	e.SetAll(maps.All(map[string]int{"rice": 7, "tea": 3}))
	fmt.Println(maps.Collect(e.Seal().All()), err)
	// Output: map[rice:7 tea:3] <nil>
}

// A state on the way, here to take back a step that went wrong. The map stays as it is, though the
// edit goes on.
func ExampleEditor_Map() {
	m, err := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"tea": 3}))
	fmt.Println(err)
	e := m.Edit()
	e.Set("milk", 1)
	good := e.Map()
	e.Clear()
	e.Set("milk", -1)
	fmt.Println(maps.Collect(good.All()))
	e = good.Edit()
	e.Set("rice", 7)
	fmt.Println(maps.Collect(e.Seal().All()))
	// Output:
	// <nil>
	// map[milk:1 tea:3]
	// map[milk:1 rice:7 tea:3]
}
