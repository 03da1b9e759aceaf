//lint:file-ignore U1000 Fields are there to be found by reflection.

package snapshot

import (
	"context"
	"fmt"
	"net"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/cowstore/cowstore/snapshot/clone"
	"github.com/stretchr/testify/require"
)

func needsClone[V any]() bool { return newCloner(Options[V]{}) != nil }

func TestNoCloneWhereNothingIsMutable(t *testing.T) {
	type plain struct {
		a int
		b [3]string
		t time.Time
		c struct{ f float64 }
	}
	type recursive struct{ next *recursive }
	require.False(t, needsClone[int]())
	require.False(t, needsClone[string]())
	require.False(t, needsClone[plain]())
	require.False(t, needsClone[[4]plain]())
	require.False(t, needsClone[struct{}]())
	require.False(t, needsClone[*struct{}]())
	require.False(t, needsClone[[0]*int]())
	require.False(t, needsClone[time.Time]())
	require.False(t, needsClone[*time.Location]())
	require.False(t, needsClone[chan []int]())
	require.False(t, needsClone[func()]())
	require.False(t, needsClone[uintptr]())
	require.False(t, needsClone[valueWithClone]())

	require.True(t, needsClone[*int]())
	require.True(t, needsClone[any]())
	require.True(t, needsClone[error]())
	require.True(t, needsClone[[]byte]())
	require.True(t, needsClone[map[int]int]())
	require.True(t, needsClone[recursive]())
	require.True(t, needsClone[[1]recursive]())
}

type valueWithClone struct{ n int }

func (v valueWithClone) Clone() valueWithClone { return valueWithClone{v.n + 1} }

func TestOptions(t *testing.T) {
	require.Nil(t, newCloner(Options[*sync.Mutex]{Immutable: true}))
	c := newCloner(Options[[]int]{Clone: func(v []int) []int { return append(v, 1) }})
	require.Equal(t, []int{1}, c(nil))
	l := newCloner(Options[*sync.Mutex]{Clone: func(*sync.Mutex) *sync.Mutex { return nil }})
	require.Nil(t, l(new(sync.Mutex)))
	require.PanicsWithValue(t, "snapshot: Options.Clone and Options.Immutable exclude each other", func() {
		newCloner(Options[int]{Clone: func(v int) int { return v }, Immutable: true})
	})
}

// Types with a method Clone. Each counts in n how often it was cloned by it.

type cloneStruct struct {
	n    int
	data []int
}

func (c cloneStruct) Clone() cloneStruct { return cloneStruct{c.n + 1, c.data} }

type clonePointer struct {
	mu sync.Mutex
	n  int
}

func (c *clonePointer) Clone() *clonePointer { return &clonePointer{n: c.n + 1} }

type cloneMap map[string]int

func (c cloneMap) Clone() cloneMap { return cloneMap{"n": c["n"] + 1} }

type cloneSliceType []int

func (c cloneSliceType) Clone() cloneSliceType { return cloneSliceType{c[0] + 1} }

type shape interface {
	Clone() shape
	Count() int
}

type circle struct{ n int }

func (c *circle) Clone() shape { return &circle{c.n + 1} }
func (c *circle) Count() int   { return c.n }

type square struct{ n int }

func (s square) Clone() shape { return square{s.n + 1} }
func (s square) Count() int   { return s.n }

// otherClone has a Clone that is not of the contract.
type otherClone struct{ p *int }

func (o otherClone) Clone() any { panic("not this one") }

// promoted has the Clone of its embedded field, which returns less than a promoted.
type promoted struct {
	cloneStruct
	tags []string
}

