//lint:file-ignore SA1019 Deprecated types are values like any other.

package clone

import (
	"bytes"
	"container/list"
	"container/ring"
	"context"
	"crypto/ecdh"
	"database/sql"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"hash/crc32"
	"hash/crc64"
	"hash/maphash"
	"image"
	"image/color"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"net/mail"
	"net/netip"
	"net/textproto"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unique"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/require"
)

// A modifier writes to all that is reached from a value by what its package exports:
// fields, elements, entries, and what methods and functions return. It does not assign
// over structs that have unexported fields: that is the exception which the documentation
// of the package names.
type modifier struct {
	met    map[any]bool
	depth  int
	calls  int
	writes int
}

func modify(v any) (writes int) {
	m := &modifier{met: map[any]bool{}}
	m.value(reflect.ValueOf(v))
	return m.writes
}

type metValue struct {
	t reflect.Type
	p unsafe.Pointer
}

func (m *modifier) value(v reflect.Value) {
	if !v.IsValid() || m.depth > 6 {
		return
	}
	m.depth++
	defer func() { m.depth-- }()
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		k := metValue{v.Type(), v.UnsafePointer()}
		if k.p == nil || m.met[k] {
			return
		}
		m.met[k] = true
	default:
		// One such value is as good as another: nothing in it can be written to.
		if k := v.Type(); v.Kind() != reflect.Interface && planOf(k).fix == nil {
			if m.met[k] {
				return
			}
			m.met[k] = true
		}
	}
	if v.Type().PkgPath() == "reflect" || v.Type().PkgPath() == "weak" {
		if v.Kind() == reflect.Struct {
			return // by which all can be written to; a handle
		}
	}
	m.methods(v)
	switch v.Kind() {
	case reflect.Pointer:
		m.value(v.Elem())
		m.set(v.Elem())
	case reflect.Interface:
		m.value(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				m.value(v.Field(i))
				m.set(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range min(v.Len(), 20) {
			m.value(v.Index(i))
			m.set(v.Index(i))
		}
	case reflect.Map:
		for k, e := range v.Seq2() {
			m.value(k)
			m.value(e)
		}
		v.Clear()
		m.writes++
	case reflect.Func:
		m.call(v)
	}
}

// set writes to the variable v itself.
func (m *modifier) set(v reflect.Value) {
	if !v.CanSet() || v.Kind() == reflect.Struct {
		return
	}
	m.writes++
	switch {
	case v.CanInt():
		v.SetInt(v.Int() ^ 1)
	case v.CanUint():
		v.SetUint(v.Uint() ^ 1)
	case v.CanFloat():
		v.SetFloat(v.Float() + 1)
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "modified")
	default:
		v.SetZero()
	}
}

func (m *modifier) methods(v reflect.Value) {
	if v.CanAddr() && v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface {
		v = v.Addr()
	}
	if v.Kind() == reflect.Interface && v.IsNil() {
		return
	}
	for i := range v.NumMethod() {
		m.call(v.Method(i))
	}
}

// call calls f with plain arguments, and looks at what it returns.
func (m *modifier) call(f reflect.Value) {
	if m.calls++; f.IsNil() || m.calls > 1000 {
		return
	}
	defer func() { _ = recover() }() // for which the arguments were not made
	t := f.Type()
	if t.CanSeq() && t.NumIn() == 1 && t.In(0).NumIn() == 1 {
		for e := range f.Seq() {
			m.value(e)
		}
		return
	}
	args := make([]reflect.Value, t.NumIn())
	for i := range args {
		args[i] = argument(t.In(i))
	}
	call := f.Call
	if t.IsVariadic() {
		call = f.CallSlice
	}
	for _, r := range call(args) {
		m.value(r)
	}
}

func argument(t reflect.Type) reflect.Value {
	for _, v := range []any{"text", 1, uint(1), []byte("text"), io.Discard, strings.NewReader("some text, long enough to be a key"), reflect.TypeFor[int]()} {
		if r := reflect.ValueOf(v); r.Type().AssignableTo(t) && (t.Kind() != reflect.Interface || t.NumMethod() > 0) {
			return r
		}
	}
	if t.Kind() == reflect.Func {
		return reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value {
			out := make([]reflect.Value, t.NumOut())
			for i := range out {
				out[i] = reflect.Zero(t.Out(i))
			}
			return out
		})
	}
	return reflect.Zero(t)
}

// An imprint is a hash of all memory that a value reaches, by unexported fields too.
type imprint struct {
	h   maphash.Hash
	met map[any]int
}

var imprintSeed = maphash.MakeSeed()

func imprintOf(v any) uint64 {
	p := &imprint{met: map[any]int{}}
	p.h.SetSeed(imprintSeed)
	p.value(reflect.ValueOf(&v).Elem())
	return p.h.Sum64()
}

