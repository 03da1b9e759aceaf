// Package nested tells an update inside an update from one that merely has to queue.
//
// The function of every update runs below frames that spell the number of its line, and
// a goroutine that is about to block looks for that number in its own stack. Nothing is
// recorded, so an update that meets no other pays only for a few calls.
//
// It is exact, at any depth, if a line takes a new number after an update that ended by
// a panic or Goexit, before anything else can run on that stack: only then do frames
// outlive their update. So frames with the number that a line has now are those of an
// update that is running.
package nested

import (
	"bytes"
	"runtime"
	"strconv"
	"sync/atomic"
)

var numbers atomic.Uint64

// Number returns a number that was never returned before, and is not 0.
func Number() uint64 { return numbers.Add(1) }

// Run calls f below frames that spell number: from here inwards its digits of base 4, the
// lowest first.
//
//go:noinline
func Run(number uint64, f func()) { spell(number, f) }

//go:noinline
func spell(rest uint64, f func()) {
	if rest == 0 {
		f()
		return
	}
	switch digit, rest := rest%4, rest/4; digit { // not a table, so that f stays on the stack
	case 0:
		digit0(rest, f)
	case 1:
		digit1(rest, f)
	case 2:
		digit2(rest, f)
	case 3:
		digit3(rest, f)
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

// The places to which the calls in these functions return: a frame is known by its own.
var (
	digitAt = make(map[uintptr]uint64)
	runAt   uintptr
)

func init() {
	for d := range uint64(4) {
		Run(4+d, func() {
			var pcs [8]uintptr
			// Callers, this function, spell, digit1, spell, digit d, spell, Run
			runtime.Callers(0, pcs[:])
			digitAt[pcs[5]], runAt = d, pcs[7]
		})
	}
}

// Is reports whether the calling goroutine is inside a Run with that number.
func Is(number uint64) bool {
	var few [64]uintptr
	pcs := few[:]
	n := runtime.Callers(2, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 8*len(pcs))
		n = runtime.Callers(2, pcs)
	}
	spelt := uint64(0)
	for _, pc := range pcs[:n] {
		if pc == runAt {
			if spelt == number {
				return true
			}
			spelt = 0
		} else if d, ok := digitAt[pc]; ok {
			spelt = spelt<<2 | d
		}
	}
	return false
}

// Goroutine returns a number of the calling goroutine, which no other has or will have, or 0
// if it is not known: transactions begin with it, which have no frame on the stack of their
// goroutine. A stack that is printed has it, and takes a while that grows with its depth; so
// that of a goroutine made for that is, which says where it comes from.
func Goroutine() uint64 {
	number := make(chan uint64, 1)
	go func() {
		text := make([]byte, 512)
		n := runtime.Stack(text, false)
		for n == len(text) { // with long labels or paths
			text = make([]byte, 2*len(text))
			n = runtime.Stack(text, false)
		}
		number <- creator(text[:n])
	}()
	return <-number
}

// creator returns the number of the goroutine that began the one of a stack.
func creator(stack []byte) uint64 {
	i := bytes.LastIndex(stack, []byte("\ncreated by "))
	if i < 0 {
		return 0
	}
	line, _, _ := bytes.Cut(stack[i+1:], []byte("\n"))
	_, number, _ := bytes.Cut(line, []byte(" in goroutine "))
	n, _ := strconv.ParseUint(string(number), 10, 64)
	return n
}
