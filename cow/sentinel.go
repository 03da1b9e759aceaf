package cow

import "github.com/cowstore/cowstore/snapshot/clone"

// Sentinel names an error of your own type that is compared by its pointer, and returns it: in
// every clone it stays itself.
//
//	var ErrGone = cow.Sentinel(&goneError{"gone"})
//
// Errors made by errors.New need no Sentinel. From then on the value must not be modified. Sentinel
// panics if v is not a pointer, if it is nil, or if values of its type may have been cloned
// already: call it where the variable is declared. It is [clone.Sentinel], and safe for concurrent
// use.
func Sentinel[E any](v E) E { return clone.Sentinel(v) }
