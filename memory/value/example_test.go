package value_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/memory/value"
)

// A Value is what was there when it was frozen. What cannot be frozen is an error that says where.
func ExampleFreeze() {
	tags := []string{"tea", "chess"}
	v, err := value.Freeze(map[string]any{"name": "Ada", "tags": tags})
	tags[0] = "coffee"
	fmt.Println(v.Key("tags").Index(0), err)

	_, err = value.Freeze(map[string]any{"tags": []any{"tea", make(chan int)}})
	var where *value.Error
	if errors.As(err, &where) {
		fmt.Println(where.Path, where.Type, errors.Is(err, value.ErrUnsupported))
	}
	// Output:
	// tea <nil>
	// tags.1 chan int true
}

// As converts as JSON would. What does not fit is an error.
func ExampleAs() {
	v, err := value.Freeze([]any{1, 2.0, 3})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(value.As[[]int64](v))
	_, err = value.As[[]int64](v.Index(0))
	fmt.Println(err != nil)
	_, err = value.As[[]int64](v.Index(7))
	fmt.Println(errors.Is(err, value.ErrAbsent))
	// Output:
	// [1 2 3] <nil>
	// true
	// true
}

// Parse makes a Value of JSON. The limit is on the memory that it takes, not on its text.
func ExampleParse() {
	v, err := value.Parse([]byte(`{"name": "Ada", "born": 1815, "pi": 3.14}`), 1<<20)
	fmt.Println(v.Key("name"), v.Key("born").Kind(), v.Key("pi").Kind(), err)
	_, err = value.Parse([]byte(`[1, 2, 3, 4, 5]`), 100)
	fmt.Println(errors.Is(err, value.ErrTooLarge))
	// Output:
	// Ada int float <nil>
	// true
}

// What Append has written Decode reads, and returns what follows.
func ExampleDecode() {
	v, err := value.Freeze(map[string]any{"likes": []string{"tea"}})
	b, err2 := value.Append(nil, v)
	w, rest, err3 := value.Decode(append(b, "more"...))
	fmt.Println(value.Equal(v, w), string(rest), errors.Join(err, err2, err3))
	fmt.Printf("%T %T\n", v.Key("likes").Any(), w.Key("likes").Any())
	_, _, err = value.Decode(b[:len(b)-1])
	fmt.Println(errors.Is(err, value.ErrCorrupt))
	// Output:
	// true more <nil>
	// []string []interface {}
	// true
}

// Equal goes by what is shown, whatever the Go types.
func ExampleEqual() {
	a, err := value.Freeze(map[string]any{"n": 1, "tags": []string{"x"}})
	b, err2 := value.Freeze(map[string]any{"n": 1.0, "tags": []any{"x"}})
	c, err3 := value.Freeze(map[string]any{"n": "1", "tags": []any{"x"}})
	fmt.Println(value.Equal(a, b), value.Equal(a, c), errors.Join(err, err2, err3))
	// Output: true false <nil>
}

// Numbers have an order, and so have strings. A number and a string have none.
func ExampleCompare() {
	v, err := value.Freeze([]any{7, 7.5, "a", "b"})
	fmt.Println(value.Compare(v.Index(0), v.Index(1)))
	fmt.Println(value.Compare(v.Index(3), v.Index(2)))
	fmt.Println(value.Compare(v.Index(0), v.Index(2)))
	fmt.Println(err)
	// Output:
	// -1 true
	// 1 true
	// 0 false
	// <nil>
}

// Where a path leads nowhere the Value is Absent, which Exists tells from Null.
func ExampleValue_Path() {
	v, err := value.Parse([]byte(`{"user": {"cities": ["London", "Paris"], "diet": null}, "a.b": 1}`), 1<<20)
	fmt.Println(v.Path("user.cities.1"), v.Path("user.cities.2"), v.Path("user.name.first").Exists())
	fmt.Println(v.Path("user.diet"), v.Path("user.diet").Exists())
	fmt.Println(v.Path("a.b"), v.Key("a.b"), err) // a dot in a key is for Key
	// Output:
	// Paris absent false
	// null true
	// absent 1 <nil>
}

// A chain needs no checks: what is not there, or is something else, has no keys and no elements.
func ExampleValue_Key() {
	v, err := value.Freeze(map[string]any{"user": map[string]any{"tags": []string{"tea"}}})
	fmt.Printf("%q\n", v.Key("user").Key("tags").Index(0).String())
	fmt.Printf("%q\n", v.Key("team").Key("tags").Index(0).String())
	fmt.Println(v.Key("user").Key("age").Int(), v.Key("user").Len(), err)
	// Output:
	// "tea"
	// ""
	// 0 1 <nil>
}

// Index is for lists. It does not count from the end.
func ExampleValue_Index() {
	v, err := value.Freeze([]string{"tea", "chess"})
	fmt.Println(v.Index(1), v.Index(2), v.Index(-1), v.Len(), err)
	// Output: chess absent absent 2 <nil>
}

// The keys come in order.
func ExampleValue_All() {
	v, err := value.Freeze(map[string]int{"b": 2, "c": 3, "a": 1})
	for key, n := range v.All() {
		fmt.Println(key, n.Int())
	}
	fmt.Println(err)
	// Output:
	// a 1
	// b 2
	// c 3
	// <nil>
}

// A loop over what is not a list has no rounds.
func ExampleValue_Values() {
	v, err := value.Freeze(map[string]any{"tags": []string{"tea", "chess"}})
	for i, tag := range v.Key("tags").Values() {
		fmt.Println(i, tag)
	}
	for range v.Key("likes").Values() {
		fmt.Println("never")
	}
	fmt.Println(err)
	// Output:
	// 0 tea
	// 1 chess
	// <nil>
}

// Texts has the strings at any depth, but no keys.
func ExampleValue_Texts() {
	v, err := value.Freeze(map[string]any{"name": "Ada", "age": 36, "tags": []string{"tea", "chess"}})
	for text := range v.Texts() {
		fmt.Println(text)
	}
	fmt.Println(err)
	// Output:
	// Ada
	// tea
	// chess
	// <nil>
}

// Any gives a copy with the Go types that came in.
func ExampleValue_Any() {
	v, err := value.Freeze(map[string]int{"visits": 1})
	counts := v.Any().(map[string]int)
	counts["visits"]++
	fmt.Println(counts["visits"], v.Key("visits"), err)
	// Output: 2 1 <nil>
}

// Short and fmt say little of what is large. MarshalJSON has all of it.
func ExampleValue_Short() {
	v, err := value.Freeze(map[string]any{"text": "a very long story", "n": 7})
	fmt.Println(v.Key("text").Short(6))
	fmt.Println(v.Key("n").Short(6), v.Short(6), v)
	b, err2 := json.Marshal(v)
	fmt.Println(string(b), errors.Join(err, err2))
	// Output:
	// a very… (17 bytes)
	// 7 map of 2 map of 2
	// {"n":7,"text":"a very long story"} <nil>
}

// A channel in a value is shared by all who ask for it, and cannot be exported.
func ExampleFreezeHandles() {
	done := make(chan int, 1)
	v, err := value.FreezeHandles(map[string]any{"done": done})
	fmt.Println(v.Key("done").Kind(), v.Key("done").Any() == any(done), err)
	_, err = json.Marshal(v)
	fmt.Println(errors.Is(err, value.ErrUnsupported))
	// Output:
	// handle true <nil>
	// true
}
