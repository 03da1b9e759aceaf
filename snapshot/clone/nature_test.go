//lint:file-ignore U1000,SA1019 Fields are there to be found by reflection, and deprecated types are values like any other.

package clone

import (
	"context"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"database/sql"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"
	"go/types"
	"hash/crc32"
	"hash/crc64"
	"image/color"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unique"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/require"
)

// notFound is an error of the usual kind: a struct that only its package can
// write to, told apart by its pointer.
type notFound struct {
	what string
	code int
}

func (e *notFound) Error() string { return e.what }

// about wraps whatever caused it.
type about struct {
	notFound
	cause error
}

func (e *about) Error() string { return e.what }
func (e *about) Unwrap() error { return e.cause }

// open is an error that everybody can write to.
type open struct{ What string }

func (e *open) Error() string { return e.What }

// counting is an error that refers to something that can be modified.
type counting struct{ n *int }

func (e *counting) Error() string { return "counting" }

// guarded is an error with a lock.
type guarded struct{ mu sync.Mutex }

func (e *guarded) Error() string { return "guarded" }

// duplicated is an error with a method Clone.
type duplicated struct{ n int }

func (e *duplicated) Error() string      { return "duplicated" }
func (e *duplicated) Clone() *duplicated { return &duplicated{e.n + 1} }

// The program names two of its errors, and wraps one.
var (
	errMine  = Sentinel(&sentinelError{text: "mine"})
	errJoint = Sentinel(errors.Join(io.EOF, &open{"joined"}))
	p256     = Sentinel(elliptic.P256())
)

// sentinelError is an error whose package may write to it, and whose user compares it by
// its pointer.
type sentinelError struct {
	text string
	n    int
}

func (e *sentinelError) Error() string { return fmt.Sprint(e.text, e.n) }

// stayers are values that stay themselves, and that their users know by their addresses.
func stayers() map[string]any {
	return map[string]any{
		"a type":         reflect.TypeFor[about](),
		"UTC":            time.UTC,
		"Local":          time.Local,
		"a zone":         time.FixedZone("z", 60),
		"ecdh":           ecdh.P256(),
		"x25519":         ecdh.X25519(),
		"base64":         base64.StdEncoding,
		"base32":         base32.StdEncoding,
		"a color model":  color.RGBAModel,
		"a replacer":     strings.NewReplacer("a", "b"),
		"a basic type":   types.Typ[types.Int],
		"a context key":  http.ServerContextKey,
		"a function":     runtime.FuncForPC(reflect.ValueOf(stayers).Pointer()),
		"io.EOF":         io.EOF,
		"sql.ErrNoRows":  sql.ErrNoRows,
		"fs.ErrNotExist": fs.ErrNotExist,
		"deadline":       os.ErrDeadlineExceeded,
		"closed":         net.ErrClosed,
		"canceled":       context.Canceled,
		"timed out":      context.DeadlineExceeded,
		"no such file":   syscall.ENOENT,
		"errors.New":     errors.New("it"),
		"a format":       fmt.Errorf("%d", 1),
		"wraps":          fmt.Errorf("more: %w", io.EOF),
		"wraps it again": fmt.Errorf("more: %w", fmt.Errorf("%w: more", context.DeadlineExceeded)),
		"wraps nothing":  fmt.Errorf("%w", nil),
		"named":          errMine,
		"wraps a named":  fmt.Errorf("more: %w", fmt.Errorf("more: %w", errMine)),
		"a named join":   errJoint,
		"a named curve":  p256,
	}
}

