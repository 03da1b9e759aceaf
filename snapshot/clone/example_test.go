package clone_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/cowstore/cowstore/snapshot/clone"
)

// A clone keeps the shape of its original: here two pointers to one value.
func ExampleOf() {
	type pair struct{ A, B *int }
	n := 1
	copied := clone.Of[pair]()
	is := copied(pair{&n, &n})
	*is.A = 2
	fmt.Println("original:", n)
	fmt.Println("clone:", *is.A, *is.B)
	fmt.Println("strings need no clone:", clone.Of[string]() == nil)
	// Output:
	// original: 1
	// clone: 2 2
	// strings need no clone: true
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
		if errors.As(err, &e) {
			fmt.Println(e.Path, "is a", e.Type)
		}
	}()
	copied(&conn{Name: "db"})
	// Output:
	// .(*clone_test.conn).Mutex is a sync.Mutex
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
	fmt.Println("gone stays itself:", copied(errGone) == errGone)
	fmt.Println("another stays itself:", copied(other) == error(other))
	fmt.Println("named twice, it is itself:", clone.Sentinel(errGone) == errGone)
	// Output:
	// gone stays itself: true
	// another stays itself: false
	// named twice, it is itself: true
}

// What a walk over values need not go into: memory without pointers, and what no clone copies.
func ExampleIsConstant() {
	for _, v := range []any{[4]int{}, []int{}} {
		fmt.Printf("%T has pointers: %v\n", v, clone.HasPointers(reflect.TypeOf(v)))
	}
	for _, err := range []error{io.EOF, &goneError{"another"}} {
		fmt.Println(err, "is constant:", clone.IsConstant(reflect.ValueOf(err)))
	}
	// Output:
	// [4]int has pointers: false
	// []int has pointers: true
	// EOF is constant: true
	// another is constant: false
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
	fmt.Println(clone.Size(small, false), clone.Size(large, false))
	// Output: 3 4000
}

// What a clone takes, each object once, and the memory that references lead to.
func ExampleReportOf() {
	page := new([4096]byte)
	r := clone.ReportOf(reflect.ValueOf([2]*[4096]byte{page, page}), func(_ unsafe.Pointer, size uintptr) {
		fmt.Println("a reference leads to", size, "bytes")
	})
	fmt.Println("a clone takes", r.Bytes)
	// Output:
	// a reference leads to 4096 bytes
	// a clone takes 4096
}

// What a method Clone makes, only the clone tells.
func ExampleReport_Made() {
	rows := []list{{[]string{"ada"}}}
	r := clone.ReportOf(reflect.ValueOf(rows), nil)
	copied := clone.Of[[]list]()(rows)
	fmt.Println("more than the value tells:", r.Made(reflect.ValueOf(copied), nil) > r.Bytes)
	// Output: more than the value tells: true
}

// The nature of a type says what a copy of its values is worth.
func ExampleNatureOf() {
	for _, t := range []reflect.Type{
		reflect.TypeFor[[]int](), reflect.TypeFor[sync.Mutex](),
	} {
		fmt.Println(t, "is uncopyable:", clone.NatureOf(t) == clone.Uncopyable)
	}
	// Output:
	// []int is uncopyable: false
	// sync.Mutex is uncopyable: true
}
