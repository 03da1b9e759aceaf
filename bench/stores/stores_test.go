package stores

import (
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// made makes the records there are, of generation 0 under the key net/http.Client.
var made = map[string]func() Record{
	"symbol":  func() Record { return NewSymbol("net/http", "Client") },
	"payload": func() Record { return NewPayload("net/http", "Client", 100) },
}

const key = "net/http.Client"

func TestReindexedIsIntactAndNew(t *testing.T) {
	for name, made := range made {
		old := made()
		r := old.Reindexed(7)
		require.True(t, old.Intact(key), name)
		require.True(t, r.Intact(key), name)
		require.NotEqual(t, old.Check, r.Check)
		if r.Payload == nil {
			r.Tags[1], r.Meta["line"] = "spoilt", "spoilt"
		} else {
			require.EqualValues(t, 7, r.Generation())
			clear(r.Payload)
		}
		require.Equal(t, made(), old, "a generation shares no memory with the one before")
	}
	for size, length := range map[int]int{0: 16, 15: 16, 17: 17, 1 << 16: 1 << 16} {
		require.Len(t, NewPayload("user", "7", size).Payload, length)
	}
}

// Whichever field comes from another generation or another record is seen.
func TestIntactDetectsMixedRecords(t *testing.T) {
	for name, made := range made {
		base := made()
		a, b := base.Reindexed(41), base.Reindexed(43)
		other := Record{Package: "fmt", Name: "Stringer", Kind: "?", Doc: "?", Tags: []string{""}, Meta: map[string]string{}}
		if base.Payload != nil {
			other = NewPayload("fmt", "Stringer", 101)
		}
		other = other.Reindexed(41)
		for _, from := range []Record{b, other} {
			for i := range reflect.TypeFor[Record]().NumField() {
				r := a
				to, from := reflect.ValueOf(&r).Elem().Field(i), reflect.ValueOf(from).Field(i)
				if !reflect.DeepEqual(to.Interface(), from.Interface()) {
					to.Set(from)
					require.False(t, r.Intact(key), "%s, field %d", name, i)
				}
			}
		}
		for _, key := range []string{"", "net/http.", "net/http.Server", "net/http.Clients", "net/http-Client", "et/http.Client"} {
			require.False(t, a.Intact(key), key)
		}
		require.Zero(t, testing.AllocsPerRun(100, func() { a.Intact(key) }))
	}
}

func TestIntactDetectsDamage(t *testing.T) {
	base := made["payload"]()
	next := base.Reindexed(43)
	for of, damages := range map[string]map[string]func(r *Record){"symbol": {
		"shorter doc":        func(r *Record) { r.Doc = strings.Repeat("x", len(r.Doc)-1) },
		"tag missing":        func(r *Record) { r.Tags = r.Tags[:len(r.Tags)-1] },
		"meta missing":       func(r *Record) { delete(r.Meta, "line") },
		"stamp that is none": func(r *Record) { r.Tags[0] = "?" },
		"nothing":            func(r *Record) { *r = Record{} },
	}, "payload": {
		"first half of another generation":  func(r *Record) { copy(r.Payload[:50], next.Payload[:50]) },
		"second half of another generation": func(r *Record) { copy(r.Payload[50:], next.Payload[50:]) },
		"cut off at the end":                func(r *Record) { r.Payload = r.Payload[:99] },
		"cut off at the beginning":          func(r *Record) { r.Payload = r.Payload[1:] },
		"with a hole":                       func(r *Record) { r.Payload = slices.Delete(r.Payload, 50, 51) },
		"too short for two stamps":          func(r *Record) { r.Payload = r.Payload[:8] },
		"empty":                             func(r *Record) { r.Payload = r.Payload[:0] },
		"none":                              func(r *Record) { r.Payload = nil },
		"names put elsewhere":               func(r *Record) { r.Package, r.Name = "net", "http.Client" },
	}} {
		for name, damage := range damages {
			r := made[of]()
			damage(&r)
			require.False(t, r.Intact(key), name)
		}
	}
}

func TestGeneratedCodeIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the generator")
	}
	out, err := exec.Command("go", "tool", "cowview", "-check", "-type", "Record", "-output", "record_view.go").CombinedOutput()
	require.NoError(t, err, string(out))
}
