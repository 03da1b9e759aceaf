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

// The iteration has the same order each time, and that is not an order of keys.
func ExampleMap_All() {
	stock := map[string]int{"tea": 3, "milk": 1}
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(stock))
	fmt.Println(maps.Equal(maps.Collect(m.All()), stock), err)
	// Output: true <nil>
}

// Each Editor begins with the map that it was made of. So two edits are two branches.
func ExampleMap_Edit() {
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(map[string]int{"tea": 3}))
	one, two := m.Edit(), m.Edit()
	one.Set("tea", 2)
	two.Delete("tea")
	fmt.Println(m, one.Seal(), two.Seal(), err)
	// Output: snapshot@1 (1 row) snapshot@2 (1 row) snapshot@2 (0 rows) <nil>
}

// Get of an absent key returns the zero value and false. So does Get of a nil map.
func ExampleMap_Get() {
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(map[string]int{"tea": 0}))
	fmt.Println(err)
	fmt.Println(m.Get("tea"))
	fmt.Println(m.Get("milk"))
	m = nil
	fmt.Println(m.Get("tea"))
	// Output:
	// <nil>
	// 0 true
	// 0 false
	// 0 false
}

// Many keys in one call. What comes is the place of each key that is present, and its value.
func ExampleMap_GetMany() {
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(map[string]int{"tea": 3, "milk": 1}))
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
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(map[string]int{"tea": 3}))
	e := m.Edit()
	e.Set("milk", 1)
	next := e.Seal()
	fmt.Println(next.Revision("tea"), next.Revision("milk"), next.Revision("rice"), err)
	// Output: 1 2 0 <nil>
}

// Two rows are equal if they are one write, whatever the values are.
func ExampleMap_Row() {
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(map[string]int{"tea": 3, "milk": 1}))
	e := m.Edit()
	e.Set("tea", 3)
	next := e.Seal()
	for _, key := range []string{"tea", "milk"} {
		was, _ := m.Row(key)
		is, ok := next.Row(key)
		fmt.Println(is, is.Value(), ok, is == was)
	}
	fmt.Println(err)
	// Output:
	// "tea"@2 3 true false
	// "milk"@1 1 true true
	// <nil>
}

// Where a key was added there is no old value, and where it was removed no new one.
func ExampleChange_New() {
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(map[string]int{"tea": 3}))
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
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(map[string]int{"tea": 3}))
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
	err := ours.Merge(base, theirs.Seal(), func(c snapshot.Conflict[string, int]) (int, bool, error) {
		our, _ := c.Ours() // 0 if our side removed the key
		their, _ := c.Theirs()
		return our + their, true, nil
	})
	fmt.Println(maps.Collect(ours.Seal().All()), err)
	// Output: map[milk:1 tea:9] <nil>
}

// An error of the function leaves the row as it was. An absent key is ErrNotFound.
func ExampleEditor_Modify() {
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(map[string]int{"tea": 3}))
	fmt.Println(err)
	e := m.Edit()
	fmt.Println(e.Modify("tea", func(n *int) error { *n = 0; return errors.New("not today") }))
	fmt.Println(e.Modify("milk", func(n *int) error { *n++; return nil }))
	fmt.Println(e.Seal() == m) // nothing was changed
	// Output:
	// <nil>
	// not today
	// snapshot: milk: key not found
	// true
}

// Seal ends the edit. The map that it began with is returned if no key was changed.
func ExampleEditor_Seal() {
	var m *snapshot.Map[string, int]
	e := m.Edit()
	e.Set("tea", 3)
	m = e.Seal()
	e = m.Edit()
	fmt.Println(e.Delete("milk"), e.Seal() == m)
	// Output: false true
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
	m, err := snapshot.Collect(snapshot.Options[int]{}, maps.All(map[string]int{"tea": 3}))
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
		if err := e.Upsert(word, func(n *int, found bool) error { *n++; return nil }); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(maps.Collect(e.Seal().All()))
	// Output: map[milk:1 tea:2]
}
