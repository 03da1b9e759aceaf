//lint:file-ignore U1000 Fields are there to be found by reflection.

package clone

import (
	"context"
	"crypto/ecdh"
	"crypto/elliptic"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"image/color"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
	"unsafe"

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

// singletons are values that their users know by their addresses.
func singletons() map[string]any {
	_, failed := any(1).(fmt.Stringer)
	_ = failed
	return map[string]any{
		"a type":             reflect.TypeFor[about](),
		"UTC":                time.UTC,
		"Local":              time.Local,
		"a zone":             time.FixedZone("z", 60),
		"an expression":      regexp.MustCompile("a"),
		"P256":               elliptic.P256(),
		"ecdh":               ecdh.P256(),
		"x25519":             ecdh.X25519(),
		"base64":             base64.StdEncoding,
		"crc32":              crc32.IEEETable,
		"unicode":            unicode.Latin,
		"a color model":      color.RGBAModel,
		"a replacer":         strings.NewReplacer("a", "b"),
		"a context key":      http.ServerContextKey,
		"a function":         runtime.FuncForPC(reflect.ValueOf(singletons).Pointer()),
		"io.EOF":             io.EOF,
		"sql.ErrNoRows":      sql.ErrNoRows,
		"fs.ErrNotExist":     fs.ErrNotExist,
		"deadline":           os.ErrDeadlineExceeded,
		"closed":             net.ErrClosed,
		"canceled":           context.Canceled,
		"timed out":          context.DeadlineExceeded,
		"ErrNotSupported":    http.ErrNotSupported,
		"ErrMissingBoundary": http.ErrMissingBoundary,
		"a format":           fmt.Errorf("%d", 1),
		"wraps":              fmt.Errorf("more: %w", io.EOF),
		"wraps two":          fmt.Errorf("more: %w, %w", io.EOF, http.ErrNotSupported),
		"joins":              errors.Join(io.EOF, fmt.Errorf("more: %w", io.EOF)),
		"of this package":    &notFound{"it", 1},
		"about it":           &about{notFound{"it", 1}, &about{cause: io.EOF}},
		"about nothing":      &about{},
		"assertion":          assertion(),
	}
}

// assertion returns an error of the runtime, which refers to types in the
// program's memory.
func assertion() (err any) {
	defer func() { err = recover() }()
	var v any = 1
	return v.(string)
}

func TestSingletonsStayThemselves(t *testing.T) {
	type holder struct {
		tags []string
		v    any
	}
	for name, v := range singletons() {
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
				require.Equal(t, err.Error(), cloneOf([]error{err})[0].Error())
				wrap := &about{cause: fmt.Errorf("%w", err)}
				require.Same(t, wrap, cloneOf(any(wrap)))
			}
		})
	}
	// In a place of their own type.
	type typed struct {
		tags []string
		typ  reflect.Type
		loc  *time.Location
		it   *notFound
		more *about
	}
	v := typed{[]string{"a"}, reflect.TypeFor[int](), time.Local, &notFound{}, &about{cause: io.EOF}}
	c := cloneOf(v)
	require.NotSame(t, &v.tags[0], &c.tags[0])
	require.True(t, c.typ == v.typ && c.loc == v.loc && c.it == v.it && c.more == v.more)
	require.False(t, needsClone[*notFound]())
	require.Equal(t, "int", c.typ.String())
}

func TestErrorsThatCanBeModifiedAreCloned(t *testing.T) {
	n := 1
	for name, v := range map[string]error{
		"open":       &open{"a"},
		"counting":   &counting{&n},
		"about":      &about{cause: &open{"a"}},
		"in a chain": &about{cause: &about{cause: fmt.Errorf("%w", &counting{&n})}},
		"wraps two":  fmt.Errorf("%w, %w", io.EOF, &open{"a"}),
		"joins":      errors.Join(io.EOF, &open{"a"}),
		"duplicated": &duplicated{},
	} {
		t.Run(name, func(t *testing.T) {
			require.False(t, IsConstant(reflect.ValueOf(v)))
			c := cloneOf(any(v)).(error)
			require.NotSame(t, v, c)
			require.Equal(t, v.Error(), c.Error())
			if was := new(open); errors.As(v, &was) {
				is := new(open)
				require.ErrorAs(t, c, &is)
				require.NotSame(t, was, is)
			}
		})
	}
	deep := error(&open{"a"})
	round := &about{}
	round.cause = round
	for range 100_000 {
		deep = &about{cause: deep}
	}
	withSmallStack(t, func() {
		require.NotSame(t, deep, cloneOf(deep))
		c := cloneOf(any(round)).(*about)
		require.NotSame(t, round, c)
		require.Same(t, c, c.cause)
	})
}

func TestNatures(t *testing.T) {
	type part struct {
		n  [2]atomic.Int64
		at string
	}
	for typ, want := range map[reflect.Type]Nature{
		reflect.TypeFor[int]():                          Ordinary,
		reflect.TypeFor[string]():                       Ordinary,
		reflect.TypeFor[any]():                          Ordinary,
		reflect.TypeFor[error]():                        Ordinary,
		reflect.TypeFor[[]int]():                        Ordinary,
		reflect.TypeFor[*sync.Mutex]():                  Ordinary,
		reflect.TypeFor[*open]():                        Ordinary,
		reflect.TypeFor[*counting]():                    Ordinary,
		reflect.TypeFor[*guarded]():                     Ordinary,
		reflect.TypeFor[*duplicated]():                  Ordinary,
		reflect.TypeFor[notFound]():                     Ordinary,
		reflect.TypeFor[reflect.Type]():                 Ordinary,
		reflect.TypeFor[*about]():                       Sentinel,
		reflect.TypeFor[*notFound]():                    Sentinel,
		reflect.TypeOf(io.EOF):                          Sentinel,
		reflect.TypeOf(fmt.Errorf("%w", io.EOF)):        Sentinel,
		reflect.TypeOf(errors.Join(io.EOF)):             Sentinel,
		reflect.TypeOf(http.ErrNotSupported):            Constant,
		reflect.TypeOf(reflect.TypeFor[int]()):          Constant,
		reflect.TypeFor[*time.Location]():               Constant,
		reflect.TypeFor[time.Time]():                    Constant,
		reflect.TypeFor[sync.Mutex]():                   Uncopyable,
		reflect.TypeFor[guarded]():                      Uncopyable,
		reflect.TypeFor[part]():                         Uncopyable,
		reflect.TypeFor[[1]part]():                      Uncopyable,
		reflect.TypeFor[unsafe.Pointer]():               Uncopyable,
		reflect.TypeFor[reflect.Value]():                Uncopyable,
		reflect.TypeFor[struct{ t time.Timer }]():       Uncopyable,
		reflect.TypeFor[struct{ r strings.Replacer }](): Uncopyable,
	} {
		require.Equal(t, want, NatureOf(typ), typ)
	}
	require.False(t, IsConstant(reflect.Value{}))
	require.True(t, IsConstant(reflect.ValueOf((*about)(nil))))
	require.False(t, IsConstant(reflect.ValueOf((*open)(nil))))
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
