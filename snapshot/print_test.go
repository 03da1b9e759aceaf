package snapshot_test

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/snapshottest"
)

// A printKey counts how often one of its kind is asked for its text.
type printKey int

var printedKeys int

func (k printKey) String() string { printedKeys++; return fmt.Sprintf("key %d", int(k)) }

// A printValue must not be asked for its text.
type printValue struct{ secret []any }

func (printValue) String() string               { panic("printed") }
func (printValue) LogValue() slog.Value         { panic("logged") }
func (printValue) MarshalJSON() ([]byte, error) { panic("marshaled") }

func TestAMillionRowsPrintAsTheirNumber(t *testing.T) {
	clones := 0
	secret := []any{"secret"}
	secret = append(secret, &secret)
	secret[0] = secret
	m := snapshot.New[printKey](snapshot.Options[printValue]{Name: "users", Clone: func(v printValue) printValue { clones++; return v }})
	e := m.Edit()
	n := 1_000_000
	if testing.Short() {
		n = 10_000
	}
	for i := range n {
		e.Set(printKey(i), printValue{secret})
	}
	m = e.Seal()
	text := fmt.Sprintf("users@1 (%d rows)", n)
	edit := m.Edit()
	edit.Set(1, printValue{})
	row, _ := m.Row(7)
	clones, printedKeys = 0, 0
	all := snapshottest.Printed(t, m)
	require.Equal(t, []string{text, text, text, fmt.Sprintf("%q", text)}, slices.Concat(all[:2], all[3:5]))
	require.Contains(t, all[7], fmt.Sprintf("a.name=users a.version=1 a.rows=%d\n", n))
	require.Contains(t, all[8], fmt.Sprintf(`"a":{"name":"users","version":1,"rows":%d}`, n))
	snapshottest.Printed(t, m.Shared())
	require.Equal(t, "edit of "+text, snapshottest.Printed(t, edit)[0])
	require.Zero(t, printedKeys)
	for _, v := range []any{row, &row} {
		all := snapshottest.Printed(t, v)
		require.Equal(t, "key 7@1", all[0])
		require.Contains(t, all[7], `a.key="key 7" a.revision=1`)
		require.Contains(t, all[8], `"a":{"key":"key 7","revision":1}`)
	}
	require.Less(t, printedKeys, 20)
	require.Zero(t, clones)
}

func TestChangesPrint(t *testing.T) {
	old := must(snapshot.Collect(snapshot.Options[string]{}, maps.All(map[string]string{"a": "secret", "b": "secret"})))
	e := old.Edit()
	e.Set("b\n", "secret")
	e.Delete("a")
	pending, _ := e.Map().Row("b\n")
	builder := snapshot.Builder[string, string]{}
	pending = builder.Deref(e.Map(), e.Version()).Row(builder.Ref(pending))
	require.Equal(t, `"b\n"@pending`, snapshottest.Printed(t, pending)[0])
	require.Contains(t, snapshottest.Printed(t, pending)[8], `"a":{"key":"b\n","revision":0}`)
	changes := slices.Collect(e.Seal().Diff(old))
	slices.SortFunc(changes, func(a, b snapshot.Change[string, string]) int { return strings.Compare(a.Key, b.Key) })
	for _, v := range []any{changes[0], &changes[0]} {
		all := snapshottest.Printed(t, v)
		require.Equal(t, `removed "a"`, all[0])
		require.Contains(t, all[7], "a.kind=removed a.key=a\n")
		require.Contains(t, all[8], `"a":{"kind":"removed","key":"a"}`)
	}
	require.Equal(t, `added "b\n"`, snapshottest.Printed(t, changes[1])[0])
	require.Equal(t, `[removed "a" added "b\n"]`, fmt.Sprint(changes))
	require.Equal(t, `conflict "a"`, snapshottest.Printed(t, snapshot.Conflict[string, string]{Key: "a"})[0])
	require.Contains(t, snapshottest.Printed(t, snapshot.Changed)[7], "a=changed\n")
	require.Contains(t, snapshottest.Printed(t, snapshot.Changed)[8], `"a":"changed"`)
}

