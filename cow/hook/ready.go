package hook

import (
	"context"
	"errors"
	"log/slog"
	"runtime/trace"
	"time"
)

// A Logger is a hook that writes a line for each update and search that fails or is slow, for each
// state of a sink, for feeds that are compacted, and for what is erased. The zero Logger is ready
// for use. It is safe for concurrent use.
type Logger struct {
	Log  *slog.Logger  // nil: slog.Default()
	Slow time.Duration // how long what is slow takes at least; 0: nothing is slow
}

func (l Logger) write(ctx context.Context, level slog.Level, text string, err error, attrs ...slog.Attr) {
	log := l.Log
	if log == nil {
		log = slog.Default()
	}
	if err != nil {
		attrs = append(attrs, slog.Any("err", err))
	}
	log.LogAttrs(ctx, level, text, attrs...)
}

// level returns the level for what has taken so long and ended with an error, and whether it is
// logged.
func (l Logger) level(took time.Duration, err error) (level slog.Level, ok bool) {
	failed := err != nil && !errors.Is(err, ErrAborted)
	return slog.LevelWarn, failed || l.Slow > 0 && took >= l.Slow
}

// OnUpdateEnd is that of [UpdateEnd].
func (l Logger) OnUpdateEnd(ctx context.Context, u Update) {
	level, ok := l.level(u.Wait+u.Run+u.Sink, u.Err)
	if !ok {
		return
	}
	attrs := []slog.Attr{slog.Duration("wait", u.Wait), slog.Duration("run", u.Run), slog.Duration("sink", u.Sink)}
	if u.Attempts > 1 {
		attrs = append(attrs, slog.Int("attempts", u.Attempts))
	}
	if u.Version > 0 {
		attrs = append(attrs, slog.Uint64("version", u.Version))
		for _, t := range u.Tables() {
			attrs = append(attrs, slog.Group("table "+t.Name, slog.Int("rows", t.Rows), slog.Int("bytes", t.Bytes)))
		}
	}
	l.write(ctx, level, "update", u.Err, attrs...)
}

// OnSearched is that of [Searched].
func (l Logger) OnSearched(ctx context.Context, s Search) {
	if level, ok := l.level(s.Duration, s.Err); ok {
		l.write(ctx, level, "search", s.Err, slog.String("kind", s.Kind), slog.Int("hits", s.Hits),
			slog.Int("candidates", s.Candidates), slog.Duration("took", s.Duration))
	}
}

// OnSwept is that of [Swept]. The updates of a Sweep that fails are logged already.
func (l Logger) OnSwept(ctx context.Context, s Sweep) {
	if level, ok := l.level(s.Duration, nil); ok {
		l.write(ctx, level, "sweep", s.Err, slog.Int("rows", s.Rows), slog.Duration("took", s.Duration))
	}
}

// OnErased is that of [Erased].
func (l Logger) OnErased(ctx context.Context, e Erase) {
	level := slog.LevelInfo
	if e.Err != nil {
		level = slog.LevelWarn
	}
	l.write(ctx, level, "erase", e.Err, slog.Int("keys", e.Keys), slog.Int("others", e.Others), slog.Duration("took", e.Duration))
}

// OnCompacted is that of [Compacted].
func (l Logger) OnCompacted(ctx context.Context, f Feed) {
	l.write(ctx, slog.LevelWarn, "feed compacted", nil, slog.Uint64("version", f.Version), slog.Uint64("latest", f.Latest))
}

// OnSinkChanged is that of [SinkChanged].
func (l Logger) OnSinkChanged(s Sink) {
	level := slog.LevelInfo
	switch s.State {
	case Retrying, Refused:
		level = slog.LevelWarn
	case Failed:
		level = slog.LevelError
	}
	l.write(context.Background(), level, "sink "+s.State.String(), s.Err)
}

// A Tracer is a hook that makes a region of each update, and a task of each transaction of Begin,
// in execution traces of package runtime/trace. The zero Tracer is ready for use. Where no trace is
// taken it does nothing. It is safe for concurrent use.
type Tracer struct{}

type tracing struct{}

// OnUpdateStart is that of [UpdateStart].
func (Tracer) OnUpdateStart(ctx context.Context, s Start) context.Context {
	switch {
	case !trace.IsEnabled():
		return ctx
	case s.Transaction: // which another goroutine may end, and a region must not be
		ctx, task := trace.NewTask(ctx, "cow.Transaction")
		return context.WithValue(ctx, tracing{}, task)
	}
	return context.WithValue(ctx, tracing{}, trace.StartRegion(ctx, "cow.Update"))
}

// OnUpdateEnd is that of [UpdateEnd].
func (Tracer) OnUpdateEnd(ctx context.Context, u Update) {
	if is, ok := ctx.Value(tracing{}).(interface{ End() }); ok {
		trace.Logf(ctx, "cow", "version %d, waited %v", u.Version, u.Wait)
		is.End()
	}
}

// OnSearched is that of [Searched].
func (Tracer) OnSearched(ctx context.Context, s Search) {
	trace.Logf(ctx, "memory", "%s search: %d hits in %v", s.Kind, s.Hits, s.Duration)
}
