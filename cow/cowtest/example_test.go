package cowtest_test

import (
	"fmt"
	"testing"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
)

// In a test, t is the one of the test, and the last check comes at its end by
// itself.
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

// printer is a testing.TB that prints errors.
type printer struct{ testing.TB }

func (printer) Helper()                   {}
func (printer) Cleanup(func())            {}
func (printer) Errorf(f string, a ...any) { fmt.Printf(f+"\n", a...) }
