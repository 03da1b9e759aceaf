package hook

import (
	"context"
	"errors"
	"log/slog"
	"runtime/trace"
	"time"
)

// Log returns a hook that writes a line for each update and each search that fails or takes at
// least slow, for each sweep that takes at least slow, and for each erasure, each feed that is
// compacted and each new state of a sink. If slow is 0, nothing is slow. If log is nil, lines go to
// slog.Default(), as it is at that moment. The hook is safe for concurrent use.
func Log(log *slog.Logger, slow time.Duration) any { return logger{log, slow} }

type logger struct {
	log  *slog.Logger
	slow time.Duration
}

func (l logger) write(ctx context.Context, level slog.Level, text string, err error, attrs ...slog.Attr) {
	log := l.log
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
func (l logger) level(took time.Duration, err error) (level slog.Level, ok bool) {
	failed := err != nil && !errors.Is(err, ErrAborted)
	return slog.LevelWarn, failed || l.slow > 0 && took >= l.slow
}

func (l logger) OnUpdateEnd(ctx context.Context, u Update) {
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

func (l logger) OnSearched(ctx context.Context, s Search) {
	if level, ok := l.level(s.Duration, s.Err); ok {
		l.write(ctx, level, "search", s.Err, slog.String("kind", s.Kind), slog.Int("hits", s.Hits),
			slog.Int("candidates", s.Candidates), slog.Duration("took", s.Duration))
	}
}

// OnSwept leaves out errors: the updates of a Sweep that fails are logged already.
func (l logger) OnSwept(ctx context.Context, r Removal) {
	if level, ok := l.level(r.Duration, nil); ok {
		l.write(ctx, level, "sweep", r.Err, slog.Int("rows", r.Rows), slog.Duration("took", r.Duration))
	}
}

func (l logger) OnErased(ctx context.Context, r Removal) {
	level := slog.LevelInfo
	if r.Err != nil {
		level = slog.LevelWarn
	}
	l.write(ctx, level, "erase", r.Err, slog.Int("rows", r.Rows), slog.Int("others", r.Others), slog.Duration("took", r.Duration))
}

func (l logger) OnCompacted(ctx context.Context, f Feed) {
	l.write(ctx, slog.LevelWarn, "feed compacted", nil, slog.Uint64("version", f.Version), slog.Uint64("latest", f.Latest))
}

func (l logger) OnSinkChanged(s Sink) {
	level := slog.LevelInfo
	switch s.State {
	case Retrying, Refused:
		level = slog.LevelWarn
	case Failed:
		level = slog.LevelError
	}
	l.write(context.Background(), level, "sink "+string(s.State), s.Err)
}

// Trace returns a hook for package runtime/trace: each update is a region, and each transaction of
// Begin a task. Where no trace is taken it does nothing. It is safe for concurrent use.
func Trace() any { return new(tracer) }

// A tracer has a size, so that each has an address of its own: the key of what it begins.
type tracer struct{ _ byte }

func (t *tracer) OnUpdateStart(ctx context.Context, u Update) context.Context {
	switch {
	case !trace.IsEnabled():
		return ctx
	case u.Transaction: // which another goroutine may end, and a region must not be
		ctx, task := trace.NewTask(ctx, "cow.Transaction")
		return context.WithValue(ctx, t, task)
	}
	return context.WithValue(ctx, t, trace.StartRegion(ctx, "cow.Update"))
}

func (t *tracer) OnUpdateEnd(ctx context.Context, u Update) {
	if is, ok := ctx.Value(t).(interface{ End() }); ok {
		trace.Logf(ctx, "cow", "version %d, waited %v", u.Version, u.Wait)
		is.End()
	}
}

func (*tracer) OnSearched(ctx context.Context, s Search) {
	trace.Logf(ctx, "memory", "%s search: %d hits in %v", s.Kind, s.Hits, s.Duration)
}
