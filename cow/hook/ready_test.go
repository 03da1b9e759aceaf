package hook_test

import (
	"bytes"
	"errors"
	"log/slog"
	"runtime/trace"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
)

// withoutTimes leaves out of a log what differs from run to run.
func withoutTimes(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case slog.TimeKey, "wait", "run", "took", "bytes":
		return slog.Attr{}
	}
	return a
}

// A logger is what Log returns.
type logger interface {
	hook.UpdateEnd
	hook.Searched
	hook.Swept
	hook.Erased
	hook.Compacted
	hook.SinkChanged
}

// written returns what such a hook writes of what f tells it.
func written(slow time.Duration, f func(l logger)) string {
	var b bytes.Buffer
	f(hook.Log(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: withoutTimes})), slow).(logger))
	return b.String()
}

func TestLog(t *testing.T) {
	ctx := t.Context()
	failed := errors.New("failed")
	for want, f := range map[string]func(l logger){
		"": func(l logger) {
			l.OnUpdateEnd(ctx, hook.Update{Run: time.Millisecond, Err: nil})
			l.OnUpdateEnd(ctx, hook.Update{Run: time.Millisecond, Err: hook.ErrAborted})
			l.OnSearched(ctx, hook.Search{Duration: time.Millisecond})
			l.OnSwept(ctx, hook.Removal{Rows: 3})
			l.OnSwept(ctx, hook.Removal{Err: failed}) // its update was logged
		},
		"level=WARN msg=update sink=1s attempts=2 err=failed\n": func(l logger) {
			l.OnUpdateEnd(ctx, hook.Update{Sink: time.Second, Attempts: 2, Err: failed})
		},
		"level=WARN msg=search kind=both hits=1 candidates=7\n": func(l logger) {
			l.OnSearched(ctx, hook.Search{Kind: "both", Hits: 1, Candidates: 7, Duration: time.Second})
		},
		"level=WARN msg=sweep rows=3\n": func(l logger) {
			l.OnSwept(ctx, hook.Removal{Rows: 3, Duration: time.Second})
		},
		"level=INFO msg=erase rows=1 others=2\n": func(l logger) {
			l.OnErased(ctx, hook.Removal{Rows: 1, Others: 2})
		},
		"level=WARN msg=erase rows=0 others=0 err=failed\n": func(l logger) {
			l.OnErased(ctx, hook.Removal{Err: failed})
		},
		"level=WARN msg=\"feed compacted\" version=1 latest=9\n": func(l logger) {
			l.OnCompacted(ctx, hook.Feed{Version: 1, Latest: 9})
		},
		"level=INFO msg=\"sink connected\"\nlevel=WARN msg=\"sink retrying\" err=failed\nlevel=ERROR msg=\"sink failed\" err=failed\n": func(l logger) {
			l.OnSinkChanged(hook.Sink{State: hook.Connected})
			l.OnSinkChanged(hook.Sink{State: hook.Retrying, Err: failed})
			l.OnSinkChanged(hook.Sink{State: hook.Failed, Err: failed})
		},
	} {
		require.Equal(t, want, written(100*time.Millisecond, f))
	}
	require.Empty(t, written(0, func(l logger) { l.OnUpdateEnd(ctx, hook.Update{Run: time.Hour}) }), "nothing is slow")
}

func TestLogWritesToTheDefault(t *testing.T) {
	var b bytes.Buffer
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	hook.Log(nil, 0).(logger).OnUpdateEnd(t.Context(), hook.Update{Err: errors.New("failed")})
	require.Contains(t, b.String(), "err=failed")
}

// Two are told apart, each by what it began.
func TestTraceIsItself(t *testing.T) {
	require.False(t, hook.Trace() == hook.Trace())
}

// A trace has a region for each update, and a task for a transaction, which another goroutine ends.
func TestTrace(t *testing.T) {
	users := cow.New[string](cow.Options[int]{})
	users.DB().AddHook(hook.Trace())
	_, err := users.Set("ada", 36)
	require.NoError(t, err, "no trace is taken")

	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skipf("another trace is taken: %v", err)
	}
	_, err = users.Set("ada", 36)
	require.NoError(t, err)
	tx := users.DB().Begin()
	users.Edit(tx).Set("bob", 40)
	done := make(chan error)
	go func() { done <- tx.Commit() }()
	require.NoError(t, <-done)
	hook.Trace().(hook.Searched).OnSearched(t.Context(), hook.Search{Kind: "text"})
	trace.Stop()
	for _, text := range []string{"cow.Update", "cow.Transaction", "version 2, waited", "version 3, waited", "text search"} {
		require.Contains(t, b.String(), text)
	}
}
