package depth

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"sync/atomic"
)

// Marshal returns the JSON of a v that will lie inside as many levels as around says. The
// error wraps [ErrTooDeep] if there are more than [Limit] in all. Marshal does not escape <,
// > and &: whoever called MarshalJSON does, or was told not to.
//
// It is for methods MarshalJSON. Values that have one may lie in one another without end, or
// in themselves, and no Check sees that, since only the method knows what it shows. So
// Marshal keeps account of the calls that are under way.
func Marshal(around int, v any) ([]byte, error) {
	levels, err := JSON.levels(around, v)
	if err != nil {
		return nil, err
	}
	methods := JSON.hasMethods(v)
	if methods {
		// What is within the call has at most so many levels, up to the next call.
		levels += around + 1
		defer underWay.Add(-int64(levels))
		// Those of all goroutines are counted together: if there are many, this one may have
		// few of them. One that has many looks at its stack once in Limit levels.
		if n := underWay.Add(int64(levels)); n/Limit != (n-int64(levels))/Limit && runtime.Callers(maxFrames, make([]uintptr, 1)) > 0 {
			return nil, errDeep
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, brief(err)
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if methods && CheckText(text, Limit-around) != nil {
		return text, errDeep
	}
	return text, nil
}

// maxFrames is how many calls within one another are too many: more than Limit levels of JSON
// take, with a method for each.
const maxFrames = 40 * Limit

// underWay is how many levels there may be, at most, in the calls of Marshal under way.
var underWay atomic.Int64

// hasMethods reports whether there may be values in v whose methods the Rule calls.
func (r *Rule) hasMethods(v any) bool {
	if v == nil {
		return false
	}
	pl := r.planOf(reflect.TypeOf(v))
	return !pl.shallow || pl.methods
}

// brief returns err, without what thousands of calls have wrapped it in if it says that there
// are too many of them. From Go 1.27 on, encoding/json counts the levels around what a method
// returns; its error has no name.
func brief(err error) error {
	switch {
	case errors.Is(err, errCycle):
		return errCycle
	case errors.Is(err, errDeep):
		return errDeep
	}
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok && bad.Error() == "exceeded max depth" {
		return errDeep
	}
	return err
}
