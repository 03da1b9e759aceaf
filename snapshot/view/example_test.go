package view_test

import (
	"fmt"

	"github.com/cowstore/cowstore/snapshot/view"
)

// Lists of lists: each element has a view too.
func ExampleSliceViewsOf() {
	rows := view.SliceViewsOf[view.Slice[string]]([][]string{{"a", "b"}, {"c"}})
	fmt.Println(rows.Len(), rows.At(0).At(1))
	// Output: 2 b
}

// What is in the map can be read, and nothing be written to it.
func ExampleMapOf() {
	ages := view.MapOf(map[string]int{"ada": 36})
	age, ok := ages.Get("ada")
	fmt.Println(age, ok, ages.Len())
	own := ages.Clone() // a copy, to be changed and set
	own["bob"] = 27
	fmt.Println(ages.Has("bob"))
	// Output:
	// 36 true 1
	// false
}
