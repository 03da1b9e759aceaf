package clone

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Sentinel names a value that stays itself in every clone, and returns it: an error of the
// program's own type, say, that it compares by its pointer.
//
//	var ErrGone = clone.Sentinel(&goneError{"gone"})
//
// Nobody must write to the value from then on: it is shared by all that was made of it.
// Only that value is named, and not others of its type, nor what it leads to. An error
// made by errors.New, or by fmt.Errorf with one %w around such an error, need not be
// named; see the documentation of the package.
//
// Sentinel panics if v is not a pointer, or nil, and if values of v's type may have been
// cloned already: call it where the variable is declared, in the package of the type, as
// above. To name a value twice is no mistake. It is safe for concurrent use. The values
// live as long as the program.
func Sentinel[E any](v E) E {
	r := reflect.ValueOf(any(v))
	if r.Kind() != reflect.Pointer || r.IsNil() {
		panic(fmt.Sprintf("clone: Sentinel of %T: name a pointer that is not nil; values that are compared without one stay equal in a clone", any(v)))
	}
	t, w := r.Type(), r.UnsafePointer()
	compiling.Lock()
	defer compiling.Unlock()
	if _, ok := sentinels[t][w]; ok || keptType(t) != "" {
		return v
	}
	if _, ok := plans.Load(t); ok {
		panic(fmt.Sprintf("clone: Sentinel of a %v after the first clone of its type: name it where the variable is declared, "+
			"before any store whose values may hold one is made", t))
	}
	if sentinels[t] == nil {
		sentinels[t] = map[unsafe.Pointer]struct{}{}
	}
	sentinels[t][w] = struct{}{}
	return v
}
