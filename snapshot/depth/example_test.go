package depth_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/cowstore/cowstore/snapshot/depth"
)

// A value that contains itself ends the process when it is printed or encoded. Whoever gets values
// from elsewhere asks first.
func ExampleRule_Check() {
	loop := []any{"tea", nil}
	loop[1] = loop
	fmt.Println(depth.JSON.Check([]any{"tea", []any{"milk"}}))
	fmt.Println(errors.Is(depth.JSON.Check(loop), depth.ErrTooDeep))

	// A value with all levels that it may have, alone and inside another one.
	deep := any("tea")
	for range depth.Limit {
		deep = []any{deep}
	}
	fmt.Println(depth.JSON.Check(deep))
	fmt.Println(errors.Is(depth.JSON.CheckIn(1, deep), depth.ErrTooDeep))

	// Values of some types need no Check.
	fmt.Println(depth.JSON.Shallow(reflect.TypeFor[map[string]int]()))
	fmt.Println(depth.JSON.Shallow(reflect.TypeFor[any]()))
	// Output:
	// <nil>
	// true
	// <nil>
	// true
	// true
	// false
}

// Brackets in a text that was sent are counted before they are decoded.
func ExampleCheckText() {
	sent := strings.Repeat("[", 6) + strings.Repeat("]", 6)
	fmt.Println(depth.CheckText([]byte(sent), 6))
	fmt.Println(errors.Is(depth.CheckText([]byte(sent), 5), depth.ErrTooDeep))
	// Output:
	// <nil>
	// true
}

// A basket is shown as an object with one field.
type basket struct{ things []any }

func (b basket) MarshalJSON() ([]byte, error) {
	text, err := depth.Marshal(1, b.things) // one level around: the object
	return fmt.Appendf(nil, `{"things":%s}`, text), err
}

// What a method MarshalJSON calls: two baskets that lie in each other are an error, and not the end
// of the process.
func ExampleMarshal() {
	text, err := depth.Marshal(0, basket{[]any{"tea", "<b>"}})
	fmt.Println(string(text), err)

	loop := basket{make([]any, 1)}
	loop.things[0] = loop
	_, err = json.Marshal(loop)
	fmt.Println(errors.Is(err, depth.ErrTooDeep))
	// Output:
	// {"things":["tea","<b>"]} <nil>
	// true
}
