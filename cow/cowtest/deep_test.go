package cowtest

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
)

func TestDeepValues(t *testing.T) {
	deeptest.RequireAll(t, strings.Fields("Attach Follow Guard Guarded.Check Sink.Await Sink.Contents"), map[string]string{
		"it has to do with transactions":    "NoTx",
		"it takes commits that are encoded": "Sink.Ack Sink.Fail Sink.Pending Sink.Rebase Sink.Refuse Sink.Reset Sink.Trimmed",
		"it is not exported":                "answers.Close answers.Erases answers.Propose answers.Room answers.Trim crumb.String",
	})
	if !deeptest.Apart(t) {
		return
	}
	for name, v := range deeptest.Values(deeptest.Levels()) {
		deeptest.Doing("%s", name)
		m, err := snapshot.Collect(snapshot.Options[any]{}, maps.All(map[string]any{"ada": v}))
		require.NoError(t, err)
		r := new(recorder)
		g := Guard(r, func() *snapshot.Map[string, any] { return m })
		g.Check()
		require.Empty(t, r.errors)
	}

	link := deeptest.LinkOf(deeptest.Levels())
	m, err := snapshot.Collect(snapshot.Options[*deeptest.Link]{Immutable: true}, maps.All(map[string]*deeptest.Link{"ada": link}))
	require.NoError(t, err)
	r := new(recorder)
	g := Guard(r, func() *snapshot.Map[string, *deeptest.Link] { return m })
	at := link
	for range 100 {
		at = at.Next
	}
	at.N++
	g.Check()
	require.Len(t, r.errors, 1)
	require.Contains(t, r.errors[0], `key "ada" `)
	require.Contains(t, r.errors[0], ".Next.Next…(69 more)….Next.Next")
	require.Less(t, len(r.errors[0]), 600)

	var db, follower cow.DB
	o := cow.Options[*deeptest.Link]{Codec: cow.Versioned[*deeptest.Link]{}}
	users := cow.NewTable[string](&db, "users", o)
	cow.NewTable[string](&follower, "users", o)
	Follow(t, &follower, &db)
	_, err = users.Set("ada", link)
	require.ErrorIs(t, err, cow.ErrTooDeep)
	require.ErrorContains(t, err, `table "users": ada: `)
	_, err = users.Set("ada", deeptest.LinkOf(5))
	require.NoError(t, err)
}
