package memorytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options say what is not expected of a backend. The zero Options expect
// everything.
type Options struct {
	// JSON says that values come back as encoding/json decodes them into an any,
	// whatever they went in as.
	JSON bool
}

// A check is one test, by the name of what must hold.
type check struct {
	name string
	run  func(p *probe)
}

// A tb is what a check needs of a testing.TB, so that the tests of this package
// can tell that a check fails without failing.
type tb interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
	Skipf(format string, args ...any)
}

// A probe is one test of one backend. Its methods end the test at the first thing
// that is wrong. Only the goroutine of the test may use them, but for those that
// return an error.
type probe struct {
	tb
	b        Backend
	o        Options
	grace    time.Duration
	patience time.Duration
}

// need returns the backend as the capability C, or skips the test.
func need[C any](p *probe) C {
	p.Helper()
	c, ok := p.b.(C)
	if !ok {
		p.Skipf("the backend has no %s", nameOf[C]())
	}
	return c
}

func (p *probe) put(space []string, key string, value any) {
	p.Helper()
	must.NoError(p, p.b.Put(space, key, value), "Put of %T", value)
}

// get returns a value that must be there.
func (p *probe) get(space []string, key string) any {
	p.Helper()
	v, found, err := p.b.Get(space, key)
	must.NoError(p, err, "Get of %q in %q", key, space)
	must.True(p, found, "%q is not in %q", key, space)
	return v
}

// holds checks that a key has a value.
func (p *probe) holds(space []string, key string, want any, message string) {
	p.Helper()
	p.same(want, p.get(space, key), message)
}

// absent checks that a key has no value.
func (p *probe) absent(space []string, key, message string) {
	p.Helper()
	v, found, err := p.b.Get(space, key)
	must.NoError(p, err)
	must.False(p, found, "%s: it is %#v", message, v)
}

// same checks that a value came back as it went in.
func (p *probe) same(want, got any, message string) {
	p.Helper()
	must.Equal(p, p.shape(want), p.shape(got), message)
}

// shape returns what is compared of a value.
func (p *probe) shape(v any) any {
	if !p.o.JSON {
		return v
	}
	text, err := json.Marshal(v)
	must.NoError(p, err)
	var shape any
	must.NoError(p, json.Unmarshal(text, &shape))
	return shape
}

// accepted skips the test if the backend refuses a value that it may refuse.
func (p *probe) accepted(what string, needed bool, err error) {
	p.Helper()
	if err != nil && !needed {
		p.Skipf("the backend refuses %s: %v", what, err)
	}
	must.NoError(p, err)
}

// Where most tests store.
var space = []string{"agent", "session"}

// lists checks the keys of a space.
func (p *probe) lists(l interface {
	List(space []string) ([]string, error)
}, space []string, want ...string) {
	p.Helper()
	got, err := l.List(space)
	must.NoError(p, err)
	got = slices.Clone(got)
	slices.Sort(got)
	slices.Sort(want)
	must.True(p, slices.Equal(want, got), "keys of %q: got %q, want %q", space, got, want)
}

var errRefused = errors.New("refused by the test")

const (
	workers = 8   // goroutines at once
	each    = 100 // what each of them does
	rounds  = 500 // how often a race is run that no hook decides
)

// number returns a count that was stored as an int.
func number(v any) int {
	switch v := v.(type) {
	case int:
		return v
	case float64:
		return int(v)
	}
	if r := reflect.ValueOf(v); r.IsValid() && r.CanInt() {
		return int(r.Int())
	}
	return -1
}

func increment(v any) (any, error) { return number(v) + 1, nil }

func (p *probe) revision(c Conditional, key string) uint64 {
	p.Helper()
	r, err := c.Revision(space, key)
	must.NoError(p, err)
	return r
}

func (p *probe) setIf(c Conditional, key string, revision uint64, v any, want bool) {
	p.Helper()
	done, err := c.SetIf(space, key, revision, v)
	must.NoError(p, err)
	must.Equal(p, want, done, "SetIf with revision %d", revision)
}

// whileWriting calls write with 1, 2, … while three readers read, each of them as
// often as it must at least.
func (p *probe) whileWriting(write func(n int) error, read func() error) {
	p.Helper()
	const readers = 3
	var reading atomic.Int32
	reading.Store(readers)
	var stop atomic.Bool
	p.together(1+readers, func(i int) (err error) {
		defer func() {
			if err != nil {
				stop.Store(true)
			}
		}()
		if i == 0 {
			for n := 1; reading.Load() > 0 && !stop.Load(); n++ {
				if err := write(n); err != nil {
					return err
				}
			}
			return nil
		}
		defer reading.Add(-1)
		for n := 0; n < 3*rounds && !stop.Load(); n++ {
			if err := read(); err != nil {
				return err
			}
		}
		return nil
	})
}

// holdsVector checks the vector "k" and its metadata, however they are read. Metadata
// of no keys may be nil.
func (p *probe) holdsVector(v VectorReader, vector []float32, metadata map[string]any, message string) {
	p.Helper()
	got, m, found, err := v.GetVector(space, "k")
	must.NoError(p, err)
	must.True(p, found)
	must.Equal(p, vector, got, message)
	hits, err := v.SearchVector(space, vector, 1)
	must.NoError(p, err)
	must.Len(p, hits, 1, message)
	must.Equal(p, "k", hits[0].Key, message)
	if hits[0].Vector != nil {
		must.Equal(p, vector, hits[0].Vector, message)
	}
	if len(metadata)+len(m)+len(hits[0].Metadata) > 0 {
		p.same(metadata, m, message)
		p.same(metadata, hits[0].Metadata, message)
	}
}

