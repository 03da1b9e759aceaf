package local

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// A file of an earlier version has receipts without results: such a request is not done again.
func TestARequestWithoutAResultIsNotDoneAgain(t *testing.T) {
	s, err := Open("", Options{})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.m.DB().Update(func(tx *cow.Tx) error {
		s.receipts.Edit(tx).Set("id", receipt{Age: 1, Erased: true})
		return nil
	}))
	_, err = s.Do(t.Context(), store.Request{ID: "id", Op: "remember", Args: json.RawMessage(`{"text":"x"}`)})
	var e *store.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, store.Gone, e.Code)
	require.Zero(t, s.m.Load().Len())
}

// A request whose context ends while it waits for others is not begun: one that writes beside
// an erase, and an erase beside any. Those that read wait for nobody.
func TestWaitingHeedsContexts(t *testing.T) {
	s, err := Open("", Options{})
	require.NoError(t, err)
	defer s.Close()
	ended := errors.New("the client has gone")
	for op, held := range map[string]int64{"remember": alone, "erase": 1} {
		require.NoError(t, s.writing.Acquire(t.Context(), held))
		args := map[string]string{"remember": `{"key":"k","text":"t"}`, "erase": `{"key":"k"}`}[op]
		ctx, cancel := context.WithCancelCause(t.Context())
		answer := make(chan error)
		go func() {
			_, err := s.Do(ctx, store.Request{Op: op, Args: json.RawMessage(args)})
			answer <- err
		}()
		r, err := s.Do(t.Context(), store.Request{Op: "recall", Args: json.RawMessage(`{"key":"k"}`)})
		require.NoError(t, err)
		require.JSONEq(t, `{"hits":[]}`, string(r), op)
		cancel(ended)
		require.ErrorIs(t, <-answer, ended)
		s.writing.Release(held)
	}
	_, err = s.Do(t.Context(), store.Request{Op: "remember", Args: json.RawMessage(`{"key":"k","text":"t"}`)})
	require.NoError(t, err, "all is given back")
	_, err = s.Do(t.Context(), store.Request{Op: "erase", Args: json.RawMessage(`{"key":"k"}`)})
	require.NoError(t, err, "all is given back")
}