type printPanic struct{}

func (printPanic) String() string { panic("no text") }

type printRing struct{ Next map[string]any }

func TestAnyKeyPrintsInShort(t *testing.T) {
	ring := &printRing{map[string]any{}}
	ring.Next["self"] = ring.Next
	loop := []any{nil}
	loop[0] = loop
	huge := strings.Repeat("é", 1<<20)
	short := func(key any) string {
		c := snapshot.Change[any, int]{Key: key}
		return strings.TrimPrefix(c.String(), "unknown ")
	}
	require.Equal(t, `"`+strings.Repeat("é", 49)+"…", short(huge))
	require.Less(t, len(short(strings.Repeat("\x00", 1000))), 110)
	require.Less(t, len(short("\xff"+strings.Repeat("\x80", 1000))), 110)
	require.Less(t, len(short([1 << 16]byte{})), 110)
	require.Less(t, len(short(struct{ S string }{huge})), 110)
	require.Regexp(t, "^0x[0-9a-f]+$", short(ring))
	require.Regexp(t, "^{0x[0-9a-f]+ 1}$", short(struct {
		R *printRing
		N int
	}{ring, 1}))
	require.Equal(t, "[]interface {}", short(loop))
	require.Equal(t, "map[string]interface {}", short(ring.Next))
	require.Equal(t, "%!v(PANIC=String method: no text)", short(printPanic{}))
	require.Equal(t, "<nil>", short(nil))
	require.Equal(t, "0", short(0))
	require.Equal(t, "1.5", short(1.5))
	require.Equal(t, "true", short(true))
	require.Equal(t, "{1 x}", short(struct {
		A int
		B string
	}{1, "x"}))
	snapshottest.Printed(t, snapshot.Change[any, int]{Key: huge})
	snapshottest.Printed(t, snapshot.New[int](snapshot.Options[int]{Name: huge}))
	snapshottest.Printed(t, snapshot.New[int](snapshot.Options[int]{Name: huge}).Edit())
}

func TestNothingPrints(t *testing.T) {
	require.Equal(t, "snapshot@0 (0 rows)", snapshottest.Printed(t, (*snapshot.Map[string, int])(nil))[0])
	require.Equal(t, "snapshot@0 (0 rows)", snapshottest.Printed(t, new(snapshot.Map[string, int]))[0])
	require.Equal(t, "snapshot@0 (0 rows)", snapshottest.Printed(t, new(snapshot.Map[string, counter]))[0]) // no Options allow it
	require.Equal(t, "snapshot@1 (1 row)", snapshottest.Printed(t, must(snapshot.Collect(snapshot.Options[int]{}, maps.All(map[int]int{1: 1}))))[0])
	require.Equal(t, "<nil>", snapshottest.Printed(t, (*snapshot.Editor[string, int])(nil))[0])
	require.Equal(t, "edit of snapshot@0 (0 rows)", snapshottest.Printed(t, new(snapshot.Editor[string, int]))[0])
	require.Equal(t, "<nil>", snapshottest.Printed(t, snapshot.Row[string, int]{})[0])
	require.Equal(t, `unknown ""`, snapshottest.Printed(t, snapshot.Change[string, int]{})[0])
	require.Equal(t, `conflict ""`, snapshottest.Printed(t, snapshot.Conflict[string, int]{})[0])
	require.Equal(t, "<nil>", fmt.Sprint((*snapshot.Row[string, int])(nil)))
}

func TestAnEditorPrintsDuringAnEdit(t *testing.T) {
	e := snapshot.New[int](snapshot.Options[int]{}).Edit()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			_ = fmt.Sprintf("%v %+v %s", e, e, e)
		}
	}()
	for i := range 1000 {
		e.Set(i, i)
	}
	<-done
	require.Equal(t, "edit of snapshot@0 (0 rows)", e.String())
	e.Seal()
	require.Equal(t, "edit of snapshot@0 (0 rows)", e.String())
}