func TestCloneMethodOfTheValue(t *testing.T) {
	require.Equal(t, cloneStruct{n: 1}, cloneOf(cloneStruct{}))
	require.Equal(t, 1, cloneOf(&clonePointer{}).n)
	require.Equal(t, cloneMap{"n": 1}, cloneOf(cloneMap{}))
	require.Equal(t, cloneSliceType{1}, cloneOf(cloneSliceType{0}))
	require.Equal(t, 1, cloneOf(shape(&circle{})).Count())
	require.Equal(t, 1, cloneOf(shape(square{})).Count())

	require.Nil(t, cloneOf((*clonePointer)(nil)))
	require.Nil(t, cloneOf(cloneMap(nil)))
	require.Nil(t, cloneOf(cloneSliceType(nil)))
	require.Nil(t, cloneOf(shape(nil)))
	require.Equal(t, shape((*circle)(nil)), cloneOf(shape((*circle)(nil))))
}

func TestCloneMethodInside(t *testing.T) {
	type holder struct {
		s     cloneStruct
		p, q  *clonePointer
		pnil  *clonePointer
		m     cloneMap
		mnil  cloneMap
		sl    cloneSliceType
		slnil cloneSliceType
		i     shape
		inil  shape
		ityp  shape
		any   any
		anys  []any
		ps    *cloneStruct
		other otherClone
		prom  promoted
		v     valueWithClone
	}
	p := &clonePointer{}
	x := 1
	data := []int{1}
	h := holder{
		p: p, q: p, m: cloneMap{}, sl: cloneSliceType{0}, i: &circle{}, ityp: (*circle)(nil),
		any: p, anys: []any{cloneStruct{}, cloneMap{}, cloneSliceType{0}, (*clonePointer)(nil)},
		ps: &cloneStruct{}, other: otherClone{&x},
		prom: promoted{cloneStruct{0, data}, []string{"a"}},
	}
	c := cloneOf(h)
	require.Equal(t, 1, c.s.n)
	require.Equal(t, 1, c.p.n)
	require.Same(t, c.p, c.q)
	require.Same(t, c.p, c.any)
	require.Nil(t, c.pnil)
	require.Equal(t, cloneMap{"n": 1}, c.m)
	require.Nil(t, c.mnil)
	require.Equal(t, cloneSliceType{1}, c.sl)
	require.Nil(t, c.slnil)
	require.Equal(t, 1, c.i.Count())
	require.Nil(t, c.inil)
	require.Equal(t, h.ityp, c.ityp)
	require.Equal(t, []any{cloneStruct{n: 1}, cloneMap{"n": 1}, cloneSliceType{1}, (*clonePointer)(nil)}, c.anys)
	require.Equal(t, 1, c.ps.n)
	require.NotSame(t, h.other.p, c.other.p)
	require.Equal(t, 1, *c.other.p)
	require.Equal(t, 1, c.prom.n, "the field has the method, the struct around it has not")
	require.NotSame(t, &h.prom.tags[0], &c.prom.tags[0])
	require.Same(t, &data[0], &c.prom.data[0], "the method is trusted")

	m := map[string]map[int]*clonePointer{"a": {1: p, 2: p}}
	cm := cloneOf(m)
	require.Equal(t, 1, cm["a"][1].n)
	require.Same(t, cm["a"][1], cm["a"][2])
}

// cloneError returns the CloneError that f panics with, or nil.
func cloneError(f func()) (err *clone.Error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(*clone.Error)
		}
	}()
	f()
	return nil
}

type conn struct {
	name string
	mu   sync.Mutex
}

type session struct {
	id   string
	conn *conn
}

type spin uint32

func (s *spin) Lock()   {}
func (s *spin) Unlock() {}

type marker struct{}

func (*marker) Lock()   {}
func (*marker) Unlock() {}

type Self struct {
	next *Self
	list []Self
	once sync.Once
}

func staticError[V any]() *clone.Error {
	return cloneError(func() { newCloner(Options[V]{}) })
}

