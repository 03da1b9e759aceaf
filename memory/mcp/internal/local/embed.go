package local

import (
	"context"
	"errors"
	"time"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/vector"
)

const (
	embedBytes = 8 << 10 // of one text
	embedFor   = time.Minute
)

// bounded returns embed for texts of any length, whose calls end; nil for nil.
func bounded(embed func(context.Context, []string) ([][]float32, error)) func(context.Context, []string) ([][]float32, error) {
	if embed == nil {
		return nil
	}
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		ctx, cancel := context.WithTimeout(ctx, embedFor)
		defer cancel()
		clipped := make([]string, len(texts))
		for i, text := range texts {
			clipped[i] = clipTo(text, embedBytes)
		}
		return embed(ctx, clipped)
	}
}

// embed puts vectors to what was written without one, until the Store ends.
func (s *Store) embed() {
	err := s.m.EmbedEvery(s.ctx, func(err error) {
		for _, unfit := range []error{memory.ErrDimension, vector.ErrZero, vector.ErrNotFinite, vector.ErrEmpty} {
			if errors.Is(err, unfit) {
				s.o.Log.Error("vectors cannot be used: the texts stay without", "error", err)
				return
			}
		}
		s.o.Log.Warn("texts have no vectors yet: they are tried again", "error", err)
	})
	if s.ctx.Err() == nil {
		s.o.Log.Error("texts get no vectors any more", "error", err)
	}
}
