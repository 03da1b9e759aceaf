package check

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/cowstore/cowstore/cow"
)

// A kind is what an operation does.
type kind int

const (
	get kind = iota
	read
	set
	insert
	setIf
	remove
	take
	modify // adds one
	batch  // sets in both halves, and deletes
	abort  // is a batch that fails
	kinds
)

func (k kind) String() string {
	return [...]string{"get", "read", "set", "insert", "setIf", "delete", "take", "modify", "batch", "abort"}[k]
}

// second is between the two values of a batch: more than modify ever adds.
const second = 1 << 23

// An input is what goes into an operation.
type input struct {
	kind   kind
	direct bool // by the verb of the store itself, not within an update
	cell   int
	value  int64
	rev    uint64
	others [2]int // of a batch: another cell to be set, to value+second, and one to delete
}

func (in input) String() string {
	return fmt.Sprintf("%v %d %d @%d %v", in.kind, in.cell, in.value, in.rev, in.others)
}

// An output is what comes out.
type output struct {
	version uint64 // that it saw, or published; 0: not told
	value   int64
	ok      bool
	err     error
	all     *[cells]cell // of a read
}

func (o output) String() string {
	if o.all != nil {
		return fmt.Sprintf("v%d %v", o.version, *o.all)
	}
	return fmt.Sprintf("v%d %d %v %v", o.version, o.value, o.ok, o.err)
}

// A state is what the model has to hold. It is immutable.
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
	DescribeOperation: func(in, out any) string { return fmt.Sprint(in, " -> ", out) },
}

// step reports whether the operation can have this output in s, and returns the
// state after it.
func (s *state) step(in *input, out *output) (bool, *state) {
	is := s.cells[in.cell]
	found := is.value != 0
	var want output
	next := s
	edit := func() *state {
		next = &state{s.version + 1, s.cells}
		return next
	}
	put := func(c int, v int64) { next.cells[c] = cell{v, next.version} }
	switch in.kind {
	case get:
		want.value, want.ok = is.value, found
	case read:
		if out.all == nil || *out.all != s.cells {
			return false, nil
		}
		want.all = out.all
	case set:
		edit()
		put(in.cell, in.value)
	case insert:
		if found {
			want.err = cow.ErrExists
			break
		}
		edit()
		put(in.cell, in.value)
	case setIf:
		if is.revision != in.rev {
			want.err = cow.ErrRevision
			break
		}
		edit()
		put(in.cell, in.value)
	case remove:
		if want.ok = found; found {
			edit().cells[in.cell] = cell{}
		}
	case take:
		if want.value, want.ok = is.value, found; found {
			edit().cells[in.cell] = cell{}
		}
	case modify:
		if !found {
			want.err = cow.ErrNotFound
			break
		}
		want.value = is.value + 1
		edit()
		put(in.cell, want.value)
	case batch:
		edit()
		put(in.cell, in.value)
		put(in.others[0], in.value+second)
		next.cells[in.others[1]] = cell{}
	case abort:
		want.err = errAbort
	}
	if want.version = next.version; out.version == 0 {
		want.version = 0
	}
	return *out == want, next
}
