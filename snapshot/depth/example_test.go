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
	fmt.Println("list:", depth.JSON.Check([]any{"tea", []any{"milk"}}))
	fmt.Println("loop:", depth.JSON.Check(loop))

	// A value with all levels that it may have, alone and inside another one.
	deep := any("tea")
	for range depth.Limit {
		deep = []any{deep}
	}
	fmt.Println("alone:", depth.JSON.Check(deep))
	fmt.Println("inside:", depth.JSON.CheckIn(1, deep))

	// Values of some types need no Check.
	for _, v := range []any{map[string]int{}, []any{}} {
		fmt.Printf("%T is shallow: %v\n", v, depth.JSON.Shallow(reflect.TypeOf(v)))
	}
	// Output:
	// list: <nil>
	// loop: value is nested too deeply: it contains itself in a cycle
	// alone: <nil>
	// inside: value is nested too deeply: more than 10000 levels, with those around it
	// map[string]int is shallow: true
	// []interface {} is shallow: false
}

// Brackets in a text that was sent are counted before they are decoded.
func ExampleCheckText() {
	sent := strings.Repeat("[", 6) + strings.Repeat("]", 6)
	fmt.Println(depth.CheckText([]byte(sent), 6))
	err := depth.CheckText([]byte(sent), 5)
	fmt.Println("ErrTooDeep:", errors.Is(err, depth.ErrTooDeep))
	// Output:
	// <nil>
	// ErrTooDeep: true
}

// A basket is shown as an object with one field.
type basket struct{ things []any }

func (b basket) MarshalJSON() ([]byte, error) {
	text, err := depth.Marshal(1, b.things) // one level around: the object
	return fmt.Appendf(nil, `{"things":%s}`, text), err
}

// A method MarshalJSON calls Marshal: then a basket that lies in itself is an error, and not the end
// of the process.
func ExampleMarshal() {
	text, err := depth.Marshal(0, basket{[]any{"tea", "<b>"}})
	fmt.Println(string(text), err)

	loop := basket{make([]any, 1)}
	loop.things[0] = loop
	_, err = json.Marshal(loop)
	fmt.Println("ErrTooDeep:", errors.Is(err, depth.ErrTooDeep))
	// Output:
	// {"things":["tea","<b>"]} <nil>
	// ErrTooDeep: true
}