// allowed skips kinds of value that the options rule out.
func (k kind) allowed(p *probe) {
	p.Helper()
	if p.o.JSON && k.typed {
		p.Skipf("JSON does not show %s", k.name)
	}
}

// oneWins checks that of n that store their numbers by a key at once, in the given
// way, one says that it did, and did.
func (p *probe) oneWins(atOnce func(n int, f func(i int) error), n int, key string, store func(key string, i int) (bool, error)) {
	p.Helper()
	var winners, winner atomic.Int32
	atOnce(n, func(i int) error {
		won, err := store(key, i)
		if won {
			winners.Add(1)
			winner.Store(int32(i))
		}
		return err
	})
	must.Equal(p, int32(1), winners.Load(), "winners")
	p.holds(space, key, int(winner.Load()), "what the winner stored")
}

// oneWinsOfHooked is oneWins with values that wait for each other in the middle of
// what the backend does.
func (p *probe) oneWinsOfHooked(store func(key string, v hooked) (bool, error)) {
	p.Helper()
	meet := meeting(workers, p.grace)
	number, stop := hook(meet)
	defer stop()
	p.accepted("a struct with methods", false, p.b.Put(space, "other", hooked{}))
	var winners, winner atomic.Int32
	p.together(workers, func(i int) error {
		won, err := store("k", hooked{ID: i, Hook: number})
		if won {
			winners.Add(1)
			winner.Store(int32(i))
		}
		return err
	})
	must.Equal(p, int32(1), winners.Load(), "winners")
	p.holds(space, "k", hooked{ID: int(winner.Load()), Hook: number}, "what the winner stored")
}

// incrementIn returns what increments a key in a Batch, and calls between after it was
// read.
func incrementIn(key string, between func()) func(tx Backend) error {
	return func(tx Backend) error {
		v, _, err := tx.Get(space, key)
		if err != nil {
			return err
		}
		if between != nil {
			between()
		}
		return tx.Put(space, key, number(v)+1)
	}
}

// must has what checks state, in the words of testify, which a package that is not
// for tests of this module alone must not import. What is not so ends the check.
var must required

type required struct{}

// fail ends the check.
func (required) fail(t tb, message []any, format string, args ...any) {
	t.Helper()
	text := fmt.Sprintf(format, args...)
	if len(message) > 0 {
		first, ok := message[0].(string)
		if !ok || len(message) == 1 {
			first = fmt.Sprint(message[0])
		} else {
			first = fmt.Sprintf(first, message[1:]...)
		}
		text = first + ": " + text
	}
	t.Errorf("%s", text)
	t.FailNow()
}

func (r required) True(t tb, is bool, message ...any) {
	t.Helper()
	if !is {
		r.fail(t, message, "it is false")
	}
}

func (r required) False(t tb, is bool, message ...any) {
	t.Helper()
	if is {
		r.fail(t, message, "it is true")
	}
}

func (r required) Equal(t tb, want, is any, message ...any) {
	t.Helper()
	if !reflect.DeepEqual(want, is) {
		r.fail(t, message, "%#v, not %#v", is, want)
	}
}

func (r required) NotEqual(t tb, not, is any, message ...any) {
	t.Helper()
	if reflect.DeepEqual(not, is) {
		r.fail(t, message, "%#v, which it must not be", is)
	}
}

func (r required) Zero(t tb, is any, message ...any) {
	t.Helper()
	if is != nil && !reflect.ValueOf(is).IsZero() {
		r.fail(t, message, "%#v, not zero", is)
	}
}

func (r required) NotZero(t tb, is any, message ...any) {
	t.Helper()
	if is == nil || reflect.ValueOf(is).IsZero() {
		r.fail(t, message, "%#v, which is zero", is)
	}
}

func (r required) NotNil(t tb, is any, message ...any) {
	t.Helper()
	if is == nil {
		r.fail(t, message, "it is nil")
	}
}

func (r required) Len(t tb, of any, n int, message ...any) {
	t.Helper()
	if is := reflect.ValueOf(of).Len(); is != n {
		r.fail(t, message, "%d in %#v, not %d", is, of, n)
	}
}

func (r required) NoError(t tb, err error, message ...any) {
	t.Helper()
	if err != nil {
		r.fail(t, message, "error: %v", err)
	}
}

func (r required) Error(t tb, err error, message ...any) {
	t.Helper()
	if err == nil {
		r.fail(t, message, "no error")
	}
}

func (r required) ErrorIs(t tb, err, want error, message ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		r.fail(t, message, "error %v, not %v", err, want)
	}
}

func (r required) NotContains(t tb, all []uint64, one uint64, message ...any) {
	t.Helper()
	if slices.Contains(all, one) {
		r.fail(t, message, "%d is among %v", one, all)
	}
}

func (r required) Contains(t tb, all []int, one int, message ...any) {
	t.Helper()
	if !slices.Contains(all, one) {
		r.fail(t, message, "%d is not among %v", one, all)
	}
}

func (r required) Fail(t tb, text string, message ...any) {
	t.Helper()
	r.fail(t, message, "%s", text)
}

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