func (p *imprint) word(x uint64) { maphash.WriteComparable(&p.h, x) }

func (p *imprint) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		k := metValue{v.Type(), v.UnsafePointer()}
		if k.p == nil {
			p.word(0)
			return
		}
		if n, ok := p.met[k]; ok {
			p.word(uint64(n))
			return
		}
		p.met[k] = len(p.met) + 1
	}
	switch v.Kind() {
	case reflect.Pointer:
		if path := v.Type().Elem().PkgPath(); path != "runtime" && path != "internal/abi" {
			p.value(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			p.h.WriteString(v.Elem().Type().String())
			p.value(v.Elem())
		}
	case reflect.Struct:
		if attrs, ok := attrsOf(v); ok {
			p.value(attrs)
			return
		}
		for i := range v.NumField() {
			p.value(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		p.word(uint64(v.Len()))
		for i := range v.Len() {
			p.value(v.Index(i))
		}
	case reflect.Map:
		for _, e := range sorted(v) {
			p.value(e.key)
			p.value(e.elem)
		}
	case reflect.String:
		p.h.WriteString(v.String())
		p.word(0)
	case reflect.Bool:
		maphash.WriteComparable(&p.h, v.Bool())
	case reflect.Complex64, reflect.Complex128:
		maphash.WriteComparable(&p.h, v.Complex())
	case reflect.UnsafePointer, reflect.Chan, reflect.Func:
		p.word(uint64(v.Pointer()))
	default:
		switch {
		case v.CanInt():
			p.word(uint64(v.Int()))
		case v.CanUint():
			p.word(v.Uint())
		case v.CanFloat():
			maphash.WriteComparable(&p.h, v.Float())
		}
	}
}

// The local zone and a replacer are made ready at their first use, which an imprint shows.
var _, _ = time.Now().Zone() //lint:ignore SA4017 for what the call makes ready

func newReplacer(texts ...string) *strings.Replacer {
	r := strings.NewReplacer(texts...)
	r.Replace("abcd")
	return r
}

// keptValues are values of the types in kept, as somebody outside of their packages has them.
func keptValues() map[string][]any {
	zone := time.FixedZone("z", 60)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		berlin = zone
	}
	replacers := []any{newReplacer("a", "b"), newReplacer("a", "bc"), newReplacer("abc", "d"), newReplacer("ab", "c", "d", "ef", "", "x")}
	frames := runtime.CallersFrames(func() []uintptr { pc := make([]uintptr, 1); runtime.Callers(1, pc); return pc }())
	frame, _ := frames.Next()
	text := "text"
	types := []any{types.Typ[types.Int], types.Typ[types.UnsafePointer], types.Typ[types.UntypedNil]}
	return map[string][]any{
		"time.Time":                 {time.Now(), time.Now().In(zone), time.Now().In(berlin), time.Time{}, time.Unix(1, 2).UTC()},
		"time.Location":             {*zone, *berlin, time.Location{}},
		"*time.Location":            {zone, berlin, time.UTC, time.Local},
		"*encoding/base32.Encoding": {base32.StdEncoding, base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)},
		"*encoding/base64.Encoding": {base64.StdEncoding, base64.URLEncoding.Strict()},
		"*strings.Replacer":         replacers,
		"*go/types.Basic":           types,
		"*errors.errorString":       {errors.New("it"), io.EOF, fmt.Errorf("%d", 1), fs.ErrNotExist},
		"*crypto/ecdh.nistCurve":    {ecdh.P256(), ecdh.P521()},
		"*crypto/ecdh.x25519Curve":  {ecdh.X25519()},
		"*image/color.modelFunc":    {color.RGBAModel, color.ModelFunc(func(c color.Color) color.Color { return c })},
		"*net/http.contextKey":      {http.ServerContextKey},
		"*reflect.rtype": {
			reflect.TypeFor[outer](), reflect.TypeFor[map[string]int](), reflect.TypeFor[*http.Request](), reflect.TypeFor[fs.File](),
			reflect.TypeFor[func(int, ...string) error](), reflect.TypeFor[[3]chan int](),
		},
		"*runtime._func":      {frame},
		"*runtime.moduledata": {frame},
		"log/slog.stringptr":  {slog.StringValue(text), slog.String("k", text)},
		"weak.Pointer":        {weak.Make(&text), weak.Pointer[int]{}},
		"unique.Handle":       {unique.Make("text"), unique.Make(netip.MustParseAddr("fe80::1%eth0")), netip.MustParseAddr("fe80::1%eth0")},
	}
}