func TestWhatStaysItself(t *testing.T) {
	type holder struct {
		tags []string
		v    any
	}
	for name, v := range stayers() {
		t.Run(name, func(t *testing.T) {
			if reflect.TypeOf(v).Kind() == reflect.Pointer {
				require.True(t, IsConstant(reflect.ValueOf(v)))
			}
			require.True(t, cloneOf(v) == v)
			require.True(t, cloneOf([]any{v})[0] == v)
			c := cloneOf(map[any]*holder{v: {[]string{"a"}, v}})
			require.NotNil(t, c[v], "it can be found under itself")
			require.True(t, c[v].v == v)
			if err, ok := v.(error); ok {
				require.True(t, cloneOf([]error{err})[0] == err)
				wrap := fmt.Errorf("%w", err)
				require.Same(t, wrap, cloneOf(any(wrap)))
				for _, tree := range []error{errors.Join(err, io.EOF), fmt.Errorf("%w, %w", err, io.EOF), &about{cause: err}, errors.Join(nil, errors.Join(wrap))} {
					c := cloneOf(any(tree)).(error)
					require.NotSame(t, tree, c)
					require.Equal(t, tree.Error(), c.Error())
					require.ErrorIs(t, c, err)
				}
			}
		})
	}
	// In a place of their own type.
	type local *time.Location
	type typed struct {
		tags  []string
		typ   reflect.Type
		loc   *time.Location
		other local
		mine  *sentinelError
		its   *sentinelError
	}
	v := typed{[]string{"a"}, reflect.TypeFor[int](), time.Local, time.Local, errMine, &sentinelError{text: "its"}}
	for range 2 {
		c := cloneOf(v)
		require.NotSame(t, &v.tags[0], &c.tags[0])
		require.True(t, c.typ == v.typ && c.loc == v.loc && c.other == v.other && c.mine == errMine)
		require.NotSame(t, v.its, c.its)
		require.Equal(t, v.its, c.its)
		v.its.n++
	}
	require.False(t, needsClone[*time.Location]())
	require.False(t, needsClone[netip.Addr]())
}

func TestErrorsThatCanBeModifiedAreCloned(t *testing.T) {
	n := 1
	far := error(&open{"far"})
	for range 3 {
		far = fmt.Errorf("more: %w", far)
	}
	for name, v := range map[string]error{
		"open":               &open{"a"},
		"of this package":    &notFound{"it", 1},
		"not named":          &sentinelError{text: "other"},
		"about it":           &about{notFound{"it", 1}, &about{cause: io.EOF}},
		"counting":           &counting{&n},
		"about":              &about{cause: &open{"a"}},
		"in a chain":         &about{cause: &about{cause: fmt.Errorf("%w", &counting{&n})}},
		"far below":          far,
		"wraps one":          fmt.Errorf("more: %w", &open{"a"}),
		"wraps two":          fmt.Errorf("%w, %w", io.EOF, fs.ErrNotExist),
		"wraps two, one bad": fmt.Errorf("%w, %w", io.EOF, &open{"a"}),
		"wraps a join":       fmt.Errorf("more: %w", errors.Join(io.EOF)),
		"joins":              errors.Join(io.EOF, fmt.Errorf("more: %w", io.EOF)),
		"joins a bad one":    errors.Join(io.EOF, &open{"a"}),
		"duplicated":         &duplicated{},
		"of http":            http.ErrNotSupported,
		"of fs":              &fs.PathError{Op: "open", Path: "/", Err: syscall.ENOENT},
		"of os":              os.NewSyscallError("open", syscall.ENOENT),
		"of net":             &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded, Addr: &net.TCPAddr{IP: net.IP{1, 2, 3, 4}}},
		"of strconv":         func() error { _, err := strconv.Atoi("x"); return err }(),
		"of the runtime":     assertion().(error),
	} {
		t.Run(name, func(t *testing.T) {
			require.False(t, IsConstant(reflect.ValueOf(v)))
			for _, c := range []error{cloneOf(any(v)).(error), cloneOf([]error{v, io.EOF})[0], cloneOf(map[string]error{"a": v})["a"]} {
				require.NotSame(t, v, c)
				require.Equal(t, v.Error(), c.Error())
				for _, leaf := range []error{io.EOF, fs.ErrNotExist, os.ErrDeadlineExceeded, syscall.ENOENT, strconv.ErrSyntax} {
					require.Equal(t, errors.Is(v, leaf), errors.Is(c, leaf), leaf)
				}
				if was := new(open); errors.As(v, &was) {
					is := new(open)
					require.ErrorAs(t, c, &is)
					require.NotSame(t, was, is)
				}
				if many, ok := v.(interface{ Unwrap() []error }); ok {
					was := v.Error()
					c.(interface{ Unwrap() []error }).Unwrap()[0] = errors.New("modified")
					require.Equal(t, io.EOF, many.Unwrap()[0])
					require.Equal(t, was, errors.Join(v).Error())
				}
			}
		})
	}
	deep, wraps := error(&open{"a"}), io.EOF
	round := &about{}
	round.cause = round
	levels := 100_000
	if testing.Short() {
		levels = 15_000
	}
	for range levels {
		deep = fmt.Errorf("%w", &about{cause: deep})
		wraps = wrap(wraps)
	}
	withSmallStack(t, func() {
		require.NotSame(t, deep, cloneOf(deep))
		require.ErrorIs(t, cloneOf(wraps), io.EOF)
		c := cloneOf(any(round)).(*about)
		require.NotSame(t, round, c)
		require.Same(t, c, c.cause)
	})
}

