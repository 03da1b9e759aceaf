package filter_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/value"
)

// entry returns an entry with that value and that metadata, or none if it is nil.
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
	fmt.Println(filter.Filter{}.Match(e))
	fmt.Println(filter.Meta("kind").Eq("taste").Match(e))
	fmt.Println(filter.Meta("kind").Eq("plan").Match(e))
	// Output:
	// true
	// true
	// false
}

// An erroneous Filter wants nothing, and so does what it is a part of, Not included.
func ExampleFilter_Err() {
	bad := filter.Meta("kind").Eq(make(chan int))
	e := entry(1, nil)
	fmt.Println(errors.Is(bad.Err(), filter.ErrInvalid),
		errors.Is(bad.Err(), value.ErrUnsupported))
	fmt.Println(bad.Match(e), filter.Not(bad).Match(e))
	// Output:
	// true true
	// false false
}

// Conditions are combined, and used again in others.
func ExampleAnd() {
	e := entry("Lyon by train", map[string]any{"kind": "plan", "year": 2027})
	plan, old := filter.Meta("kind").Eq("plan"), filter.Meta("year").Lt(2020)
	fmt.Println(filter.And(plan, old).Match(e), filter.Or(plan, old).Match(e))
	fmt.Println(filter.And(plan, filter.Not(old)).Match(e))
	fmt.Println(filter.And().Match(e), filter.Or().Match(e)) // without conditions
	// Output:
	// false true
	// true
	// true false
}

// One of two conditions is enough.
func ExampleOr() {
	f := filter.Or(filter.Meta("year").Gte(2027), filter.Meta("kind").Eq("fact"))
	fmt.Println(f.Match(entry(1, map[string]any{"year": 2027})))
	fmt.Println(f.Match(entry(1, map[string]any{"year": 2020, "kind": "fact"})))
	fmt.Println(f.Match(entry(1, nil)))
	// Output:
	// true
	// true
	// false
}

// Not also wants what does not have the place.
func ExampleNot() {
	old := filter.Meta("year").Lt(2020)
	none := entry("no metadata", nil)
	fmt.Println(old.Match(none), filter.Not(old).Match(none),
		filter.Meta("year").Gte(2020).Match(none))
	// Output: false true false
}

// A path has a step for each argument: a key, or the index of an element.
func ExampleMeta() {
	e := entry("hello", map[string]any{
		"from": map[string]any{"names": []string{"Ada", "Augusta"}},
		"a.b":  1,
	})
	fmt.Println(filter.Meta("from", "names", "1").Eq("Augusta").Match(e))
	// a dot is part of a key
	fmt.Println(filter.Meta("from.names.1").Exists().Match(e))
	fmt.Println(filter.Meta("a.b").Exists().Match(e))
	// Output:
	// true
	// false
	// true
}

// Val looks into the value. Without a path it is the value itself.
func ExampleVal() {
	e := entry(map[string]any{"name": "Ada", "age": 36}, nil)
	fmt.Println(filter.Val("age").Gte(18).Match(e))
	ada := map[string]any{"age": 36.0, "name": "Ada"}
	fmt.Println(filter.Val().Eq(ada).Match(e))
	fmt.Println(filter.Val().Eq("tea").Match(entry("tea", nil)))
	// Output:
	// true
	// true
	// true
}

// Numbers are equal by their value, whatever their Go types. A number and a string are not.
func ExampleField_Eq() {
	e := entry(nil, map[string]any{"year": 2027})
	year := filter.Meta("year")
	fmt.Println(year.Eq(2027).Match(e), year.Eq(2027.0).Match(e),
		year.Eq("2027").Match(e))
	// also where there is no month
	fmt.Println(year.Ne(2020).Match(e), filter.Meta("month").Ne(5).Match(e))
	// Output:
	// true true false
	// true true
}

// What has another kind is neither greater nor less.
func ExampleField_Gt() {
	e := entry(nil, map[string]any{"year": 2027, "name": "Lyon"})
	fmt.Println(filter.Meta("year").Gt(2026.5).Match(e),
		filter.Meta("name").Gt("London").Match(e))
	fmt.Println(filter.Meta("name").Gt(1).Match(e),
		filter.Meta("name").Lte(1).Match(e))
	// Output:
	// true true
	// false false
}

// In is Eq with one of several.
func ExampleField_In() {
	f := filter.Meta("kind").In("plan", "taste")
	fmt.Println(f.Match(entry(nil, map[string]any{"kind": "plan"})))
	fmt.Println(f.Match(entry(nil, map[string]any{"kind": "fact"})))
	plan := entry(nil, map[string]any{"kind": "plan"})
	fmt.Println(filter.Meta("kind").In().Match(plan)) // one of none
	// Output:
	// true
	// false
	// false
}

// Contains looks for an element of a list, a key of a map, or a part of a string.
func ExampleField_Contains() {
	tags, by := []string{"taste", "drink"}, map[string]any{"bob": 1}
	e := entry("Ada likes tea", map[string]any{"tags": tags, "by": by})
	fmt.Println(filter.Meta("tags").Contains("taste").Match(e),
		filter.Meta("tags").Contains("tast").Match(e))
	fmt.Println(filter.Meta("by").Contains("bob").Match(e))
	fmt.Println(filter.Val().Contains("likes").Match(e),
		filter.Val().Contains("Likes").Match(e))
	// Output:
	// true false
	// true
	// true false
}

// A place with Null in it is there.
func ExampleField_Exists() {
	e := entry(nil, map[string]any{"year": nil})
	fmt.Println(filter.Meta("year").Exists().Match(e),
		filter.Meta("month").Exists().Match(e))
	fmt.Println(filter.Meta().Exists().Match(entry("no metadata", nil)))
	// Output:
	// true false
	// false
}

// Created, Updated and Expires compare with a time.Time. What never expires has no such place.
func ExampleUpdated() {
	noon := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	e := &filter.Entry{Created: noon.Add(-48 * time.Hour), Updated: noon}
	fmt.Println(filter.Updated().Gte(noon).Match(e),
		filter.Updated().Lt(noon).Match(e))
	fmt.Println(filter.Created().Lt(noon).Match(e),
		filter.Expires().Exists().Match(e))
	// Output:
	// true false
	// true false
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
