package filter_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/value"
)

// entry returns an entry with the value v, and with metadata unless that is nil.
func entry(v any, metadata map[string]any) *filter.Entry {
	var e filter.Entry
	var err, err2 error
	e.Value, err = value.Freeze(v)
	if metadata != nil {
		e.Metadata, err2 = value.Freeze(metadata)
	}
	if err := errors.Join(err, err2); err != nil {
		fmt.Println(err)
	}
	return &e
}

// A search asks Match about entries. The zero Filter wants every entry.
func ExampleFilter_Match() {
	e := entry("Ada likes tea", map[string]any{"kind": "taste"})
	fmt.Println("everything:", filter.Filter{}.Match(e))
	fmt.Println("tastes:", filter.Meta("kind").Eq("taste").Match(e))
	fmt.Println("plans:", filter.Meta("kind").Eq("plan").Match(e))
	// Output:
	// everything: true
	// tastes: true
	// plans: false
}

// An erroneous Filter wants nothing, and so does what it is a part of, Not included.
func ExampleFilter_Err() {
	bad := filter.Meta("kind").Eq(make(chan int))
	e := entry(1, nil)
	fmt.Println(bad.Err())
	fmt.Println("ErrInvalid:", errors.Is(bad.Err(), filter.ErrInvalid))
	fmt.Println("ErrUnsupported:", errors.Is(bad.Err(), value.ErrUnsupported))
	fmt.Println("wanted:", bad.Match(e), filter.Not(bad).Match(e))
	// Output:
	// memory: erroneous filter on metadata kind: chan int: not a JSON-like value
	// ErrInvalid: true
	// ErrUnsupported: true
	// wanted: false false
}

// Conditions are combined, and used again in others.
func ExampleAnd() {
	e := entry("Lyon by train", map[string]any{"kind": "plan", "year": 2027})
	plan, old := filter.Meta("kind").Eq("plan"), filter.Meta("year").Lt(2020)
	fmt.Println("plan and old:", filter.And(plan, old).Match(e))
	fmt.Println("plan or old:", filter.Or(plan, old).Match(e))
	fmt.Println("plan and not old:", filter.And(plan, filter.Not(old)).Match(e))
	fmt.Println("all of none:", filter.And().Match(e))
	fmt.Println("one of none:", filter.Or().Match(e))
	// Output:
	// plan and old: false
	// plan or old: true
	// plan and not old: true
	// all of none: true
	// one of none: false
}

// One of two conditions is enough.
func ExampleOr() {
	f := filter.Or(filter.Meta("year").Gte(2027), filter.Meta("kind").Eq("fact"))
	for _, metadata := range []map[string]any{
		{"year": 2027}, {"year": 2020, "kind": "fact"}, {"year": 2020},
	} {
		fmt.Println(metadata, f.Match(entry(1, metadata)))
	}
	// Output:
	// map[year:2027] true
	// map[kind:fact year:2020] true
	// map[year:2020] false
}

// Not also wants what does not have the place.
func ExampleNot() {
	old := filter.Meta("year").Lt(2020)
	none := entry("no metadata", nil)
	fmt.Println("year < 2020:", old.Match(none))
	fmt.Println("not year < 2020:", filter.Not(old).Match(none))
	fmt.Println("year >= 2020:", filter.Meta("year").Gte(2020).Match(none))
	// Output:
	// year < 2020: false
	// not year < 2020: true
	// year >= 2020: false
}

// A path has a step for each argument: a key, or the index of an element.
func ExampleMeta() {
	e := entry("hello", map[string]any{
		"from": map[string]any{"names": []string{"Ada", "Augusta"}},
		"a.b":  1,
	})
	second := filter.Meta("from", "names", "1")
	fmt.Println("second name is Augusta:", second.Eq("Augusta").Match(e))
	// a dot is part of a key
	fmt.Println("key from.names.1:", filter.Meta("from.names.1").Exists().Match(e))
	fmt.Println("key a.b:", filter.Meta("a.b").Exists().Match(e))
	// Output:
	// second name is Augusta: true
	// key from.names.1: false
	// key a.b: true
}

// Val looks into the value. Without a path it is the value itself.
func ExampleVal() {
	e := entry(map[string]any{"name": "Ada", "age": 36}, nil)
	fmt.Println("age >= 18:", filter.Val("age").Gte(18).Match(e))
	fmt.Println("age >= 65:", filter.Val("age").Gte(65).Match(e))
	ada := map[string]any{"age": 36.0, "name": "Ada"}
	fmt.Println("all of it:", filter.Val().Eq(ada).Match(e))
	fmt.Println("tea:", filter.Val().Eq("tea").Match(entry("tea", nil)))
	// Output:
	// age >= 18: true
	// age >= 65: false
	// all of it: true
	// tea: true
}