func TestLocksOfTheTypePanicWhenTheMapIsMade(t *testing.T) {
	type embeds struct {
		a int
		sync.RWMutex
	}
	type counters struct{ hits [2]atomic.Int64 }
	type marked struct {
		_    marker
		tags []string
	}
	type message struct{ _ [0]sync.Mutex }
	type spins struct{ s spin }
	type timers struct{ t *time.Timer }
	type namedTimer time.Timer
	for _, c := range []struct {
		err  *clone.Error
		path string
		lock reflect.Type
	}{
		{staticError[session](), "session.conn.mu", reflect.TypeFor[sync.Mutex]()},
		{staticError[*session](), "session.conn.mu", reflect.TypeFor[sync.Mutex]()},
		{staticError[[]session](), "([]snapshot.session)[].conn.mu", reflect.TypeFor[sync.Mutex]()},
		{staticError[map[string]*conn](), "(map[string]*snapshot.conn)[].mu", reflect.TypeFor[sync.Mutex]()},
		{staticError[map[*conn]int](), "(map[*snapshot.conn]int)[key].mu", reflect.TypeFor[sync.Mutex]()},
		{staticError[embeds](), "embeds.RWMutex", reflect.TypeFor[sync.RWMutex]()},
		{staticError[counters](), "counters.hits[]", reflect.TypeFor[atomic.Int64]()},
		{staticError[marked](), "marked._", reflect.TypeFor[marker]()},
		{staticError[message](), "message._", reflect.TypeFor[[0]sync.Mutex]()},
		{staticError[spins](), "spins.s", reflect.TypeFor[spin]()},
		{staticError[*marker](), "marker", reflect.TypeFor[marker]()},
		{staticError[Self](), "Self.once", reflect.TypeFor[sync.Once]()},
		{staticError[unsafe.Pointer](), "Pointer", reflect.TypeFor[unsafe.Pointer]()},
		{staticError[[]unsafe.Pointer](), "([]unsafe.Pointer)[]", reflect.TypeFor[unsafe.Pointer]()},
		{staticError[reflect.Value](), "Value", reflect.TypeFor[reflect.Value]()},
		{staticError[timers](), "timers.t", reflect.TypeFor[time.Timer]()},
		{staticError[atomic.Pointer[int]](), "Pointer[int]", reflect.TypeFor[atomic.Pointer[int]]()},
		{staticError[clonePointer](), "clonePointer.mu", reflect.TypeFor[sync.Mutex]()},
	} {
		require.NotNil(t, c.err, c.path)
		require.Equal(t, c.path, c.err.Path)
		require.Equal(t, c.lock, c.err.Type)
	}
	for _, err := range []*clone.Error{
		staticError[sync.WaitGroup](), staticError[sync.Pool](), staticError[sync.Cond](), staticError[sync.Map](),
		staticError[atomic.Value](), staticError[os.File](), staticError[*net.TCPConn](), staticError[*time.Ticker](), staticError[namedTimer](),
	} {
		require.NotNil(t, err)
	}
	// A lock that nothing of the value refers to by type.
	require.Nil(t, staticError[chan sync.Mutex]())
	require.Nil(t, staticError[func(*sync.Mutex)]())
	require.Nil(t, staticError[[0]*sync.Mutex]())
	require.Nil(t, staticError[sync.Locker]())

	require.EqualError(t, staticError[session](), "snapshot: cannot clone snapshot.session: session.conn.mu: "+
		"sync.Mutex must not be copied; give the type that holds it a Clone method or set Options.Clone, "+
		"or share it with Options.Immutable")
}

