package memorytest

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"
)

// A hooked is a value that calls the test back when a backend copies or encodes
// it, so that the test can do something in the middle of what the backend does.
// It holds no function itself, for a backend could not copy that.
type hooked struct{ ID, Hook int }

var (
	hooks    sync.Map // int → func(id int)
	lastHook atomic.Int64
)

// hook has f called by the hooked values of the number that it returns, until
// stop is called.
func hook(f func(id int)) (number int, stop func()) {
	number = int(lastHook.Add(1))
	hooks.Store(number, f)
	return number, func() { hooks.Delete(number) }
}

func (h hooked) call() {
	if f, ok := hooks.Load(h.Hook); ok {
		f.(func(id int))(h.ID)
	}
}

// Clone returns h.
func (h hooked) Clone() hooked {
	h.call()
	return h
}

// MarshalJSON returns what it would without this method.
func (h hooked) MarshalJSON() ([]byte, error) {
	h.call()
	type plain hooked
	return json.Marshal(plain(h))
}

// meeting returns a function that returns when it was called with n different ids,
// or a grace after the first: from then on at once.
func meeting(n int, grace time.Duration) func(id int) {
	var mu sync.Mutex
	ids := map[int]bool{}
	over := make(chan struct{})
	end := sync.OnceFunc(func() { close(over) })
	return func(id int) {
		mu.Lock()
		if len(ids) == 0 {
			time.AfterFunc(grace, end)
		}
		if ids[id] = true; len(ids) == n {
			end()
		}
		mu.Unlock()
		<-over
	}
}
