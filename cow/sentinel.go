package cow

import "github.com/cowstore/cowstore/snapshot/clone"

// Sentinel names a value that stays itself in every clone, and returns it: an error of the
// program's own type that it compares by its pointer.
//
//	var ErrGone = cow.Sentinel(&goneError{"gone"})
//
// Errors made by errors.New need no name. Nobody must write to the value from then on. Sentinel
// panics if v is no pointer, or nil, or if values of its type may have been cloned already:
// call it where the variable is declared. It is [clone.Sentinel], and safe for concurrent use.
func Sentinel[E any](v E) E { return clone.Sentinel(v) }
