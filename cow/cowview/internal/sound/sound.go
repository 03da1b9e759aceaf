// Package sound finds what views give away of the values that they show.
//
// [Check] calls every accessor of a view, and of the views that come back, and looks at
// all that can be reached from the results. None of it may lie in the memory of the
// value that the view shows, and writing to all of it must not change that value.
// [Fields] looks at what Check cannot know: whether each field has an accessor that
// shows what is in it.
//
// A view is a value of a type with a method ViewOf. Nobody but its own methods looks at
// its fields. All else that comes back is looked at by reflection, unexported fields too.
package sound

import (
	"reflect"
	"slices"
	"testing"
)

// A Report says what a check looked at.
type Report struct {
	Views   int             // different views that were met
	Results int             // results of methods that were looked at
	Called  map[string]bool // methods, as "TeamView.Name"
	Skipped []string        // methods with arguments that nobody here knows, sorted
	Deep    bool            // views were nested too deep, or too many, to look at all
}

// Check fails the test if v, a view, gives away memory of the value that the pointer
// stored leads to. More are results of accessors that reflection cannot call, and are
// looked at like those of the others.
func Check(t testing.TB, v any, stored reflect.Value, more ...any) Report {
	t.Helper()
	r, leaks := Leaks(v, stored, more...)
	for _, l := range leaks {
		t.Error(l)
	}
	return r
}

// Leaks returns what Check fails for: a line for each leak, each panic of an accessor,
// and each variable of the stored value that changed when the results were written to.
func Leaks(v any, stored reflect.Value, more ...any) (Report, []string) {
	s := newSearch(memoryOf(stored))
	for _, x := range append([]any{v}, more...) {
		if x != nil {
			s.result(copyOf(reflect.ValueOf(x)), reflect.TypeOf(x).String(), 0)
		}
	}
	s.spoil()
	for _, path := range s.mem.changes() {
		s.leak(path + " changed when the results were written to")
	}
	slices.Sort(s.Skipped)
	s.Skipped = slices.Compact(s.Skipped)
	return s.Report, s.leaks
}

// IsView reports whether values of t are views.
func IsView(t reflect.Type) bool {
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return false
	}
	m, ok := reflect.PointerTo(t).MethodByName("ViewOf")
	return ok && m.Type.NumIn() == 2 && m.Type.NumOut() == 1
}

// copyOf returns a variable with the value v.
func copyOf(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

// writable returns the variable v without the mark of an unexported field.
func writable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}