// wrap wraps an error without its text, which would get long.
func wrap(err error) error {
	w := fmt.Errorf("%w", io.EOF)
	f := reflect.ValueOf(w).Elem().Field(1)
	reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(&err).Elem())
	return w
}

// The error of a type assertion has pointers to types, which the runtime finds by their
// addresses: a copy of one ends the process when the error is printed.
func TestErrorsOfTheRuntimeKeepTheirTypes(t *testing.T) {
	var one any = 1
	err := func() (err error) {
		defer func() { err = recover().(error) }()
		_ = one.(string)
		return nil
	}()
	require.EqualError(t, cloneOf(err), err.Error())
}

// One object behind several errors stays one.
func TestErrorsKeepTheirSharing(t *testing.T) {
	cause := &open{"a"}
	one := fmt.Errorf("more: %w", cause)
	list := []error{cause, one, one, errors.Join(one, cause), errMine}
	c := cloneOf(list)
	require.Equal(t, list, c)
	require.NotSame(t, cause, c[0])
	require.Same(t, c[0], errors.Unwrap(c[1]))
	require.Same(t, c[1], c[2])
	joined := c[3].(interface{ Unwrap() []error }).Unwrap()
	require.Same(t, c[1], joined[0])
	require.Same(t, c[0], joined[1])
	require.Same(t, errMine, c[4])
}

// assertion returns an error of the runtime, which refers to types in the
// program's memory.
func assertion() (err any) {
	defer func() { err = recover() }()
	var v any = 1
	return v.(string)
}

