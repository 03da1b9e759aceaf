package stores

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/view"
)

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