func TestNothingThatStaysItselfGivesAnythingOut(t *testing.T) {
	values := keptValues()
	for name := range kept {
		require.NotEmpty(t, values[name], "no value of %s", name)
		for _, v := range values[name] {
			require.False(t, planOf(reflect.TypeOf(v)).fix != nil && planOf(reflect.TypeOf(v)).class != classGroup && planOf(reflect.TypeOf(v)).class != classStruct, "%T", v)
			want := imprintOf(v)
			modify(v)
			require.Equal(t, want, imprintOf(v), "%s: %v", name, v)
			if reflect.TypeOf(v).Comparable() {
				require.True(t, cloneOf(v) == v)
			}
		}
	}
	require.Len(t, values, len(kept))
}

// The tests above and below would find what gives itself out.
func TestModifierAndImprint(t *testing.T) {
	re := regexp.MustCompile("(?P<x>a)")
	for _, v := range []any{
		errors.Join(io.EOF), &fs.PathError{Op: "x"}, []int{1}, map[string]int{"a": 1}, re, unicode.Latin, crc32.MakeTable(1),
		slog.GroupValue(slog.Int("a", 1)), big.NewInt(5), list.New(), &http.ProtocolError{}, bytes.NewBufferString("a"),
	} {
		want := imprintOf(v)
		require.Equal(t, want, imprintOf(v))
		c := cloneOf(v)
		require.Equal(t, want, imprintOf(c), "%T", v)
		require.Positive(t, modify(c))
		require.NotEqual(t, want, imprintOf(c), "%T", v)
		require.Equal(t, want, imprintOf(v), "%T", v)
	}
}

// libraryValues make values of the standard library of all sorts, fresh ones.
var libraryValues = []func(r *rand.Rand) any{
	func(r *rand.Rand) any { return errors.Join(io.EOF, anError(r), anError(r)) },
	func(r *rand.Rand) any { return anError(r) },
	func(r *rand.Rand) any { return newGroupOf(r) },
	func(r *rand.Rand) any { return slog.Attr{Key: "k", Value: newGroupOf(r)} },
	func(r *rand.Rand) any {
		rec := slog.NewRecord(time.Unix(1, 2), slog.LevelInfo, "m", 0)
		for range r.IntN(9) {
			rec.AddAttrs(slog.Attr{Key: "k", Value: newGroupOf(r)})
		}
		return rec
	},
	func(r *rand.Rand) any { return regexp.MustCompile("a(?P<x>|b)") },
	func(r *rand.Rand) any { return *regexp.MustCompile("(?P<x>a+)(b)$") },
	func(r *rand.Rand) any {
		return &unicode.RangeTable{R16: []unicode.Range16{{Lo: 1, Hi: 2, Stride: 1}}, R32: []unicode.Range32{{Lo: 1 << 17, Hi: 1 << 18, Stride: 1}}}
	},
	func(r *rand.Rand) any { return crc32.MakeTable(crc32.Koopman) },
	func(r *rand.Rand) any { return crc64.MakeTable(12345) },
	func(r *rand.Rand) any { return big.NewInt(r.Int64()) },
	func(r *rand.Rand) any { return big.NewRat(3, 7) },
	func(r *rand.Rand) any { return *big.NewFloat(2.5) },
	func(r *rand.Rand) any { u, _ := url.Parse("http://a:b@c/d?x=1"); return u },
	func(r *rand.Rand) any { return url.Values{"a": {"1", "2"}} },
	func(r *rand.Rand) any { return http.Header{"A": {"1", "2"}} },
	func(r *rand.Rand) any { return &http.Cookie{Name: "a", Unparsed: []string{"x"}} },
	func(r *rand.Rand) any { return textproto.MIMEHeader{"A": {"1"}} },
	func(r *rand.Rand) any {
		l := list.New()
		l.PushBack(big.NewInt(1))
		l.PushBack([]int{2})
		return l
	},
	func(r *rand.Rand) any { g := ring.New(3); g.Value = []int{1}; return g },
	func(r *rand.Rand) any { return json.RawMessage(`{"a":1}`) },
	func(r *rand.Rand) any { return bytes.NewBufferString("some text") },
	func(r *rand.Rand) any { return strings.NewReader("some text") },
	func(r *rand.Rand) any { return netip.MustParsePrefix("10.0.0.0/8") },
	func(r *rand.Rand) any { return &net.IPNet{IP: net.IP{1, 2, 3, 4}, Mask: net.CIDRMask(8, 32)} },
	func(r *rand.Rand) any { return &net.TCPAddr{IP: net.IP{1, 2, 3, 4}} },
	func(r *rand.Rand) any { return &mail.Address{Name: "a", Address: "b"} },
	func(r *rand.Rand) any { return sql.RawBytes("abc") },
	func(r *rand.Rand) any { return sql.Null[[]int]{V: []int{1}, Valid: true} },
	func(r *rand.Rand) any { return image.NewGray(image.Rect(0, 0, 4, 4)) },
	func(r *rand.Rand) any { return color.Palette{color.Black, &color.Gray{1}} },
	func(r *rand.Rand) any {
		return &ast.CallExpr{Fun: ast.NewIdent("f"), Args: []ast.Expr{&ast.BasicLit{Value: "1"}}}
	},
	func(r *rand.Rand) any {
		return constant.BinaryOp(constant.MakeInt64(1<<62), token.MUL, constant.MakeInt64(1<<62))
	},
	func(r *rand.Rand) any {
		return context.WithValue(context.Background(), http.ServerContextKey, []int{1})
	},
	func(r *rand.Rand) any { v := []int{1}; return iter.Seq[[]int](func(y func([]int) bool) { _ = v }) },
	func(r *rand.Rand) any {
		k, _ := ecdh.P256().GenerateKey(strings.NewReader(strings.Repeat("key", 99)))
		return k
	},
	func(r *rand.Rand) any { return keptValues()["*time.Location"][0] },
	func(r *rand.Rand) any { return newReplacer("a", "b") },
	func(r *rand.Rand) any { return reflect.TypeFor[outer]() },
}

