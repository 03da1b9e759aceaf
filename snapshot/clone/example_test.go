package clone_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"

	"github.com/cowstore/cowstore/snapshot/clone"
)

// A clone keeps the shape of its original: here two pointers to one value.
func ExampleOf() {
	type pair struct{ A, B *int }
	n := 1
	copied := clone.Of[pair]()
	is := copied(pair{&n, &n})
	*is.A = 2
	fmt.Println(n, *is.B, is.A == is.B)
	fmt.Println(clone.Of[string]() == nil) // strings need no clone
	// Output:
	// 1 2 true
	// true
}

// What must not be copied is an Error. It says where that is.
func ExampleError() {
	type conn struct {
		Name string
		sync.Mutex
	}
	copied := clone.Of[any]()
	defer func() {
		var e *clone.Error
		err, _ := recover().(error)
		fmt.Println(errors.As(err, &e), e.Type)
	}()
	copied(&conn{Name: "db"})
	// Output:
	// true sync.Mutex
}

type goneError struct{ text string }

func (e *goneError) Error() string { return e.text }

var errGone = clone.Sentinel(&goneError{"gone"})

// A named value stays itself, and others of its type are cloned. It is named where it is declared:
//
//	var errGone = clone.Sentinel(&goneError{"gone"})
func ExampleSentinel() {
	copied := clone.Of[error]()
	other := &goneError{"another"}
	fmt.Println(copied(errGone) == errGone, copied(other) == error(other))
	fmt.Println(clone.Sentinel(errGone) == errGone) // it may be named twice
	// Output:
	// true false
	// true
}

// What a walk over values need not go into: memory without pointers, and what no clone copies.
func ExampleIsConstant() {
	fmt.Println(clone.HasPointers(reflect.TypeFor[[4]int]()))
	fmt.Println(clone.HasPointers(reflect.TypeFor[[]int]()))
	fmt.Println(clone.IsConstant(reflect.ValueOf(io.EOF)))
	fmt.Println(clone.IsConstant(reflect.ValueOf(&goneError{"another"})))
	// Output:
	// false
	// true
	// true
	// false
}

// A list clones itself, as cowview has it do: OfWhole calls the method, and Of does not.
type list struct{ names []string }

func (l list) Clone() list { return list{append(l.names, "cloned")} }

// A type that has a method Clone is cloned by that method.
func ExampleOfWhole() {
	copied := clone.OfWhole[list]() // what a store calls for each value
	fmt.Println(copied(list{[]string{"ada"}}).names)
	// Output: [ada cloned]
}

// What a walk goes into of a struct: all of its fields, exported or not.
func ExampleParts() {
	type point struct {
		X, Y int
		name string
	}
	for name, part := range clone.Parts(reflect.ValueOf(point{1, 2, "a"})) {
		fmt.Println(name, part)
	}
	// Output:
	// X 1
	// Y 2
	// name a
}

// About how many bytes a value keeps alive, for a cache that has a limit.
func ExampleSize() {
	text := strings.Repeat("tea ", 1000)
	small, large := reflect.ValueOf("tea"), reflect.ValueOf(text)
	fmt.Println(clone.Size(small, false) < 100, clone.Size(large, false) >= 4000)
	// Output: true true
}

// The nature of a type says what a copy of its values is worth.
func ExampleNatureOf() {
	fmt.Println(clone.NatureOf(reflect.TypeFor[[]int]()) == clone.Ordinary)
	fmt.Println(clone.NatureOf(reflect.TypeFor[sync.Mutex]()) == clone.Uncopyable)
	// Output:
	// true
	// true
}
