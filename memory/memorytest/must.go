package memorytest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// must has what checks state, in the words of testify, which a package that is not
// for tests of this module alone must not import. What is not so ends the check.
var must required

type required struct{}

// fail ends the check.
func (required) fail(t tb, message []any, format string, args ...any) {
	t.Helper()
	text := fmt.Sprintf(format, args...)
	if len(message) > 0 {
		first, ok := message[0].(string)
		if !ok || len(message) == 1 {
			first = fmt.Sprint(message[0])
		} else {
			first = fmt.Sprintf(first, message[1:]...)
		}
		text = first + ": " + text
	}
	t.Errorf("%s", text)
	t.FailNow()
}

func (r required) True(t tb, is bool, message ...any) {
	t.Helper()
	if !is {
		r.fail(t, message, "it is false")
	}
}

func (r required) False(t tb, is bool, message ...any) {
	t.Helper()
	if is {
		r.fail(t, message, "it is true")
	}
}

func (r required) Equal(t tb, want, is any, message ...any) {
	t.Helper()
	if !reflect.DeepEqual(want, is) {
		r.fail(t, message, "%#v, not %#v", is, want)
	}
}

func (r required) NotEqual(t tb, not, is any, message ...any) {
	t.Helper()
	if reflect.DeepEqual(not, is) {
		r.fail(t, message, "%#v, which it must not be", is)
	}
}

func (r required) Zero(t tb, is any, message ...any) {
	t.Helper()
	if is != nil && !reflect.ValueOf(is).IsZero() {
		r.fail(t, message, "%#v, not zero", is)
	}
}

func (r required) NotZero(t tb, is any, message ...any) {
	t.Helper()
	if is == nil || reflect.ValueOf(is).IsZero() {
		r.fail(t, message, "%#v, which is zero", is)
	}
}

func (r required) NotNil(t tb, is any, message ...any) {
	t.Helper()
	if is == nil {
		r.fail(t, message, "it is nil")
	}
}

func (r required) Len(t tb, of any, n int, message ...any) {
	t.Helper()
	if is := reflect.ValueOf(of).Len(); is != n {
		r.fail(t, message, "%d in %#v, not %d", is, of, n)
	}
}

func (r required) NoError(t tb, err error, message ...any) {
	t.Helper()
	if err != nil {
		r.fail(t, message, "error: %v", err)
	}
}

func (r required) Error(t tb, err error, message ...any) {
	t.Helper()
	if err == nil {
		r.fail(t, message, "no error")
	}
}

func (r required) ErrorIs(t tb, err, want error, message ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		r.fail(t, message, "error %v, not %v", err, want)
	}
}

func (r required) NotContains(t tb, all []uint64, one uint64, message ...any) {
	t.Helper()
	if slices.Contains(all, one) {
		r.fail(t, message, "%d is among %v", one, all)
	}
}

func (r required) Contains(t tb, all []int, one int, message ...any) {
	t.Helper()
	if !slices.Contains(all, one) {
		r.fail(t, message, "%d is not among %v", one, all)
	}
}

func (r required) Fail(t tb, text string, message ...any) {
	t.Helper()
	r.fail(t, message, "%s", text)
}
