package cow_test

import (
	"fmt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot/view"
)

// Slices and maps of plain elements have views in package view, and so have lists of lists:
// nothing needs to be generated.
func ExampleNewViews() {
	tags := cow.New[string](cow.Options[[]string]{})
	lists := cow.NewViews[view.Slice[string]](tags) // made once, as the table is

	tags.Set("ada", []string{"math", "poetry"})
	before := tags.Load()
	tags.Set("ada", []string{"math", "poetry", "engines"})

	list, ok := lists.Get("ada") // no clone, and no way to write
	fmt.Println(ok, list.Len(), list.At(0), view.Contains(list, "engines"))
	for tag := range list.Values() {
		fmt.Print(tag, " ")
	}
	was, _ := lists.In(before).Get("ada") // in a snapshot
	fmt.Println(was.Len())

	own := list.Clone() // a copy, to be changed and set
	own[0] = "maths"
	tags.Set("ada", own)
	fmt.Println(tags.Get("ada"))
	// Output:
	// true 3 math true
	// math poetry engines 2
	// [maths poetry engines] true
}

// The values are pointers, and a view is of what one points to.
func ExampleNewPointerViews() {
	tags := cow.New[string](cow.Options[*[]string]{})
	lists := cow.NewPointerViews[view.Slice[string]](tags)

	tags.Set("ada", &[]string{"math", "poetry"})
	list, ok := lists.Get("ada")
	fmt.Println(list.Len(), list.At(1), ok)
	// Output:
	// 2 poetry true
}

// Views are of whatever has rows: a table, many keys of it, a range of an index.
func ExampleViews() {
	tags := cow.New[string](cow.Options[[]string]{})
	byKey := cow.NewOrder(tags, "key")
	lists := cow.NewViews[view.Slice[string]](tags)
	tags.Set("ada", []string{"math", "poetry"})
	tags.Set("bob", []string{"tea"})
	tags.Set("cyd", nil)

	all := 0
	for _, list := range lists.All() {
		all += list.Len()
	}
	fmt.Println(all, "tags")
	keys := []string{"bob", "dan", "ada"}
	for i, list := range lists.GetMany(keys) { // dan is absent
		fmt.Println(keys[i], list.At(0))
	}
	for key, row := range byKey.In(tags.Load()).From("b").All() {
		fmt.Println(key, lists.Row(row).Len())
	}
	// Output:
	// 3 tags
	// bob tea
	// ada math
	// bob 1
	// cyd 0
}
