package nested

import (
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// deep calls f below n frames.
//
//go:noinline
func deep(n int, f func()) {
	if n > 0 {
		deep(n-1, f)
		return
	}
	f()
}

// Whoever is inside of some Runs is inside of these, and of no others, at any depth.
func TestIs(t *testing.T) {
	for _, n := range []int{0, 45, 60, 500, 20_000} {
		t.Run(fmt.Sprint(n, " frames"), func(t *testing.T) {
			numbers := []uint64{1, 0xf, 0x12, 0x21, 0x210, 0x123456789abcdef, 1<<64 - 1}
			var inside func(i int)
			inside = func(i int) {
				for j, number := range numbers {
					require.Equal(t, j < i, Is(number), "%#x, inside of %#x", number, numbers[:i])
				}
				if i < len(numbers) {
					Run(numbers[i], func() { deep(n, func() { inside(i + 1) }) })
				}
			}
			deep(n, func() { inside(0) })
		})
	}
}

// Another goroutine is not inside, even one that a Run waits for.
func TestIsIsOfOneGoroutine(t *testing.T) {
	number, is := Number(), make(chan bool)
	Run(number, func() {
		go func() { is <- Is(number) }()
		require.False(t, <-is)
	})
}

// Deferred functions find the frames of what panicked, or called Goexit: whoever defers
// takes another number first.
func TestFramesOutliveAPanicAndGoexit(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			number, is := Number(), make(chan bool, 1)
			go func() {
				defer func() {
					is <- Is(number) && !Is(Number())
					_ = recover()
				}()
				Run(number, end)
			}()
			require.True(t, <-is)
			require.False(t, Is(number))
		})
	}
}

// A goroutine has the number that its own stack says.
func TestGoroutine(t *testing.T) {
	number := func() uint64 {
		var text [64]byte
		fields := strings.Fields(string(text[:runtime.Stack(text[:], false)]))
		n, err := strconv.ParseUint(fields[1], 10, 64)
		require.NoError(t, err)
		return n
	}
	require.Equal(t, number(), Goroutine())
	deep(1000, func() { require.Equal(t, number(), Goroutine()) })
	other := make(chan uint64)
	go func() { other <- Goroutine() }()
	require.NotEqual(t, Goroutine(), <-other)
	require.Zero(t, creator([]byte("goroutine 1 [running]:\nmain.main()\n")))
	require.EqualValues(t, 5, creator([]byte("goroutine 6 [running] {label: in goroutine 7}:\nmain.main.func1()\n"+
		"\t/in goroutine 8/main.go:1 +0x1\ncreated by main.main in goroutine 5\n\t/in goroutine 9/main.go:2 +0x2\n")))
}

// However long the names are that its stack has, as of labels and folders, a goroutine is known.
func TestGoroutineWithALongStack(t *testing.T) {
	pprof.Do(context.Background(), pprof.Labels("label", strings.Repeat("long ", 1000)), func(context.Context) {
		require.NotZero(t, longNames[[1000]struct {
			ANameThatIsLongerThanMost [1000]struct{ AndIsInAnother, AndOne int }
		}](Goroutine))
	})
}

func longNames[T any](f func() uint64) uint64 { return f() }