func anError(r *rand.Rand) error {
	switch r.IntN(12) {
	case 0:
		return errors.Join(io.EOF, anError(r))
	case 1:
		return fmt.Errorf("%w, %w", anError(r), fs.ErrNotExist)
	case 2, 3:
		return fmt.Errorf("more: %w", anError(r))
	case 4:
		return &fs.PathError{Op: "open", Path: "/", Err: anError(r)}
	case 5:
		return &net.OpError{Op: "dial", Addr: &net.TCPAddr{IP: net.IP{1, 2, 3, 4}}, Err: anError(r)}
	case 6:
		return &open{"a"}
	case 7:
		return &about{cause: anError(r)}
	case 8:
		return os.NewSyscallError("open", syscall.ENOENT)
	case 9:
		return &http.ProtocolError{ErrorString: "a"}
	case 10:
		_, err := strconv.Atoi("x")
		return err
	}
	return io.ErrUnexpectedEOF
}

func newGroupOf(r *rand.Rand) slog.Value {
	var attrs []slog.Attr
	for range 1 + r.IntN(3) {
		switch r.IntN(6) {
		case 0:
			attrs = append(attrs, slog.Attr{Key: "g", Value: newGroupOf(r)})
		case 1:
			attrs = append(attrs, slog.Any("m", map[string]int{"n": 1}))
		case 2:
			attrs = append(attrs, slog.Any("e", anError(r)))
		case 3:
			attrs = append(attrs, slog.Time("t", time.Unix(1, 2)))
		default:
			attrs = append(attrs, slog.String("s", "text"))
		}
	}
	return slog.GroupValue(attrs...)
}

// A library holds several values in places of several sorts.
type library struct {
	One  any
	List []any
	By   map[string]any
	Ptr  *any
	Err  error
	Attr slog.Attr
	Expr *regexp.Regexp
	Flat regexp.Regexp
	Recs []slog.Record
}

func newLibrary(r *rand.Rand) library {
	one := func() any { return libraryValues[r.IntN(len(libraryValues))](r) }
	p := one()
	rec := slog.NewRecord(time.Unix(1, 2), slog.LevelInfo, "m", 0)
	rec.AddAttrs(slog.Attr{Key: "k", Value: newGroupOf(r)})
	l := library{
		one(), []any{one(), one(), p}, map[string]any{"a": one(), "b": p}, &p, anError(r), slog.Attr{Key: "k", Value: newGroupOf(r)},
		regexp.MustCompile("a(?P<x>|b)"), *regexp.MustCompile("(?P<y>a)"), []slog.Record{rec},
	}
	if r.IntN(3) == 0 {
		l.List = append(l.List, l.Expr, l.Err, l.One)
	}
	return l
}

// Whatever anybody writes to, in what was cloned or in a clone, does not show in a clone.
func TestNothingWritesToAClone(t *testing.T) {
	clone, seeds := Of[library](), uint64(400)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		v := newLibrary(rand.New(rand.NewPCG(seed, 1)))
		stored := clone(v)
		want := imprintOf(stored)
		require.Equal(t, imprintOf(v), want, "seed %d", seed)
		require.Positive(t, modify(v))
		require.Equal(t, want, imprintOf(stored), "seed %d: by what was cloned", seed)
		got := clone(stored)
		require.Positive(t, modify(&got))
		require.Equal(t, want, imprintOf(stored), "seed %d: by a clone", seed)
	}
	for i, f := range libraryValues {
		stored := cloneOf(f(rand.New(rand.NewPCG(1, 1))))
		want := imprintOf(stored)
		modify(cloneOf(stored))
		require.Equal(t, want, imprintOf(stored), "value %d: %T", i, stored)
	}
}