func TestNatures(t *testing.T) {
	type part struct {
		n  [2]atomic.Int64
		at string
	}
	for typ, want := range map[reflect.Type]Nature{
		reflect.TypeFor[int]():                                Ordinary,
		reflect.TypeFor[string]():                             Ordinary,
		reflect.TypeFor[any]():                                Ordinary,
		reflect.TypeFor[error]():                              Ordinary,
		reflect.TypeFor[[]int]():                              Ordinary,
		reflect.TypeFor[*sync.Mutex]():                        Ordinary,
		reflect.TypeFor[*open]():                              Ordinary,
		reflect.TypeFor[*counting]():                          Ordinary,
		reflect.TypeFor[*guarded]():                           Ordinary,
		reflect.TypeFor[*duplicated]():                        Ordinary,
		reflect.TypeFor[notFound]():                           Ordinary,
		reflect.TypeFor[*notFound]():                          Ordinary,
		reflect.TypeFor[*about]():                             Ordinary,
		reflect.TypeFor[reflect.Type]():                       Ordinary,
		reflect.TypeFor[regexp.Regexp]():                      Ordinary,
		reflect.TypeFor[*regexp.Regexp]():                     Ordinary,
		reflect.TypeFor[*unicode.RangeTable]():                Ordinary,
		reflect.TypeFor[*crc32.Table]():                       Ordinary,
		reflect.TypeFor[*crc64.Table]():                       Ordinary,
		reflect.TypeFor[*http.ProtocolError]():                Ordinary,
		reflect.TypeFor[slog.Value]():                         Ordinary,
		reflect.TypeOf(errors.Join(io.EOF, io.EOF)):           Varying, // one is named
		reflect.TypeOf(fmt.Errorf("%w%w", io.EOF, nil)):       Ordinary,
		reflect.TypeOf(fmt.Errorf("%w", io.EOF)):              Varying,
		reflect.TypeFor[*sentinelError]():                     Varying,
		reflect.TypeOf(io.EOF):                                Constant,
		reflect.TypeOf(reflect.TypeFor[int]()):                Constant,
		reflect.TypeFor[*time.Location]():                     Constant,
		reflect.TypeFor[time.Time]():                          Constant,
		reflect.TypeFor[unique.Handle[netip.Addr]]():          Constant,
		reflect.TypeFor[weak.Pointer[[]int]]():                Constant,
		reflect.TypeFor[unique.Handle[*int]]():                Uncopyable,
		reflect.TypeFor[unique.Handle[any]]():                 Uncopyable,
		reflect.TypeFor[unique.Handle[[1]struct{ p *int }]](): Uncopyable,
		reflect.TypeOf(p256).Elem():                           Uncopyable,
		reflect.TypeFor[sync.Mutex]():                         Uncopyable,
		reflect.TypeFor[guarded]():                            Uncopyable,
		reflect.TypeFor[part]():                               Uncopyable,
		reflect.TypeFor[[1]part]():                            Uncopyable,
		reflect.TypeFor[unsafe.Pointer]():                     Uncopyable,
		reflect.TypeFor[reflect.Value]():                      Uncopyable,
		reflect.TypeFor[struct{ t time.Timer }]():             Uncopyable,
		reflect.TypeFor[struct{ r strings.Replacer }]():       Uncopyable,
	} {
		require.Equal(t, want, NatureOf(typ), typ)
	}
	require.False(t, IsConstant(reflect.Value{}))
	require.True(t, IsConstant(reflect.ValueOf((*time.Location)(nil))))
	require.False(t, IsConstant(reflect.ValueOf((*open)(nil))))
	require.False(t, IsConstant(reflect.ValueOf((*sentinelError)(nil))))
}

// What is refused says the way out.
func TestCurvesAndHandlesOfWhatCanBeModified(t *testing.T) {
	err := cloneError(func() { cloneOf(any(&ecdsa.PublicKey{Curve: elliptic.P384()})) })
	require.ErrorContains(t, err, "Sentinel")
	key := &ecdsa.PublicKey{Curve: p256, X: big.NewInt(1), Y: big.NewInt(2)}
	c := cloneOf(any(key)).(*ecdsa.PublicKey)
	require.NotSame(t, key, c)
	require.True(t, key.Equal(c), "the curve was named")

	n := 1
	require.Error(t, cloneError(func() { cloneOf(any(unique.Make(&n))) }))
	require.Error(t, cloneError(func() { cloneOf([]any{unique.Make(any("text"))}) }))
}

// Types that are in their own markers and handles.
type (
	marked      struct{ _ [0]*marked }
	interned    struct{ h unique.Handle[interned] }
	internedToo struct {
		h unique.Handle[internedToo]
		p *int
	}
)

func TestTypesInTheirOwnMarkers(t *testing.T) {
	require.Equal(t, Constant, NatureOf(reflect.TypeFor[*marked]()))
	require.False(t, needsClone[marked]())
	require.False(t, needsClone[interned]())
	require.Equal(t, Uncopyable, NatureOf(reflect.TypeFor[internedToo]()))
}

func TestSentinel(t *testing.T) {
	type late struct{ error }
	type value struct{ error }
	require.PanicsWithValue(t, "clone: Sentinel of clone.value: name a pointer that is not nil; values that are compared without one stay equal in a clone",
		func() { Sentinel[error](value{}) })
	require.Panics(t, func() { Sentinel[error](nil) })
	require.Panics(t, func() { Sentinel((*late)(nil)) })
	require.Panics(t, func() { Sentinel([]int{1}) })

	require.Same(t, time.UTC, Sentinel(time.UTC), "which stays itself anyway")
	a := Sentinel(&late{})
	require.Same(t, a, Sentinel(a))
	require.NotSame(t, a, cloneOf([]*late{a, {}})[1])
	require.Same(t, a, cloneOf([]*late{a, {}})[0])
	require.Same(t, a, Sentinel(a), "to name it twice is no mistake")
	require.PanicsWithValue(t, "clone: Sentinel of a *clone.late after the first clone of its type: "+
		"name it where the variable is declared, before any store whose values may hold one is made", func() { Sentinel(&late{}) })

	type asked struct{ error }
	require.Equal(t, Ordinary, NatureOf(reflect.TypeFor[*asked]()))
	require.Panics(t, func() { Sentinel(&asked{}) }, "somebody went by its nature")
}

