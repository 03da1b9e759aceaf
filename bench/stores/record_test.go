package stores

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// symbol returns a record as of generation 0.
func symbol(name string) Record {
	r := Record{
		Package:   "net/http",
		Name:      name,
		Kind:      "method",
		Signature: "func (c *Client) " + name + "()",
		Doc:       name + " is documented.",
		Tags:      []string{"", "method", "http"},
		Meta:      map[string]string{"file": "net/http/client.go", "line": "12"},
	}
	return r.Reindexed(0)
}

func TestReindexedIsIntactAndNew(t *testing.T) {
	old := symbol("Client.Do")
	r := old.Reindexed(7)
	require.True(t, old.Intact("net/http.Client.Do"))
	require.True(t, r.Intact("net/http.Client.Do"))
	require.NotEqual(t, old.Check, r.Check)

	r.Tags[1] = "spoilt"
	r.Meta["line"] = "spoilt"
	require.Equal(t, symbol("Client.Do"), old, "a generation shares no memory with the one before")
}

// Whichever field comes from another generation, or another symbol, it is seen.
func TestIntactDetectsMixedRecords(t *testing.T) {
	fields := map[string]func(r, other *Record){
		"Package":   func(r, other *Record) { r.Package = other.Package },
		"Name":      func(r, other *Record) { r.Name = other.Name },
		"Kind":      func(r, other *Record) { r.Kind = other.Kind },
		"Signature": func(r, other *Record) { r.Signature = other.Signature },
		"Doc":       func(r, other *Record) { r.Doc = other.Doc },
		"Tags":      func(r, other *Record) { r.Tags = other.Tags },
		"Meta":      func(r, other *Record) { r.Meta = other.Meta },
		"Check":     func(r, other *Record) { r.Check = other.Check },
	}
	base := symbol("Client.Do")
	key := base.Key()
	a, b := base.Reindexed(41), base.Reindexed(43)
	stranger := Record{Package: "fmt", Name: "Stringer", Kind: "type", Doc: "?", Tags: []string{""}, Meta: map[string]string{}}
	stranger = stranger.Reindexed(43)
	for name, mix := range fields {
		r := a
		mix(&r, &stranger)
		require.False(t, r.Intact(key), "%s of another symbol", name)
	}
	for _, name := range []string{"Tags", "Meta", "Check"} {
		r := a
		fields[name](&r, &b)
		require.False(t, r.Intact(key), "%s of another generation", name)
		r = b
		fields[name](&r, &a)
		require.False(t, r.Intact(key), "%s of another generation", name)
	}
}

func TestIntactDetectsOtherDamage(t *testing.T) {
	whole := symbol("Client.Do")
	key := whole.Key()
	require.False(t, new(Record).Intact(key), "absent")
	require.False(t, new(Record).Intact(""), "absent")
	require.False(t, whole.Intact("net/http.Client.Get"), "another's key")

	r := whole.Reindexed(1)
	r.Doc = strings.Repeat("x", len(r.Doc)-1)
	require.False(t, r.Intact(key), "a shorter Doc")

	r = whole.Reindexed(1)
	r.Tags = r.Tags[:len(r.Tags)-1]
	require.False(t, r.Intact(key), "a tag missing")

	r = whole.Reindexed(1)
	delete(r.Meta, "line")
	require.False(t, r.Intact(key), "metadata missing")

	r = whole.Reindexed(1)
	r.Tags[0] = "?"
	require.False(t, r.Intact(key), "a stamp that is none")
}

func TestIntactDoesNotAllocate(t *testing.T) {
	r := symbol("Client.Do")
	key := r.Key()
	require.Zero(t, testing.AllocsPerRun(100, func() { r.Intact(key) }))
}
