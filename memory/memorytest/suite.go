package memorytest

import (
	"encoding/json"
	"runtime/debug"
	"testing"
	"time"
)

// Options say what is not expected of a backend. The zero Options expect
// everything.
type Options struct {
	// JSON says that values come back as encoding/json decodes them into an any,
	// whatever they went in as.
	JSON bool
}

// Test tests the backends that open returns, a new and empty one for each test.
// Open may end a test by its argument, and have it clean up.
func Test(t *testing.T, open func(t testing.TB) Backend) {
	t.Helper()
	TestWith(t, Options{}, open)
}

// TestWith is Test with Options.
func TestWith(t *testing.T, o Options, open func(t testing.TB) Backend) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			// The other tests are run also if the backend panics in one.
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("panic: %v\n%s", r, debug.Stack())
				}
			}()
			c.run(&probe{tb: t, b: open(t), o: o, grace: grace, patience: patience})
		})
	}
}

// A check is one test, by the name of what must hold.
type check struct {
	name string
	run  func(p *probe)
}

// checks returns all tests, in the order that they are read best.
func checks() []check {
	var all []check
	for _, group := range [][]check{
		basicChecks, callerChecks(), readerChecks(), typeChecks(), vectorChecks(), spaceChecks, insertChecks, updateChecks,
		conditionalChecks, deleteChecks, failureChecks(), tornChecks, snapshotChecks, searchChecks,
	} {
		all = append(all, group...)
	}
	return all
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