func TestLocksBehindInterfacesPanicWithTheirPath(t *testing.T) {
	c := &conn{}
	self := map[string]any{}
	self["self"], self["z"] = self, []any{1, self, c}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	x := 1
	type hidden struct{ v any }
	type iface struct{ err fmt.Stringer }
	for _, tt := range []struct {
		v    any
		path string
		lock reflect.Type
	}{
		{map[string]any{"conn": c}, `["conn"].(*snapshot.conn).mu`, reflect.TypeFor[sync.Mutex]()},
		{self, `["z"].([]interface {})[2].(*snapshot.conn).mu`, reflect.TypeFor[sync.Mutex]()},
		{[]any{1, session{conn: c}}, `[1].(snapshot.session).conn.mu`, reflect.TypeFor[sync.Mutex]()},
		{map[int]any{-3: [2]any{nil, hidden{c}}}, `[-3].([2]interface {})[1].(snapshot.hidden).v.(*snapshot.conn).mu`,
			reflect.TypeFor[sync.Mutex]()},
		{map[any]int{c: 1}, `[key *snapshot.conn].(*snapshot.conn).mu`, reflect.TypeFor[sync.Mutex]()},
		{[]any{unsafe.Pointer(&x)}, `[0].(unsafe.Pointer)`, reflect.TypeFor[unsafe.Pointer]()},
		{[]any{[]*atomic.Bool{nil, {}}}, `[0].([]*atomic.Bool)[1]`, reflect.TypeFor[atomic.Bool]()},
		{[]any{new(spin)}, `[0].(*snapshot.spin)`, reflect.TypeFor[spin]()},
		{[]any{time.NewTimer(time.Hour)}, `[0].(*time.Timer)`, reflect.TypeFor[time.Timer]()},
		{[]any{reflect.ValueOf(1)}, `[0].(reflect.Value)`, reflect.TypeFor[reflect.Value]()},
	} {
		clone := newCloner(Options[any]{})
		err := cloneError(func() { clone(tt.v) })
		require.NotNil(t, err, tt.path)
		require.Equal(t, ".("+reflect.TypeOf(tt.v).String()+")"+tt.path, err.Path)
		require.Equal(t, tt.lock, err.Type)
		require.Nil(t, cloneError(func() { clone([]any{1}) }), "a panic spoils no later clone")
	}
	clone := newCloner(Options[map[string]any]{})
	err := cloneError(func() { clone(map[string]any{"a": 1, "conn": c}) })
	require.Equal(t, `["conn"].(*snapshot.conn).mu`, err.Path)
	require.Contains(t, err.Error(), `snapshot: cannot clone map[string]interface {}: ["conn"].(*snapshot.conn).mu: sync.Mutex`)
	require.NotNil(t, cloneError(func() { cloneOf([]any{ctx}) }))
	require.NotNil(t, cloneError(func() { cloneOf(iface{nil}); cloneOf([]any{os.Stdout}) }))

	// No lock, though there could be.
	require.Equal(t, []any{(*conn)(nil), unsafe.Pointer(nil), session{id: "a"}, context.Background()},
		cloneOf([]any{(*conn)(nil), unsafe.Pointer(nil), session{id: "a"}, context.Background()}))
}

func TestLongPathsLackTheirMiddle(t *testing.T) {
	var v any = &conn{}
	for range 100 {
		v = []any{v}
	}
	err := cloneError(func() { cloneOf(v) })
	require.Regexp(t, `^\.\(\[\]interface \{\}\)\[0\].*\[0\]….*\.\(\*snapshot\.conn\)\.mu$`, err.Path)
	require.Less(t, len(err.Path), 600)
}

// broad is a large value with a method Clone.
type broad struct {
	numbers [12]int
	tags    []string
}

func (w broad) Clone() broad {
	w.tags = append([]string(nil), w.tags...)
	return w
}

func TestTheMethodCloneOfAValueCostsNoBox(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	clone, v := newCloner(Options[broad]{}), broad{tags: []string{"a"}}
	var got broad
	require.Equal(t, 1.0, testing.AllocsPerRun(100, func() { got = clone(v) }), "that of the tags")
	require.Equal(t, []string{"a"}, got.tags)
}

func cloneOf[V any](v V) V {
	c := clone.OfWhole[V]()
	if c == nil {
		return v
	}
	return c(v)
}
