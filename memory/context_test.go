package memory_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
)

// Who passes no context is told so, and leaves nothing locked.
func TestNilContext(t *testing.T) {
	var none context.Context
	m := memory.New(memory.Options{Embed: func(context.Context, []string) ([][]float32, error) { return nil, nil }})
	s := m.Space("notes")
	require.NoError(t, errOf(s.Put("a", "text")))
	for name, ask := range map[string]func(){
		"BatchContext": func() { m.BatchContext(none, func(*memory.Batch) error { return nil }) },
		"Erase":        func() { s.Erase(none, "a") },
		"Undo":         func() { m.Undo(none, 1) },
		"Merge":        func() { m.Merge(none, m.Load(), m.Load(), nil) },
		"Sweep":        func() { m.Sweep(none) },
		"SweepEvery":   func() { m.SweepEvery(none, time.Hour) },
		"Restore":      func() { m.Restore(none, strings.NewReader("")) },
		"Import":       func() { m.Import(none, strings.NewReader("")) },
		"Reindex":      func() { s.Reindex(none) },
		"Recall":       func() { s.Recall(none, "text", memory.Query{K: 1}) },
		"EmbedMissing": func() { m.EmbedMissing(none) },
		"EmbedEvery":   func() { m.EmbedEvery(none, nil) },
		"Wait":         func() { m.DB().Wait(none, 0) },
		"Watch":        func() { s.Watch(none, m.Load()) },
		"Changes":      func() { m.Changes(none, 0) },
	} {
		func() {
			defer func() {
				text, _ := recover().(string)
				require.Contains(t, text, "nil context: pass context.Background()", name)
			}()
			ask()
		}()
	}
	require.NoError(t, errOf(s.Put("b", "text")))
}
