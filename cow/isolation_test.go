//lint:file-ignore SA1019 A deprecated type is stored like any other.

package cow_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"regexp"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// A retryError is an error that its own package writes to.
type retryError struct {
	tries int
	cause error
}

func (e *retryError) Error() string { return fmt.Sprintf("failed %d times: %v", e.tries, e.cause) }
func (e *retryError) Unwrap() error { return e.cause }

var errNamed = cow.Sentinel(&retryError{cause: io.EOF})

type isolated struct {
	Err    error
	Attrs  slog.Value
	Expr   *regexp.Regexp
	Table  *crc32.Table
	Ranges *unicode.RangeTable
	Proto  *http.ProtocolError
}

func newIsolated() isolated {
	return isolated{
		errors.Join(fmt.Errorf("%w, %w", io.EOF, &retryError{1, fs.ErrNotExist}), errNamed),
		slog.GroupValue(slog.Int("a", 1), slog.Any("tags", map[string]int{"n": 1})),
		regexp.MustCompile("a(?P<x>|b)"),
		crc32.MakeTable(crc32.Koopman),
		&unicode.RangeTable{R16: []unicode.Range16{{Lo: 1, Hi: 2, Stride: 1}}},
		&http.ProtocolError{ErrorString: "a"},
	}
}

func (v isolated) String() string {
	return fmt.Sprint(v.Err, errors.Is(v.Err, io.EOF), errors.Is(v.Err, fs.ErrNotExist), errors.Is(v.Err, errNamed),
		v.Attrs, v.Expr, v.Expr.FindString("ab"), v.Expr.SubexpNames(), v.Table[0], v.Ranges.R16, v.Proto)
}

// modify writes to all that the value gives out.
func (v isolated) modify() {
	var retry *retryError
	errors.As(v.Err, &retry)
	retry.tries++
	v.Err.(interface{ Unwrap() []error }).Unwrap()[0] = errors.New("modified")
	v.Attrs.Group()[1].Value.Any().(map[string]int)["n"]++
	v.Attrs.Group()[0] = slog.String("x", "modified")
	v.Expr.SubexpNames()[1] = "modified"
	v.Expr.Longest()
	v.Table[0]++
	v.Ranges.R16[0].Lo++
	v.Proto.ErrorString = "modified"
}

// What values give out does not lead into a snapshot, whoever has it.
func TestWhatValuesGiveOutIsIsolated(t *testing.T) {
	s := cow.NewOne[string](cow.Options[*isolated]{})
	in := newIsolated()
	want := in.String()
	_, err := s.Set("k", &in)
	require.NoError(t, err)
	old := s.Load()
	is := func() {
		t.Helper()
		v, _ := old.Get("k")
		require.Equal(t, want, v.String())
	}
	in.modify()
	is()
	v, _ := old.Get("k")
	v.modify()
	is()
	for _, v := range old.All() {
		v.modify()
	}
	is()
	_, err = s.Modify("k", func(v **isolated) error { (*v).modify(); return io.ErrUnexpectedEOF })
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	is()
	_, err = s.Modify("k", func(v **isolated) error { (*v).modify(); return nil })
	require.NoError(t, err)
	is()
	now, _ := s.Get("k")
	require.NotEqual(t, want, now.String())
	require.ErrorIs(t, now.Err, errNamed, "the program named it")
}
