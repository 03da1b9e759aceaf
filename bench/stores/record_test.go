package stores

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/view"
)

// made makes the records there are, of generation 0 under the key net/http.Client.
var made = map[string]func() Record{
	"symbol": func() Record {
		r := Record{
			Package: "net/http", Name: "Client", Kind: "type", Signature: "type Client struct", Doc: "It is documented.",
			Tags: []string{"", "type", "http"}, Meta: map[string]string{"file": "net/http/client.go", "line": "12"},
		}
		return r.Reindexed(0)
	},
	"payload": func() Record { return NewPayload("net/http", "Client", 100) },
}

const key = "net/http.Client"

func TestReindexedIsIntactAndNew(t *testing.T) {
	for name, made := range made {
		old := made()
		require.Equal(t, key, old.Key())
		r := old.Reindexed(7)
		require.True(t, old.Intact(key), name)
		require.True(t, r.Intact(key), name)
		require.NotEqual(t, old.Check, r.Check)
		if r.Payload == nil {
			r.Tags[1] = "spoilt"
			r.Meta["line"] = "spoilt"
		} else {
			require.EqualValues(t, 7, r.Generation())
			require.Equal(t, old.Payload[8:92], r.Payload[8:92], "between the stamps nothing changes")
			clear(r.Payload)
		}
		require.Equal(t, made(), old, "a generation shares no memory with the one before")
	}
	for size, length := range map[int]int{0: 16, 15: 16, 17: 17, 1 << 16: 1 << 16} {
		r := NewPayload("user", "7", size)
		require.Len(t, r.Payload, length)
		require.True(t, r.Intact("user.7"))
		require.Zero(t, r.Generation())
	}
}

// Whichever part comes from another generation or another record, or is lost, it is seen.
func TestIntactDetectsDamage(t *testing.T) {
	symbol, payload, longer := made["symbol"](), made["payload"](), NewPayload("net/http", "Client", 101)
	a, b, p, q := symbol.Reindexed(41), symbol.Reindexed(43), payload.Reindexed(41), payload.Reindexed(43)
	longer = longer.Reindexed(41)
	other := Record{Package: "fmt", Name: "Stringer", Kind: "?", Doc: "?", Tags: []string{""}, Meta: map[string]string{}}
	other = other.Reindexed(41)
	type damages map[string]func(r *Record)
	for _, c := range []struct {
		of      Record
		damages damages
	}{{a, damages{
		"package of another symbol":   func(r *Record) { r.Package = other.Package },
		"name of another symbol":      func(r *Record) { r.Name = other.Name },
		"kind of another symbol":      func(r *Record) { r.Kind = other.Kind },
		"signature of another symbol": func(r *Record) { r.Signature = other.Signature },
		"doc of another symbol":       func(r *Record) { r.Doc = other.Doc },
		"tags of another symbol":      func(r *Record) { r.Tags = other.Tags },
		"meta of another symbol":      func(r *Record) { r.Meta = other.Meta },
		"check of another symbol":     func(r *Record) { r.Check = other.Check },
		"tags of another generation":  func(r *Record) { r.Tags = b.Tags },
		"meta of another generation":  func(r *Record) { r.Meta = b.Meta },
		"check of another generation": func(r *Record) { r.Check = b.Check },
		"shorter doc":                 func(r *Record) { r.Doc = strings.Repeat("x", len(r.Doc)-1) },
		"tag missing":                 func(r *Record) { r.Tags = r.Tags[:len(r.Tags)-1] },
		"meta missing":                func(r *Record) { delete(r.Meta, "line") },
		"stamp that is none":          func(r *Record) { r.Tags[0] = "?" },
		"nothing":                     func(r *Record) { *r = Record{} },
	}}, {p, damages{
		"first half of another generation":  func(r *Record) { copy(r.Payload[:50], q.Payload[:50]) },
		"second half of another generation": func(r *Record) { copy(r.Payload[50:], q.Payload[50:]) },
		"payload of another generation":     func(r *Record) { r.Payload = q.Payload },
		"check of another generation":       func(r *Record) { r.Check = q.Check },
		"payload cut off at the end":        func(r *Record) { r.Payload = r.Payload[:99] },
		"payload cut off at the beginning":  func(r *Record) { r.Payload = r.Payload[1:] },
		"payload with a hole":               func(r *Record) { r.Payload = slices.Delete(r.Payload, 50, 51) },
		"longer payload":                    func(r *Record) { r.Payload = longer.Payload },
		"check of a longer payload":         func(r *Record) { r.Check = longer.Check },
		"payload too short for two stamps":  func(r *Record) { r.Payload = r.Payload[:8] },
		"empty payload":                     func(r *Record) { r.Payload = r.Payload[:0] },
		"no payload":                        func(r *Record) { r.Payload = nil },
		"names put elsewhere":               func(r *Record) { r.Package, r.Name = "net", "http.Client" },
	}}} {
		for name, damage := range c.damages {
			r := deepCopy(c.of)
			require.True(t, r.Intact(key))
			damage(&r)
			require.False(t, r.Intact(key), name)
		}
		for _, key := range []string{"", "net/http.", "net/http.Server", "net/http.Clients", "net/http-Client", "et/http.Client"} {
			require.False(t, c.of.Intact(key), key)
		}
		require.Zero(t, testing.AllocsPerRun(100, func() { c.of.Intact(key) }))
	}
}

func TestGeneratedCodeIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the generator")
	}
	out, err := exec.Command("go", "tool", "cowview", "-check", "-type", "Record", "-output", "record_view.go").CombinedOutput()
	require.NoError(t, err, string(out))
}

// What a user reads through a view is the record, as it was.
func TestViewsAreOfTheRecord(t *testing.T) {
	s := newViews().(Viewer)
	_, found := s.View("none")
	require.False(t, found)
	r := NewPayload("user", "1", 64)
	s.Set(r.Key(), r)
	v, found := s.View(r.Key())
	require.True(t, found)
	s.Set(r.Key(), r.Reindexed(2))
	require.True(t, v.Equal(RecordView{}.ViewOf(view.To(&r))))
	require.Equal(t, r, v.Clone())

	var l Lookup
	require.False(t, l.Intact(r.Key()))
	for _, k := range []Store{s, newCowstore()} {
		k.Set(r.Key(), r)
		NewReader(k).Get(r.Key(), &l)
		require.True(t, l.Intact(r.Key()))
		require.False(t, l.Intact("user.2"))
	}
}
