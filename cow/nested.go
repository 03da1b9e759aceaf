package cow

import (
	"runtime"
	"sync/atomic"
)

// How an update inside an update is told from one that merely has to queue: the
// function of every update runs below frames that spell the number of its line,
// and a goroutine that is about to block looks for that number in its own stack.
// Nothing is recorded, so that an update which meets no other pays only for a few
// calls.
//
// It is exact, at any depth. A line takes a new number after an update that ended
// by a panic or Goexit, before anything else can run on that stack: only then do
// frames outlive their update. So frames with the number that a line has now are
// those of an update that is running.

// numbers is the last number taken. There is no 0.
var numbers atomic.Uint64

// inUpdate calls f below frames that spell number: from here inwards its
// hexadecimal digits, the lowest first.
//
//go:noinline
func inUpdate(number uint64, f func()) { spell(number, f) }

//go:noinline
func spell(rest uint64, f func()) {
	if rest == 0 {
		f()
		return
	}
	switch digit, rest := rest%16, rest/16; digit { // not a table, so that f stays on the stack
	case 0:
		digit0(rest, f)
	case 1:
		digit1(rest, f)
	case 2:
		digit2(rest, f)
	case 3:
		digit3(rest, f)
	case 4:
		digit4(rest, f)
	case 5:
		digit5(rest, f)
	case 6:
		digit6(rest, f)
	case 7:
		digit7(rest, f)
	case 8:
		digit8(rest, f)
	case 9:
		digit9(rest, f)
	case 10:
		digitA(rest, f)
	case 11:
		digitB(rest, f)
	case 12:
		digitC(rest, f)
	case 13:
		digitD(rest, f)
	case 14:
		digitE(rest, f)
	case 15:
		digitF(rest, f)
	}
}

//go:noinline
func digit0(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digit1(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digit2(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digit3(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digit4(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digit5(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digit6(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digit7(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digit8(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digit9(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digitA(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digitB(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digitC(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digitD(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digitE(rest uint64, f func()) { spell(rest, f) }

//go:noinline
func digitF(rest uint64, f func()) { spell(rest, f) }

// The places to which the calls in these functions return: a frame is known by
// its own.
var (
	digitAt    = make(map[uintptr]uint64)
	inUpdateAt uintptr
)

func init() {
	for d := range uint64(16) {
		inUpdate(0x10+d, func() {
			var pcs [8]uintptr
			// Callers, this function, spell, digit1, spell, digit d, spell, inUpdate
			runtime.Callers(0, pcs[:])
			digitAt[pcs[5]], inUpdateAt = d, pcs[7]
		})
	}
}

// panicInUpdate panics if the calling goroutine is running the function of an
// update of l, and was asked to do what.
func (l *line[P]) panicInUpdate(what string) {
	if number := l.number.Load(); number != 0 && isInUpdate(number) {
		panic("cow: " + what + " inside an update of the same store would wait for itself: use the Editor or Tx of that update")
	}
}

// isInUpdate reports whether the stack of the calling goroutine has the frames of
// an update with that number.
func isInUpdate(number uint64) bool {
	var few [64]uintptr
	pcs := few[:]
	n := runtime.Callers(2, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 8*len(pcs))
		n = runtime.Callers(2, pcs)
	}
	spelt := uint64(0)
	for _, pc := range pcs[:n] {
		if pc == inUpdateAt {
			if spelt == number {
				return true
			}
			spelt = 0
		} else if d, ok := digitAt[pc]; ok {
			spelt = spelt<<4 | d
		}
	}
	return false
}
