package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/cowstore/cowstore/cow"
)

// A kind is what an operation does.
type kind int

const (
	get kind = iota
	read
	wait // for a version above one that was seen
	set
	insert
	setIf
	remove
	take
	modify // adds one
	batch  // sets in both halves, and deletes
	abort  // is a batch that fails
	merge  // sets in both halves of a fork, and merges that
	kinds
)

// kindNames are what explanations call them.
var kindNames = [kinds]string{"get", "read", "wait", "set", "insert", "setIf", "delete", "take", "modify", "batch", "abort", "merge"}

// second is between the two values of a batch or merge: more than modify ever adds.
const second = 1 << 23

// An input is what goes into an operation.
type input struct {
	kind   kind
	direct bool // by the verb of the store itself, not within an update
	cell   int
	value  int64
	rev    uint64 // of a setIf; of a wait, the version; of a merge, that of the cell in the base
	other  int    // of a batch or merge: another cell, for value+second
	rev2   uint64 // of a merge: that of the other
	gone   int    // of a batch: a cell to delete
}

// An output is what comes out.
type output struct {
	version uint64 // that it saw, or published; 0: not told
	value   int64
	ok      bool
	err     error
	all     *[cells]cell // of a read or wait
}

// errAbort ends an update that is to publish nothing.
var errAbort = errors.New("abort")

// sentinel returns the error that the model has for err.
func sentinel(err error) error {
	for _, s := range []error{cow.ErrRevision, cow.ErrExists, cow.ErrNotFound, cow.ErrConflict, errAbort, errRefused, context.DeadlineExceeded} {
		if errors.Is(err, s) {
			return s
		}
	}
	return err
}

// A state is what the model holds. It is immutable.
type state struct {
	version uint64
	cells   [cells]cell
}

// model is the sequential specification that histories must agree with.
var model = porcupine.Model{
	Init:  func() any { return new(state) },
	Equal: func(a, b any) bool { return *a.(*state) == *b.(*state) },
	Step: func(s, in, out any) (bool, any) {
		return s.(*state).step(in.(*input), out.(*output))
	},
	DescribeOperation: func(in, out any) string {
		i, o := in.(*input), *out.(*output)
		all := o.all
		o.all = nil
		return fmt.Sprint(kindNames[i.kind], " ", *i, " -> ", o, " ", all)
	},
}

// step reports whether the operation can have this output in s, and returns the state after
// it.
func (s *state) step(in *input, out *output) (bool, *state) {
	if out.err == errRefused || out.err == context.DeadlineExceeded {
		return true, s // at any time, and nothing has happened
	}
	is := s.cells[in.cell]
	found := is.value != 0
	want, next := output{all: out.all}, s
	put := func(c int, v int64) {
		if next == s {
			next = &state{s.version + 1, s.cells}
		}
		next.cells[c] = cell{v, next.version}
		if v == 0 {
			next.cells[c] = cell{}
		}
	}
	fails := func(when bool, err error) bool {
		if when {
			want.err = err
		}
		return when
	}
	switch in.kind {
	case get:
		want.value, want.ok = is.value, found
	case read, wait:
		if *out.all != s.cells || in.kind == wait && s.version <= in.rev {
			return false, nil
		}
	case set:
		put(in.cell, in.value)
	case insert:
		if !fails(found, cow.ErrExists) {
			put(in.cell, in.value)
		}
	case setIf:
		if !fails(is.revision != in.rev, cow.ErrRevision) {
			put(in.cell, in.value)
		}
	case remove, take:
		if want.ok = found; found {
			put(in.cell, 0)
		}
		if in.kind == take {
			want.value = is.value
		}
	case modify:
		if !fails(!found, cow.ErrNotFound) {
			want.value = is.value + 1
			put(in.cell, want.value)
		}
	case batch:
		put(in.cell, in.value)
		put(in.other, in.value+second)
		put(in.gone, 0)
	case abort:
		want.err = errAbort
	case merge:
		if !fails(is.revision != in.rev || s.cells[in.other].revision != in.rev2, cow.ErrConflict) {
			put(in.cell, in.value)
			put(in.other, in.value+second)
		}
	}
	if out.version != 0 {
		want.version = next.version
	}
	return *out == want, next
}
