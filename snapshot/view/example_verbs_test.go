package view_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cowstore/cowstore/snapshot/view"
)

// A Slice reads as a slice does. What it copies out is the caller's own.
func ExampleSlice() {
	tags := view.SliceOf([]string{"tea", "chess", "trains"})
	fmt.Println(tags.At(1), tags.Sub(1, 3), tags.Len())
	for i, tag := range tags.All() {
		fmt.Println(i, tag)
	}
	own := tags.AppendTo(nil)
	own[0] = "coffee"
	fmt.Println(tags.At(0), view.Contains(tags, "coffee"))
	fmt.Println(slices.Sorted(tags.Values()))
	// Output:
	// chess [chess trains] 3
	// 0 tea
	// 1 chess
	// 2 trains
	// tea false
	// [chess tea trains]
}

// The order of All is random, as that of a map. Sorted keys have one.
func ExampleMap() {
	ages := view.MapOf(map[string]int{"bob": 27, "ada": 36})
	for _, name := range slices.Sorted(ages.Keys()) {
		age, _ := ages.Get(name)
		fmt.Println(name, age)
	}
	fmt.Println(ages.Get("eve"))
	fmt.Println(slices.Sorted(ages.Values()), len(maps.Collect(ages.All())))
	fmt.Println("zero:", view.Map[string, int]{}.IsNil(),
		"empty:", view.MapOf(map[string]int{}).IsNil())
	// Output:
	// ada 36
	// bob 27
	// 0 false
	// [27 36] 2
	// zero: true empty: false
}

// Text, Clone and AppendTo copy. Equal does not.
func ExampleBytes() {
	b := view.BytesOf([]byte("hello"))
	fmt.Println(b.Len(), b.At(0) == 'h', b.Sub(1, 3).Text(),
		b.Equal([]byte("hello")))
	own := b.Clone()
	own[0] = 'j'
	fmt.Println(string(own), b.Text(), string(b.AppendTo([]byte("> "))))
	fmt.Println("nil:", b.IsNil(), "zero:", view.Bytes{}.IsNil())
	text, err := json.Marshal(b)
	fmt.Println(string(text), err)
	// Output:
	// 5 true el true
	// jello hello > hello
	// nil: false zero: true
	// "aGVsbG8=" <nil>
}

// Get tells a nil pointer from one to a zero.
func ExamplePointer() {
	n := 5
	fmt.Println(view.PointerOf(&n).Get())
	fmt.Println(view.Pointer[int]{}.Get())
	fmt.Println(view.PointerOf(&n).Valid(), view.Pointer[int]{}.Valid())
	own := view.PointerOf(&n).Clone()
	*own = 6
	fmt.Println(n, *own)
	// Output:
	// 5 true
	// 0 false
	// true false
	// 5 6
}

// What has no view, such as an interface, is shown by a Cloned. Each Get returns a copy.
func ExampleCloned() {
	var v any = []int{1, 2}
	c := view.Of[view.Cloned[any]](view.To(&v))
	own := c.Get().([]int)
	own[0] = 7
	fmt.Println(own, c.Get())
	fmt.Println(view.Cloned[any]{}.Get())
	// Output:
	// [7 2] [1 2]
	// <nil>
}

// Equal goes as deep as reflect.DeepEqual.
func ExampleEqual() {
	var a, b, c any = []string{"tea"}, []string{"tea"}, []string{"coffee"}
	ref, none := view.To(&a), view.Ref[any]{}
	fmt.Println("tea and tea:", view.Equal(ref, view.To(&b)))
	fmt.Println("tea and coffee:", view.Equal(ref, view.To(&c)))
	fmt.Println("none and none:", view.Equal(none, none))
	fmt.Println("tea and none:", view.Equal(ref, none))
	// Output:
	// tea and tea: true
	// tea and coffee: false
	// none and none: true
	// tea and none: false
}

// Contains is for elements that == compares.
func ExampleContains() {
	n := view.SliceOf([]int{1, 2, 3})
	fmt.Println("2 in", n, view.Contains(n, 2))
	fmt.Println("2 in", n.Sub(2, 3), view.Contains(n.Sub(2, 3), 2))
	// Output:
	// 2 in [1 2 3] true
	// 2 in [3] false
}
