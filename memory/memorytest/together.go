package memorytest

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// grace is how long one operation waits for another that it is in the middle
	// of. It may rightly block the other: then it goes on.
	grace = 100 * time.Millisecond

	// patience is how long something may take that must not be blocked.
	patience = time.Minute
)

func nameOf[C any]() string {
	return strings.TrimPrefix(reflect.TypeFor[C]().String(), "memorytest.")
}

var errEnded = errors.New("goroutine ended by runtime.Goexit")

// A job is something that another goroutine does.
type job struct {
	done chan struct{}
	err  error // once done; also of a panic
}

func start(f func() error) *job {
	j := &job{done: make(chan struct{}), err: errEnded}
	go func() {
		defer close(j.done)
		defer func() {
			if r := recover(); r != nil {
				j.err = fmt.Errorf("panic: %v", r)
			}
		}()
		j.err = f()
	}()
	return j
}

// within reports whether the job is done in time.
func (j *job) within(d time.Duration) bool {
	select {
	case <-j.done:
		return true
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-j.done:
		return true
	case <-timer.C:
		return false
	}
}

// during does f in another goroutine, in the middle of what the caller does, and
// reports whether it was done before the caller's operation could go on.
func (p *probe) during(f func() error) (j *job, done bool) {
	j = start(f)
	return j, j.within(p.grace)
}

// finish waits for a job and returns its error.
func (p *probe) finish(j *job) error {
	p.Helper()
	must.NotNil(p, j, "the backend did not call the function that it was given")
	if !j.within(p.patience) {
		must.Fail(p, "deadlock", "an operation is not done after %v", p.patience)
	}
	return j.err
}

// succeed waits for a job that must not fail.
func (p *probe) succeed(j *job) {
	p.Helper()
	must.NoError(p, p.finish(j))
}

// together calls f(0) to f(n-1) at once, each in a goroutine of its own, and
// returns when all have returned. None may fail.
func (p *probe) together(n int, f func(i int) error) {
	p.Helper()
	var ready atomic.Int32
	jobs := make([]*job, n)
	for i := range jobs {
		jobs[i] = start(func() error {
			// Who sleeps here is woken up one after the other: too late.
			for ready.Add(1); ready.Load() < int32(n); {
				runtime.Gosched()
			}
			return f(i)
		})
	}
	for _, j := range jobs {
		p.succeed(j)
	}
}

// queued is together for a backend that calls the function of Modify or Batch
// under its lock: all calls wait for the lock then, and go on in step.
func (p *probe) queued(n int, f func(i int) error) {
	p.Helper()
	var once sync.Once
	jobs := make([]*job, n)
	queue := func() {
		for i := range jobs {
			jobs[i] = start(func() error { return f(i) })
		}
		for _, j := range jobs {
			if !j.within(p.grace) {
				return
			}
		}
	}
	var err error
	if m, ok := p.b.(Modifier); ok {
		p.put(space, "queue", "v")
		err = m.Modify(space, "queue", func(v any) (any, error) {
			once.Do(queue)
			return v, nil
		})
	} else {
		err = need[Batcher](p).Batch(func(tx Backend) error {
			once.Do(queue)
			return tx.Put(space, "queue", "v")
		})
	}
	must.NoError(p, err)
	for _, j := range jobs {
		p.succeed(j)
	}
}
