package clone_test

import (
	"errors"
	"fmt"
	"reflect"
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

// A named value stays itself, and others of its type are cloned.
func ExampleSentinel() {
	copied := clone.Of[error]()
	other := &goneError{"another"}
	fmt.Println(copied(errGone) == errGone, copied(other) == error(other))
	// Output:
	// true false
}

// The nature of a type says what a copy of its values is worth.
func ExampleNatureOf() {
	fmt.Println(clone.NatureOf(reflect.TypeFor[[]int]()) == clone.Ordinary)
	fmt.Println(clone.NatureOf(reflect.TypeFor[sync.Mutex]()) == clone.Uncopyable)
	// Output:
	// true
	// true
}
