package cow_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cowstore/cowstore/cow"
)

// brokenContext is a context that panics when it is asked whether it has ended.
type brokenContext struct{ context.Context }

func (brokenContext) Err() error { panic("broken") }

// A context that is none, or panics, leaves the writer's place free for the next.
func TestBadContext(t *testing.T) {
	var none context.Context
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[int]{})
	nothing := func(*cow.Tx) error { return nil }
	asks := map[string]func(ctx context.Context){
		"UpdateContext": func(ctx context.Context) { db.UpdateContext(ctx, nothing) },
		"BeginContext":  func(ctx context.Context) { db.BeginContext(ctx) },
		"Erase":         func(ctx context.Context) { db.Erase(ctx, nothing) },
		"Sweep":         func(ctx context.Context) { db.Sweep(ctx) },
		"SweepEvery":    func(ctx context.Context) { db.SweepEvery(ctx, time.Hour) },
		"Wait":          func(ctx context.Context) { db.Wait(ctx, 0) },
		"Watch":         func(ctx context.Context) { db.Watch(ctx, db.Load()) },
		"Changes":       func(ctx context.Context) { db.Changes(ctx, 0) },
		"Resume":        func(ctx context.Context) { db.Resume(ctx, db.Cursor(0)) },
		"table": func(ctx context.Context) {
			table.UpdateContext(ctx, func(*cow.Editor[string, int]) error { return nil })
		},
	}
	for name, ask := range asks {
		if text, ok := panicOf(func() { ask(none) }).(string); !ok || !strings.Contains(text, "nil context: pass context.Background()") {
			t.Errorf("%s with a nil context: %v", name, text)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, name := range []string{"UpdateContext", "BeginContext", "Erase", "table"} {
			if got := panicOf(func() { asks[name](brokenContext{context.Background()}) }); got != "broken" {
				t.Errorf("%s with a context that panics: %v", name, got)
			}
		}
		table.Set("a", 1)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the writer's place stays taken")
	}
}
