package snapshot

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A connection is shared by its own method Clone, and modified under its lock.
type connection struct {
	mu    sync.Mutex
	stats map[string]*int
	more  []*int
	any   any
}

func (c *connection) Clone() *connection { return c }

// use modifies c, and once is enough: who reads c all the same does it without
// the lock, which the race detector sees.
func (c *connection) use() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats["k"], c.more[0], c.any = new(int), new(int), new(int)
}

// a handleMap, a handleSlice and a handleStruct share what they hold.
type (
	handleMap    map[string]*[1000]int
	handleSlice  []*[1000]int
	handleStruct struct{ m map[string]*[1000]int }
)

func (h handleMap) Clone() handleMap       { return h }
func (h handleSlice) Clone() handleSlice   { return h }
func (h handleStruct) Clone() handleStruct { return h }

// sizeUnder is the size of a row with v, whose type is a dynamic one: each static type is much to compile.
func sizeUnder(o Options[any], v any) int { return sizeOf("k", v, o) }

func TestSizesAreReadPastHandles(t *testing.T) {
	type session struct {
		conn *connection
		tags []string
		any  any
	}
	c := &connection{stats: map[string]*int{}, more: make([]*int, 1)}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				c.use()
			}
		}
	}()
	for range 1000 {
		require.Less(t, sizeUnder(Options[any]{}, session{c, []string{"abc"}, c}), 500)
		require.Less(t, sizeOf("k", c, Options[*connection]{}), 500)
		require.Less(t, sizeUnder(Options[any]{}, []any{c}), 500)
		require.Less(t, sizeOf("k", c, Options[*connection]{Immutable: true}), 500)
		require.Less(t, sizeUnder(Options[any]{Clone: func(v any) any { return v }}, []*connection{c}), 500)
	}
	close(stop)
	<-done

	big := new([1000]int)
	const bytes = int(unsafe.Sizeof(*big))
	require.Less(t, sizeUnder(Options[any]{}, handleMap{"a": big}), bytes)
	require.Less(t, sizeUnder(Options[any]{}, handleSlice{big}), bytes)
	require.Less(t, sizeUnder(Options[any]{}, handleStruct{map[string]*[1000]int{"a": big}}), bytes)
	type handles map[string]*[1000]int
	as := Options[any]{Clone: func(h any) any { return h }}
	require.Less(t, sizeUnder(as, handles{"a": big}), bytes)
	require.Greater(t, sizeUnder(Options[any]{}, handles{"a": big}), bytes)
	require.Greater(t, sizeUnder(Options[any]{}, []any{handleSlice{big}, big}), bytes, "and what comes after")
}
