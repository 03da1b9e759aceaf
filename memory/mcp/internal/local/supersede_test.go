package local_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// What a note supersedes is not recalled, stays in its history, and comes back by undo.
func TestRememberSupersedes(t *testing.T) {
	s := open(t, "", local.Options{})
	type rememberedToo struct {
		Key      string
		Revision uint64
		Similar  []struct {
			Key, Text string
			Share     float64
		}
	}
	do(t, s, "remember", `{"key":"diet","text":"Ada eats fish on most days of the week"}`)
	do(t, s, "remember", `{"key":"cat","text":"The cat is called Mouse"}`)
	r := as[rememberedToo](t, do(t, s, "remember", `{"key":"diet 2","text":"Ada eats fish on most days of the week, but not on Mondays"}`))
	require.Len(t, r.Similar, 1)
	require.Equal(t, "diet", r.Similar[0].Key)
	require.Equal(t, "Ada eats fish on most days of the week", r.Similar[0].Text)
	require.Equal(t, 0.83, r.Similar[0].Share)
	r = as[rememberedToo](t, do(t, s, "remember", `{"key":"dog","text":"The dog is called \"Bear"}`))
	require.Empty(t, r.Similar, "two words in common are no likeness")

	r = as[rememberedToo](t, do(t, s, "remember", `{"key":"vegan","text":"Ada eats no animals any more","supersedes":"diet"}`))
	require.Equal(t, []string{"diet 2"}, as[hits](t, do(t, s, "recall", `{"query":"fish"}`)).keys())
	require.NotContains(t, as[hits](t, do(t, s, "recall", `{}`)).keys(), "diet")
	require.Contains(t, do(t, s, "recall", `{"key":"diet"}`), `"superseded_by":"vegan"`)
	h := do(t, s, "history", `{"key":"diet"}`)
	require.Equal(t, 1, strings.Count(h, `"superseded_by":"vegan"`))
	require.Len(t, as[struct{ History []change }](t, h).History, 2)

	do(t, s, "undo", fmt.Sprintf(`{"revision":%d}`, r.Revision))
	require.ElementsMatch(t, []string{"diet", "diet 2"}, as[hits](t, do(t, s, "recall", `{"query":"fish"}`)).keys())
	require.Empty(t, as[hits](t, do(t, s, "recall", `{"key":"vegan"}`)).Hits)

	require.Contains(t, refused(t, s, store.NotFound, "remember", `{"text":"x","supersedes":"none"}`), `there is no note "none" to supersede`)
	require.Contains(t, refused(t, s, store.Invalid, "remember", `{"text":"x","key":"diet","supersedes":"diet"}`), "does not supersede itself")
}
