package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/fault"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/memory/vector"
)

// How texts get their vectors.
const (
	embedAtOnce   = 64      // texts in one call,
	embedBytes    = 1 << 18 // and how many bytes, unless it is one text
	embedPause    = time.Second
	embedMaxPause = 5 * time.Minute
)

// errNoEmbed is why a query has no vector.
var errNoEmbed = errors.New("memory: there is no Options.Embed")

// EmbedMissing asks Embed of [Options] for the vectors of all entries that have a text and no
// vector, in the order in which they were written, and returns how many have got one. Nobody waits
// meanwhile: an update puts the vector beside the text, or drops it if the text has changed since.
// The time of the entry's last update stays.
//
// After an error, or a restart, EmbedMissing goes on with the entries that still have no vector. If
// Embed returns an error, EmbedMissing asks for half as many texts, so that one text that is
// refused does not keep the others from theirs. It returns the first error about a text that was
// refused alone, or about a vector that cannot be used; after two texts in a row that were refused
// alone it asks no more. When ctx ends it returns ctx's cause. It panics if there is no Embed.
func (m *Memory) EmbedMissing(ctx context.Context) (n int, err error) {
	given(ctx, "EmbedMissing")
	n, _, err = m.embedder().all(ctx)
	return n, err
}

// EmbedEvery calls [Memory.EmbedMissing] whenever entries were written, until ctx ends, and returns
// ctx's cause. After an error it calls failed, unless that is nil, and pauses: for a second, and
// longer each time that it fails again, up to five minutes. It leaves an entry whose vector cannot
// be used alone until the entry is written again. Run it in a goroutine of its own: the Memory
// starts none.
func (m *Memory) EmbedEvery(ctx context.Context, failed func(err error)) error {
	given(ctx, "EmbedEvery")
	e := m.embedder()
	for pause := embedPause; ; {
		_, seen, err := e.all(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			pause = embedPause
			if _, err := m.db.Watch(ctx, seen, tablesOf(m).Entries.OnAll()); err != nil {
				return bare.Named(err)
			}
			continue
		case failed != nil:
			failed(err)
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
		pause = min(2*pause, embedMaxPause)
	}
}

// An embedder embeds what is missing.
type embedder struct {
	m       *Memory
	most    int                // texts in the next call
	refused map[string]refusal // by the name of an entry
}

// A refusal says that an entry gets no vector at a revision.
type refusal struct {
	revision uint64
	unfit    bool // what it got cannot be used, and would be the same again
}

func (m *Memory) embedder() *embedder {
	m.made()
	if m.options.Embed == nil {
		panic("memory: nothing embeds texts: set Options.Embed")
	}
	return &embedder{m: m, most: embedAtOnce, refused: make(map[string]refusal)}
}

// A missing is an entry that has a text and no vector.
type missing struct {
	name     string
	revision uint64
	text     string
}

// all embeds all that is missing, but for what is refused, and returns the last snapshot that it
// looked at.
func (e *embedder) all(ctx context.Context) (n int, seen *cow.Snapshot, err error) {
	alone := 0 // refused in a row
	for {
		if ctx.Err() != nil {
			return n, seen, context.Cause(ctx)
		}
		seen = e.m.db.Load()
		some := e.take(seen)
		if len(some) == 0 {
			entries := tablesOf(e.m).Entries.In(seen)
			maps.DeleteFunc(e.refused, func(name string, r refusal) bool {
				return !r.unfit || entries.Revision(name) != r.revision // to be tried again
			})
			return n, seen, err
		}
		did, unfit, failed := e.embed(ctx, some)
		n += did
		switch {
		case failed == nil:
			e.most, alone = min(2*e.most, embedAtOnce), 0
			if err == nil {
				err = unfit
			}
		case ctx.Err() != nil:
			return n, seen, context.Cause(ctx)
		case len(some) > 1:
			e.most = len(some) / 2
		default:
			e.refused[some[0].name] = refusal{revision: some[0].revision}
			if err == nil {
				err = failed
			}
			if alone++; alone == 2 {
				return n, seen, err
			}
		}
	}
}

// take returns some of what is missing.
func (e *embedder) take(s *cow.Snapshot) (some []missing) {
	t := tablesOf(e.m)
	view := viewOf(e.m.In(s))
	size := 0
	for _, row := range t.Missing.In(t.Entries.In(s)).All() {
		name, entry := row.Key(), row.Shared()
		path, _ := tuple.Split(name)
		if r, ok := e.refused[name]; ok && r.revision == row.Revision() || entry.Expired(view.Instant) || !view.Clearings().Alive(path, row.Revision()) {
			continue
		}
		text := strings.Join(slices.Collect(t.Texts.Of(path, entry.Value)), "\n")
		if size += len(text); len(some) == e.most || len(some) > 0 && size > embedBytes {
			break
		}
		some = append(some, missing{name, row.Revision(), text})
	}
	return some
}

// embed asks for the vectors of some entries and stores those that can be used, after an error
// none.
func (e *embedder) embed(ctx context.Context, some []missing) (n int, unfit, err error) {
	texts := make([]string, len(some))
	for i, s := range some {
		texts[i] = s.text
	}
	vectors, err := e.m.embedTexts(ctx, texts)
	if err != nil {
		return 0, nil, err
	}
	err = e.m.BatchContext(ctx, func(b *Batch) error {
		n, unfit = 0, nil
		for i, s := range some {
			old, revision := b.lookup(s.name)
			if old == nil || revision != s.revision {
				continue // what it is now is missing, or has a vector
			}
			path, key := tuple.Split(s.name)
			err := vector.Check(vectors[i])
			if err != nil {
				err = fault.Of(path, key, err)
			} else {
				err = updateOf(b).Fits(path, key, vectors[i])
			}
			if err != nil {
				e.refused[s.name] = refusal{s.revision, true}
				if unfit == nil {
					unfit = err
				}
				continue
			}
			next := old.Next()
			next.Updated = old.Updated
			next.SetVector(slices.Clone(vectors[i]), true)
			updateOf(b).Store(s.name, next)
			n++
		}
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return n, unfit, nil
}

// embedTexts returns a vector for each text, which nobody has looked at.
func (m *Memory) embedTexts(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := m.options.Embed(ctx, texts)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("memory: Options.Embed returned %d vectors for %d texts", len(vectors), len(texts))
	}
	return vectors, err
}

// Recall searches by a text and by its vector, which Embed of [Options] makes; all else is as q
// says: see [SpaceSnapshot.Search].
//
// If there is no vector before ctx ends, or none that fits, Recall searches by the words alone.
// Each [Hit] then has the reason in Unembedded; if there is no hit, Recall returns the reason as an
// error, unless it is that there is no Embed. To wait no longer than some time, pass a context with
// a timeout, and have Embed return when it ends.
//
// A vector adds at most a third to a score, unless Lean says more: a MinScore above that finds only
// what has one of the words.
func (s Space) Recall(ctx context.Context, text string, q Query) ([]Hit, error) {
	s.m.made()
	given(ctx, "a Recall")
	if q.Text != "" || q.Vector != nil {
		return nil, fault.OfSpace(s.path, fmt.Errorf("%w: Recall makes the Text and the Vector itself: call Search", ErrQuery))
	}
	q.Text = text
	if err := (&Query{Text: text}).check(); err != nil {
		return nil, fault.OfSpace(s.path, err)
	}
	unembedded := errNoEmbed
	if s.m.options.Embed != nil {
		vectors, err := s.m.embedTexts(ctx, []string{text})
		if err == nil {
			err = vector.Check(vectors[0])
		}
		if err == nil && ctx.Err() != nil { // an Embed that does not heed ctx is late
			err = context.Cause(ctx)
		}
		if err == nil {
			q.Vector = vectors[0]
			var hits []Hit
			if hits, err = s.search(ctx, q); err == nil {
				return hits, nil
			}
		}
		unembedded = err
	}
	q.Vector = nil
	hits, err := s.search(ctx, q)
	for i := range hits {
		hits[i].Unembedded = unembedded
	}
	if err == nil && len(hits) == 0 && unembedded != errNoEmbed {
		err = fault.OfSpace(s.path, fmt.Errorf("no entry has the words, and there is no vector: %w", bare.Wrap(unembedded)))
	}
	return hits, err
}