// A named value stays itself wherever it is met.
func TestSentinelEverywhere(t *testing.T) {
	m := &sentinelShape{n: []int{1}}
	m.self = m
	Sentinel(m)
	other := &sentinelShape{n: []int{1}, self: m}
	for range 3 {
		in := []any{m, other, &m, map[*sentinelShape]cloning{m: m}, struct{ *sentinelShape }{m}, &other.n, cloning(other), []*sentinelShape{other, m}}
		out := cloneOf(in)
		require.Same(t, m, out[0])
		require.NotSame(t, other, out[1])
		require.Same(t, m, out[1].(*sentinelShape).self)
		require.Same(t, m, *out[2].(**sentinelShape))
		require.Same(t, m, out[3].(map[*sentinelShape]cloning)[m])
		require.Same(t, m, out[4].(struct{ *sentinelShape }).sentinelShape)
		require.Same(t, &out[1].(*sentinelShape).n, out[5], "into what is cloned")
		require.Same(t, m, out[7].([]*sentinelShape)[1])
		require.Same(t, out[1], out[7].([]*sentinelShape)[0])
		inside := cloneOf([]any{m, &m.n})
		require.NotSame(t, &m.n, inside[1], "what is named is the pointer, and not what is in it")
	}
}

// What is named may hold a lock, and is not looked into.
func TestASentinelWithALock(t *testing.T) {
	type locked struct {
		guarded
		p *int
	}
	g := Sentinel(&locked{})
	arr := [2]int{1, 2}
	for range 3 {
		c := cloneOf([]any{g, &arr, &arr[1]})
		require.Same(t, g, c[0])
		require.Same(t, &c[1].(*[2]int)[1], c[2])
		require.Same(t, g, cloneOf([]error{g, io.EOF})[0])
	}
	require.Error(t, cloneError(func() { cloneOf([]any{&locked{}}) }))
}

type namedClone struct{ n int }

func (c *namedClone) Clone() *namedClone { return &namedClone{c.n} }

// A name goes before a method Clone.
func TestASentinelWithAClone(t *testing.T) {
	m, other := Sentinel(&namedClone{1}), &namedClone{2}
	require.Same(t, m, cloneOf(m))
	require.NotSame(t, other, cloneOf(other))
	require.Equal(t, other, cloneOf(other))
	c := cloneOf([]*namedClone{m, other})
	require.Same(t, m, c[0])
	require.NotSame(t, other, c[1])
}

type sentinelShape struct {
	n    []int
	self *sentinelShape
}

func (s *sentinelShape) Clone() cloning { return &sentinelShape{slices.Clone(s.n), s.self} }

func TestSentinelsAreNamedConcurrently(t *testing.T) {
	type one struct{ error }
	type many struct{ error }
	var all sync.WaitGroup
	named := make([]*many, 50)
	for i := range named {
		named[i] = &many{}
		all.Go(func() {
			Sentinel(named[i])
			cloneOf([]any{&one{}, i})
		})
	}
	all.Wait()
	for _, v := range named {
		require.Same(t, v, cloneOf([]any{v})[0])
	}
}

// Keys hold the address of their curve, which their methods compare.
func TestClonedKeysAgree(t *testing.T) {
	for _, curve := range []ecdh.Curve{ecdh.P256(), ecdh.X25519()} {
		a, err := curve.GenerateKey(rand.Reader)
		require.NoError(t, err)
		b, err := curve.GenerateKey(rand.Reader)
		require.NoError(t, err)
		want, err := a.ECDH(b.PublicKey())
		require.NoError(t, err)
		got, err := cloneOf(a).ECDH(b.PublicKey())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
