package clone_test

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/clone"
	"github.com/cowstore/cowstore/snapshot/snapshottest"
)

// A clone leads to as much as the report of its original says. Slices of one array may be told
// apart where they are few, or cut off in the clone.
func TestAReportIsOfWhatACloneTakes(t *testing.T) {
	ofAny := clone.Of[any]()
	copyOf := func(v any) (copied any, ok bool) {
		defer func() {
			if e := recover(); e != nil {
				require.IsType(t, &clone.Error{}, e)
			}
		}()
		return ofAny(v), true
	}
	compared := 0
	for _, typ := range snapshottest.Types() {
		for seed := range uint64(40) {
			v := snapshottest.Graph(typ, seed)
			if seed%2 == 0 {
				v = snapshottest.TreeOf(typ, seed)
			}
			c, ok := copyOf(v.Interface())
			if !ok {
				continue
			}
			compared++
			want, got := clone.ReportOf(reflect.ValueOf(c), nil).Bytes, clone.ReportOf(v, nil).Bytes
			if seed%2 == 0 {
				require.Equal(t, want, got, "%v, seed %d", typ, seed)
			}
			require.LessOrEqual(t, got, 2*want, "%v, seed %d", typ, seed)
			require.LessOrEqual(t, want, 2*got, "%v, seed %d", typ, seed)
		}
	}
	require.Greater(t, compared, 5000)
}

func TestAReportCountsAnObjectOnce(t *testing.T) {
	type node struct {
		text string
		next *node
		all  map[string]*node
		list []byte
		any  any
	}
	text := strings.Repeat("x", 1000)
	last := &node{text: text}
	list := make([]byte, 100, 5000)
	v := &node{"ab", last, map[string]*node{"abc": last}, list, [2]*node{last, last}}
	last.next = v

	var led []uintptr
	r := clone.ReportOf(reflect.ValueOf(v), func(p unsafe.Pointer, size uintptr) {
		require.NotZero(t, p)
		led = append(led, size)
	})
	word := int64(unsafe.Sizeof(uintptr(0)))
	size := int64(unsafe.Sizeof(node{}))
	require.Equal(t, 2*size+2+1000+3*word+3+100+2*word, r.Bytes)
	slices.Sort(led)
	require.Equal(t, []uintptr{1, uintptr(size), uintptr(size), 5000}, led, "a map, two nodes, and what a slice can grow into")
	require.Equal(t, r.Bytes, r.Made(reflect.ValueOf(v), nil), "nothing has a Clone")
}

// What takes exponential or quadratic time, or many times its size, where an object is counted
// each time that it is met.
func TestAReportTakesTimeByWhatItIsOf(t *testing.T) {
	type pair struct{ a, b any }
	boxes := any(1)
	for range 200 {
		boxes = pair{boxes, boxes}
	}
	n := 20_000
	text, array := strings.Repeat("x", n), make([]*int, n)
	texts, windows, heads := make([]string, n), make([][]*int, n), make([][]*int, n)
	for i := range n {
		array[i] = new(int)
		texts[i], windows[i], heads[i] = text, array[i:], array[:i]
	}
	for name, v := range map[string]any{"boxes": boxes, "texts": texts, "windows": windows, "heads": heads} {
		looked := 0
		r := clone.ReportOf(reflect.ValueOf(v), func(unsafe.Pointer, uintptr) { looked++ })
		require.Less(t, r.Bytes, int64(60*n), name)
		require.Less(t, looked, 3*n, name)
	}
}

// A copy of a strings.Builder that was written to has the address of the first, which a clone
// does without.
func TestAReportIsNotOfTheOtherBuilder(t *testing.T) {
	type log struct{ b strings.Builder }
	first := new(log)
	first.b.WriteString(strings.Repeat("x", 10_000))
	r := clone.ReportOf(reflect.ValueOf(first).Elem(), nil)
	require.Less(t, r.Bytes, int64(15_000))
	type pointer struct{ b *strings.Builder }
	require.Greater(t, clone.ReportOf(reflect.ValueOf(pointer{&first.b}), nil).Bytes, r.Bytes)
	require.Zero(t, clone.ReportOf(reflect.Value{}, nil).Bytes)
}

// A page is copied by its Clone.
type page struct{ text []string }

func (p *page) Clone() *page { return &page{slices.Clone(p.text)} }

// A guarded one knows a lock which is not in it, as a sheet does that its Clone shares.
type guarded struct {
	mu   *sync.Mutex
	text []string
}

func (g *guarded) Clone() *guarded { return &guarded{g.mu, g.text} }

