package cow

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
)

// How an update inside an update is told from one that merely has to queue:
// the function of every update runs below a frame of inUpdate, whose argument
// is the id of the line. A goroutine that is about to block looks for that
// frame in its own stack. Nothing is recorded, so an update that meets no
// other pays only the call.

var lineIDs atomic.Uintptr

// inUpdate calls f. Its argument is an array so that it is passed in memory,
// where a traceback finds it whatever the registers hold.
//
//go:noinline
func inUpdate(_ [2]uintptr, f func()) { f() }

// panicInUpdate panics if the calling goroutine is running the function of an
// update of l, and was asked to do what.
func (l *line[P]) panicInUpdate(what string) {
	if id := l.id.Load(); id != 0 && belowInUpdate(id) {
		panic("cow: " + what + " inside an update of the same store would wait for itself: use the Editor or Tx of that update")
	}
}

// belowInUpdate reports whether a frame of inUpdate with that id is seen in
// the stack of the calling goroutine. Of a very deep stack a traceback shows
// the ends alone.
func belowInUpdate(id uintptr) bool {
	if !callsInUpdate() {
		return false // the common case, and a hundred times cheaper
	}
	buf := make([]byte, 64<<10)
	for {
		n := runtime.Stack(buf, false)
		if n < len(buf) {
			return strings.Contains(string(buf[:n]), fmt.Sprintf("cow.inUpdate({%#x, 0x0}", id))
		}
		if len(buf) >= 16<<20 {
			return false
		}
		buf = make([]byte, 4*len(buf))
	}
}

// callsInUpdate reports whether any frame of the calling goroutine is
// inUpdate's.
func callsInUpdate() bool {
	var pcs [64]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for _, pc := range pcs[:n] {
			if pc == inUpdatePC {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

// inUpdatePC is where the one call in inUpdate returns to.
var inUpdatePC = func() (pc uintptr) {
	inUpdate([2]uintptr{}, func() {
		var pcs [1]uintptr
		runtime.Callers(2, pcs[:]) // 0 is Callers, 1 this function
		pc = pcs[0]
	})
	return pc
}()
