package view_test

import (
	"fmt"
	"slices"

	"github.com/cowstore/cowstore/snapshot/view"
)

// A person is shown by a personView, which command cowview could have generated.
type person struct {
	Name string
	Tags []string
}

type personView struct{ ref view.Ref[person] }

func (personView) ViewOf(r view.Ref[person]) personView { return personView{r} }
func (v personView) Valid() bool                        { return v.ref.Valid() }
func (v personView) Name() string                       { return view.Shared(v.ref).Name }

// What the methods of a generated view call. Only they have the pointer.
func ExampleRef() {
	ref := view.To(&person{"ada", []string{"math", "tea"}})
	fmt.Println(ref.Valid(), view.Ref[person]{}.Valid())
	fmt.Println(view.Shared(ref).Name)
	fmt.Println(view.StringOf(ref), view.LogOf(ref))
	text, err := view.JSONOf(ref)
	fmt.Println(string(text), err)
	own := view.CloneOf(*view.Shared(ref)) // a copy to change
	own.Tags[0] = "chess"
	fmt.Println(view.Shared(ref).Tags[0])
	// Output:
	// true false
	// ada
	// person{Name: "ada", Tags: [2]} [Name=ada Tags=[2]]
	// {"Name":"ada","Tags":["math","tea"]} <nil>
	// math
}

// A view that shows the fields of a struct makes one of each by ViewOf, whatever type it has.
func ExampleViewer() {
	n, of := 5, person{Name: "eve"}
	v := struct {
		Tags   []string
		Ages   map[string]int
		Photo  []byte
		Count  *int
		Any    any
		Head   *person
		People []person
		Team   []*person
		ByName map[string]person
		ByID   map[int]*person
	}{[]string{"tea"}, map[string]int{"ada": 36}, []byte("jpg"), &n, []int{7},
		&of, []person{of}, []*person{&of},
		map[string]person{"eve": of}, map[int]*person{1: &of}}

	fmt.Println(view.Slice[string]{}.ViewOf(view.To(&v.Tags)))
	fmt.Println(view.Map[string, int]{}.ViewOf(view.To(&v.Ages)))
	fmt.Println(view.Bytes{}.ViewOf(view.To(&v.Photo)))
	fmt.Println(view.Pointer[int]{}.ViewOf(view.To(&v.Count)))
	fmt.Println(view.Cloned[any]{}.ViewOf(view.To(&v.Any)).Get())

	fmt.Println(view.PointerViews[person, personView]{}.ViewOf(view.To(&v.Head)))
	fmt.Println(view.SliceViews[person, personView]{}.ViewOf(view.To(&v.People)))
	fmt.Println(view.SlicePointers[person, personView]{}.ViewOf(view.To(&v.Team)))
	byName, byID := view.To(&v.ByName), view.To(&v.ByID)
	fmt.Println(view.MapViews[string, person, personView]{}.ViewOf(byName))
	fmt.Println(view.MapPointers[int, person, personView]{}.ViewOf(byID))
	// Output:
	// [tea]
	// [1 key]
	// [3 bytes]
	// 5
	// [7]
	// [*view_test.person]
	// [1 element]
	// [1 element]
	// [1 key]
	// [1 key]
}

// Views of structs in a slice, read as a slice is.
func ExampleSliceViews() {
	people := view.SliceViewsOf[personView](
		[]person{{Name: "ada"}, {Name: "bob"}, {Name: "cyd"}})
	for i, p := range people.All() {
		fmt.Println(i, p.Name())
	}
	for p := range people.Sub(1, 3).Values() {
		fmt.Println("after the first:", p.Name())
	}
	sorted := people.AppendTo(nil) // of views, which are small
	slices.Reverse(sorted)
	fmt.Println(sorted[0].Name(), people.At(0).Name())
	// Output:
	// 0 ada
	// 1 bob
	// 2 cyd
	// after the first: bob
	// after the first: cyd
	// cyd ada
}

// The elements are pointers, and the views are of what they point to. That of nil is not Valid.
func ExampleSlicePointersOf() {
	people := view.SlicePointersOf[personView](
		[]*person{{Name: "ada"}, nil, {Name: "cyd"}})
	for i, p := range people.All() {
		fmt.Println(i, p.Valid())
	}
	names := 0
	for p := range people.Sub(1, 3).Values() {
		if p.Valid() {
			names++
		}
	}
	fmt.Println(names, people.At(0).Name(), people.AppendTo(nil)[2].Name())
	// Output:
	// 0 true
	// 1 false
	// 2 true
	// 1 ada cyd
}

// Views of structs in a map.
func ExampleMapViewsOf() {
	people := view.MapViewsOf[personView](
		map[int]person{1: {Name: "ada"}, 2: {Name: "bob"}})
	p, ok := people.Get(1)
	fmt.Println(p.Name(), ok)
	p, ok = people.Get(3)
	fmt.Println(p.Valid(), ok)
	ids, letters := 0, 0
	for id, p := range people.All() {
		ids, letters = ids+id, letters+len(p.Name())
	}
	for p := range people.Values() {
		letters += len(p.Name())
	}
	fmt.Println("sum of ids:", ids, "letters:", letters)
	// Output:
	// ada true
	// false false
	// sum of ids: 3 letters: 12
}

// The elements are pointers. A key may be present and its pointer nil.
func ExampleMapPointersOf() {
	people := view.MapPointersOf[personView](
		map[int]*person{1: {Name: "ada"}, 2: nil})
	p, ok := people.Get(1)
	fmt.Println(p.Name(), ok)
	p, ok = people.Get(2)
	fmt.Println(p.Valid(), ok)
	for id, p := range people.All() {
		if p.Valid() {
			fmt.Println(id, p.Name())
		}
	}
	n := 0
	for p := range people.Values() {
		if !p.Valid() {
			n++
		}
	}
	fmt.Println("without a person:", n)
	// Output:
	// ada true
	// false true
	// 1 ada
	// without a person: 1
}

// A pointer that may be nil, to what has a view.
func ExamplePointerViewsOf() {
	boss := view.PointerViewsOf[personView](&person{Name: "ada"})
	p, ok := boss.Get()
	fmt.Println(p.Name(), ok, boss.Valid())
	own := boss.Clone()
	own.Name = "eve"
	fmt.Println(p.Name(), own.Name)
	fmt.Println(view.PointerViewsOf[personView, person](nil).Valid())
	// Output:
	// ada true true
	// ada eve
	// false
}

// A view that would give away what can be modified is refused.
func ExampleCheck() {
	fmt.Println(view.Check[view.Slice[string]]())
	fmt.Println(view.Check[view.Slice[[]int]]())
	fmt.Println(view.Check[view.SliceViews[[]int, view.Slice[int]]]())
	// Output:
	// <nil>
	// a view.Slice hands out a []int as it is, which can be modified: use a view of views, or of pointers
	// <nil>
}

// A generated Clone copies fields one by one, unless two of them refer to the same memory.
func ExampleMeet() {
	array := [4]int{}
	n, ages := 1, map[string]int{}
	left, right, all := array[:2:2], array[2:], array[:]
	spans := []view.Span{
		view.SliceSpan(left), view.PointerSpan(&n), view.MapSpan(ages),
	}
	fmt.Println("the other half:", view.Meet(append(spans, view.SliceSpan(right))...))
	fmt.Println("the whole array:", view.Meet(append(spans, view.SliceSpan(all))...))
	fmt.Println("the same map:", view.Meet(append(spans, view.MapSpan(ages))...))
	// Output:
	// the other half: false
	// the whole array: true
	// the same map: true
}