// A crowd shares what has locks of its own.
type crowd struct{ all []*hall }

func (c crowd) Clone() crowd { return crowd{slices.Clone(c.all)} }

type hall struct {
	sync.Mutex
	text []string
}

// A parent shares a child that locks itself when it is cloned, and a club shares anything.
type parent struct{ child *child }

func (p *parent) Clone() *parent { return &parent{p.child} }

type child struct {
	mu   sync.Mutex
	text []string
}

func (c *child) Clone() *child {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &child{text: slices.Clone(c.text)}
}

type club struct{ of any }

func (c club) Clone() club { return c }

// A shared one has a Clone that returns what it is called for.
type shared struct {
	mu   sync.Mutex
	text []string
}

func (s *shared) Clone() *shared { return s }

type shape interface{ Clone() shape }

// A square is a shape that is shared.
type square struct {
	mu   sync.Mutex
	text []string
}

func (s *square) Clone() shape { return s }

// A known one has a size that the caller knows.
type known struct{ N *int }

func (k known) Clone() known { return k }

func TestAReportIsOfWhatAnOwnCloneMakes(t *testing.T) {
	const size = 10_000
	ofAny := clone.Of[any]()
	long := []string{strings.Repeat("x", size)}
	for name, c := range map[string]struct {
		v    any
		made int64
	}{
		"a pointer":             {&struct{ p *page }{&page{long}}, size},
		"in a list":             {[]any{1, &page{long}}, size},
		"in a map":              {map[string]*page{"a": {long}}, size},
		"what the caller knows": {[]known{{}}, 7 * size},
		"what others lock":      {[]any{&guarded{new(sync.Mutex), long}}, 0},
		"what has a lock":       {crowd{[]*hall{{text: long}}}, 0},
		"a child":               {[]any{&parent{&child{text: long}}}, 0},
		"a list of locks":       {[]any{club{[]hall{{text: long}}}}, 0},
		"a pointer to a lock":   {[]any{club{&hall{text: long}}}, 0},
		"what a Locker guards": {[]any{club{&struct {
			mu   sync.Locker
			text *[]string
		}{new(sync.Mutex), &long}}}, 0},
		"what a part guards": {[]any{club{&struct {
			g    struct{ mu *sync.Mutex }
			text *[]string
		}{struct{ mu *sync.Mutex }{new(sync.Mutex)}, &long}}}, 0},
		"what is still shared": {[]any{&shared{text: long}}, 0},
	} {
		r := clone.ReportOf(reflect.ValueOf(c.v), func(_ unsafe.Pointer, size uintptr) {
			require.Less(t, size, uintptr(100), "whose memory that is, only its Clone knows")
		})
		require.Less(t, r.Bytes, int64(100), name)
		got := r.Made(reflect.ValueOf(ofAny(c.v)), func(v reflect.Value) (int64, bool) {
			return 7 * size, v.Type() == reflect.TypeFor[known]()
		})
		require.GreaterOrEqual(t, got, c.made, name)
		require.Less(t, got, c.made+300, name)
	}
}

// A lock that nobody has hides nothing.
func TestAReportLooksBesideANilLock(t *testing.T) {
	type sheet struct {
		mu   *sync.Mutex
		text []string
	}
	v := []any{&sheet{nil, []string{strings.Repeat("x", 10_000)}}, &page{}}
	require.Nil(t, v[0].(*sheet).mu)
	r := clone.ReportOf(reflect.ValueOf(v), nil)
	require.Greater(t, r.Made(reflect.ValueOf(clone.Of[any]()(v)), nil), int64(10_000))
}

// What others may write to is not read.
func TestAReportReadsNothingOfOthers(t *testing.T) {
	s, q := &shared{}, &square{}
	var wg sync.WaitGroup
	stop := make(chan bool)
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, x := range []struct {
				mu   *sync.Mutex
				text *[]string
			}{{&s.mu, &s.text}, {&q.mu, &q.text}} {
				x.mu.Lock()
				*x.text = append((*x.text)[:0:0], "a")
				x.mu.Unlock()
			}
		}
	})
	ofAny := clone.Of[any]()
	v := []any{s, []shape{q}, &struct{ s *shared }{s}}
	for range 100 {
		r := clone.ReportOf(reflect.ValueOf(v), nil)
		require.Equal(t, r.Bytes, r.Made(reflect.ValueOf(ofAny(v)), nil)-0)
		clone.Size(reflect.ValueOf(v), true)
	}
	close(stop)
	wg.Wait()
}
