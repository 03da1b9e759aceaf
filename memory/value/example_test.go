package value_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

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
	fmt.Println("does not fit:", err != nil)
	_, err = value.As[[]int64](v.Index(7))
	fmt.Println("ErrAbsent:", errors.Is(err, value.ErrAbsent))
	// Output:
	// [1 2 3] <nil>
	// does not fit: true
	// ErrAbsent: true
}

// Parse makes a Value of JSON. The limit is on the memory that it takes, not on its text.
func ExampleParse() {
	ada := `{"name": "Ada", "born": 1815, "pi": 3.14}`
	v, err := value.Parse([]byte(ada), 1<<20)
	fmt.Println(v.Key("name"), v.Key("born").Kind(), v.Key("pi").Kind(), err)
	_, err = value.Parse([]byte(`[1, 2, 3, 4, 5]`), 100)
	fmt.Println("ErrTooLarge:", errors.Is(err, value.ErrTooLarge))
	// Output:
	// Ada int float <nil>
	// ErrTooLarge: true
}

// What Append has written Decode reads, and returns what follows.
func ExampleDecode() {
	v, err := value.Freeze(map[string]any{"likes": []string{"tea"}})
	b, err2 := value.Append(nil, v)
	w, rest, err3 := value.Decode(append(b, "more"...))
	fmt.Println(value.Equal(v, w), string(rest), errors.Join(err, err2, err3))
	fmt.Printf("%T %T\n", v.Key("likes").Any(), w.Key("likes").Any())
	_, _, err = value.Decode(b[:len(b)-1])
	fmt.Println("ErrCorrupt:", errors.Is(err, value.ErrCorrupt))
	// Output:
	// true more <nil>
	// []string []interface {}
	// ErrCorrupt: true
}

// Equal goes by what is shown, whatever the Go types.
func ExampleEqual() {
	a, err := value.Freeze(map[string]any{"n": 1, "tags": []string{"x"}})
	b, err2 := value.Freeze(map[string]any{"n": 1.0, "tags": []any{"x"}})
	c, err3 := value.Freeze(map[string]any{"n": "1", "tags": []any{"x"}})
	fmt.Println("1 and 1.0:", value.Equal(a, b))
	fmt.Println("1 and \"1\":", value.Equal(a, c))
	fmt.Println(errors.Join(err, err2, err3))
	// Output:
	// 1 and 1.0: true
	// 1 and "1": false
	// <nil>
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
	v, err := value.Parse([]byte(`{
		"user": {"cities": ["London", "Paris"], "diet": null},
		"a.b": 1
	}`), 1<<20)
	fmt.Println(v.Path("user.cities.1"), v.Path("user.cities.2"),
		v.Path("user.name.first").Exists())
	fmt.Println(v.Path("user.diet"), v.Path("user.diet").Exists())
	fmt.Println(v.Path("a.b"), v.Key("a.b"), err) // a dot in a key is for Key
	// Output:
	// Paris absent false
	// null true
	// absent 1 <nil>
}

// A chain needs no checks: what is not there, or is something else, has no keys and no elements.
func ExampleValue_Key() {
	v, err := value.Freeze(map[string]any{
		"user": map[string]any{"tags": []string{"tea"}},
	})
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
	v, err := value.Freeze(map[string]any{
		"name": "Ada",
		"age":  36,
		"tags": []string{"tea", "chess"},
	})
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

// Short and fmt say little of what is large, and so does Clip of a string, a key, say. MarshalJSON
// has all of it.
func ExampleValue_Short() {
	v, err := value.Freeze(map[string]any{"text": "a very long story", "n": 7})
	fmt.Println(v.Key("text").Short(6))
	fmt.Println(v.Key("n").Short(6), v.Short(6), v)
	fmt.Println(value.Clip("a/very/long/key", 6))
	b, err2 := json.Marshal(v)
	fmt.Println(string(b), errors.Join(err, err2))
	// Output:
	// a very… (17 bytes)
	// 7 map of 2 map of 2
	// a/very… (15 bytes)
	// {"n":7,"text":"a very long story"} <nil>
}

// There is a method for each kind. For a Value of another kind, or none, it returns zero.
func ExampleValue_kinds() {
	v, err := value.Freeze(map[string]any{
		"admin": true,
		"born":  time.Date(1815, 12, 10, 0, 0, 0, 0, time.UTC),
		"diet":  nil,
		"key":   []byte{0xc0, 0xff, 0xee},
		"name":  "Ada",
		"score": 0.75,
	})
	for name, v := range v.All() {
		switch v.Kind() {
		case value.Bool:
			fmt.Println(name, v.Bool())
		case value.Time:
			fmt.Println(name, v.Time().Format(time.DateOnly))
		case value.Bytes:
			fmt.Printf("%v %x\n", name, v.Bytes())
		case value.Int, value.Uint, value.Float:
			fmt.Println(name, 100*v.Float(), "%")
		default:
			fmt.Println(name, v.Kind(), v.IsNull())
		}
	}
	fmt.Println(v.Key("name").Bool(), v.Key("age").Float(), err)
	// Output:
	// admin true
	// born 1815-12-10
	// diet null true
	// key c0ffee
	// name string false
	// score 75 %
	// false 0 <nil>
}

// A path whose keys may have dots in them is walked in steps.
func ExampleValue_Step() {
	v, err := value.Freeze(map[string]any{
		"hosts": map[string]any{"example.com": []int{80, 443}},
	})
	port := v
	for _, step := range []string{"hosts", "example.com", "1"} {
		port = port.Step(step)
	}
	fmt.Println(port, v.Path("hosts.example.com.1"), err)
	// Output: 443 absent <nil>
}

// Size is what a Value takes in memory, about: a limit on it keeps out what is too large.
func ExampleValue_Size() {
	keep := func(answer any) string {
		v, err := value.Freeze(answer)
		if err != nil {
			return err.Error()
		}
		if v.Size() > 10<<10 {
			return fmt.Sprint("too large: ", v.Short(20))
		}
		return fmt.Sprint("kept: ", v.Short(20))
	}
	fmt.Println(keep("sunny, 21 degrees"))
	fmt.Println(keep(strings.Repeat("very sunny, ", 10_000)))
	fmt.Println(keep(make([]string, 10_000))) // of empty strings
	// Output:
	// kept: sunny, 21 degrees
	// too large: very sunny, very sun… (120000 bytes)
	// too large: list of 10000
}

// CheckJSON finds what json.Marshal would replace without an error.
func ExampleValue_CheckJSON() {
	page := map[string]any{"url": "example.com", "title": "caf\xe9"} // Latin-1
	v, err := value.Freeze(page)
	text, err2 := json.Marshal(v)
	var back struct{ Title string }
	fmt.Println(errors.Join(err, err2, json.Unmarshal(text, &back)))
	fmt.Printf("%+q\n", back.Title)

	err = v.CheckJSON()
	var where *value.Error
	if errors.As(err, &where) {
		fmt.Println(where.Path, errors.Is(err, value.ErrUTF8))
	}
	// Output:
	// <nil>
	// "caf\ufffd"
	// title true
}

// A channel in a value is shared by all who ask for it, and cannot be exported.
func ExampleFreezeHandles() {
	done := make(chan int, 1)
	v, err := value.FreezeHandles(map[string]any{"done": done})
	fmt.Println(v.Key("done").Kind(), v.Key("done").Any() == any(done), err)
	_, err = json.Marshal(v)
	fmt.Println("ErrUnsupported:", errors.Is(err, value.ErrUnsupported))
	// Output:
	// handle true <nil>
	// ErrUnsupported: true
}