// Numbers are equal by their value, whatever their Go types. A number and a string are not.
func ExampleField_Eq() {
	e := entry(nil, map[string]any{"year": 2027})
	year := filter.Meta("year")
	for _, v := range []any{2027, 2027.0, "2027"} {
		fmt.Printf("%T %v: %v\n", v, v, year.Eq(v).Match(e))
	}
	fmt.Println("not 2020:", year.Ne(2020).Match(e))
	fmt.Println("not May:", filter.Meta("month").Ne(5).Match(e)) // there is no month
	// Output:
	// int 2027: true
	// float64 2027: true
	// string 2027: false
	// not 2020: true
	// not May: true
}

// What has another kind is neither greater nor less.
func ExampleField_Gt() {
	e := entry(nil, map[string]any{"year": 2027, "name": "Lyon"})
	year, name := filter.Meta("year"), filter.Meta("name")
	fmt.Println("2027 > 2026.5:", year.Gt(2026.5).Match(e))
	fmt.Println("Lyon > London:", name.Gt("London").Match(e))
	fmt.Println("Lyon > 1:", name.Gt(1).Match(e))
	fmt.Println("Lyon <= 1:", name.Lte(1).Match(e))
	// Output:
	// 2027 > 2026.5: true
	// Lyon > London: true
	// Lyon > 1: false
	// Lyon <= 1: false
}

// In is Eq with one of several.
func ExampleField_In() {
	f := filter.Meta("kind").In("plan", "taste")
	plan := entry(nil, map[string]any{"kind": "plan"})
	fact := entry(nil, map[string]any{"kind": "fact"})
	fmt.Println("plan:", f.Match(plan))
	fmt.Println("fact:", f.Match(fact))
	fmt.Println("one of none:", filter.Meta("kind").In().Match(plan))
	// Output:
	// plan: true
	// fact: false
	// one of none: false
}

// Contains looks for an element of a list, a key of a map, or a part of a string.
func ExampleField_Contains() {
	tags, by := []string{"taste", "drink"}, map[string]any{"bob": 1}
	e := entry("Ada likes tea", map[string]any{"tags": tags, "by": by})
	in := filter.Meta("tags")
	fmt.Println("element taste:", in.Contains("taste").Match(e))
	fmt.Println("element tast:", in.Contains("tast").Match(e))
	fmt.Println("key bob:", filter.Meta("by").Contains("bob").Match(e))
	fmt.Println("part likes:", filter.Val().Contains("likes").Match(e))
	fmt.Println("part Likes:", filter.Val().Contains("Likes").Match(e))
	// Output:
	// element taste: true
	// element tast: false
	// key bob: true
	// part likes: true
	// part Likes: false
}

// A place with Null in it is there.
func ExampleField_Exists() {
	e := entry(nil, map[string]any{"year": nil})
	fmt.Println("year:", filter.Meta("year").Exists().Match(e))
	fmt.Println("month:", filter.Meta("month").Exists().Match(e))
	none := entry("no metadata", nil)
	fmt.Println("metadata:", filter.Meta().Exists().Match(none))
	// Output:
	// year: true
	// month: false
	// metadata: false
}

// Created, Updated and Expires compare with a time.Time. What never expires has no such place.
func ExampleUpdated() {
	noon := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	e := &filter.Entry{Created: noon.Add(-48 * time.Hour), Updated: noon}
	fmt.Println("updated since noon:", filter.Updated().Gte(noon).Match(e))
	fmt.Println("updated before noon:", filter.Updated().Lt(noon).Match(e))
	fmt.Println("created before noon:", filter.Created().Lt(noon).Match(e))
	fmt.Println("expires:", filter.Expires().Exists().Match(e))
	// Output:
	// updated since noon: true
	// updated before noon: false
	// created before noon: true
	// expires: false
}

// An entry is valid from when it came to be until it expires.
func ExampleValidAt() {
	noon := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	e := &filter.Entry{Created: noon, Updated: noon, Expires: noon.Add(time.Hour)}
	for _, t := range []time.Time{noon.Add(-1), noon, noon.Add(time.Hour)} {
		fmt.Println(t.Format(time.TimeOnly), filter.ValidAt(t).Match(e))
	}
	// Output:
	// 11:59:59 false
	// 12:00:00 true
	// 13:00:00 false
}
