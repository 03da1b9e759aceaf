package cowtest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
)

// In a test, t is the testing.TB of the test, and the last check runs by itself at its end.
func ExampleGuard() {
	t := printer{}
	s := cow.New[string](cow.Options[map[string]int]{})
	s.Set("apples", map[string]int{"red": 3})

	guard := cowtest.Guard(t, s.Load)

	// The code under test reads without cloning, which is fine, but
	// then it writes to what it got.
	v, _ := s.Load().Shared().Get("apples")
	v["red"]++

	guard.Check()
	// Output:
	// cowtest: the value stored under key "apples" at revision 1 was modified at ["red"]: what Shared, or a map of Immutable values, gives out must not be
}

// A Sink decides what becomes of updates. Here the first is published, and the second refused.
func ExampleAttach() {
	t := printer{} // in a test, the testing.TB of the test
	users := cow.New[string](cow.Options[int]{Codec: cow.Versioned[int]{}})
	sink := cowtest.Attach(t, users.DB(), cowtest.SinkOptions{})
	ctx := context.Background()

	done := make(chan error)
	set := func(name string) { _, err := users.Set(name, 36); done <- err }
	go set("ada")
	proposed, err := sink.Await(ctx, 1)
	fmt.Println(len(proposed), "proposed,", users.Len(), "published", err)
	sink.Ack(1)
	fmt.Println(<-done, users.Len())

	go set("bob")
	_, err = sink.Await(ctx, 1)
	fmt.Println(err)
	sink.Refuse(1, errors.New("there is no space"))
	fmt.Println(<-done, users.Len())
	// Output:
	// 1 proposed, 0 published <nil>
	// <nil> 1
	// <nil>
	// there is no space 1
}

// printer is a testing.TB that prints errors.
type printer struct{ testing.TB }

func (printer) Helper()                   {}
func (printer) Cleanup(func())            {}
func (printer) Errorf(f string, a ...any) { fmt.Printf(f+"\n", a...) }
