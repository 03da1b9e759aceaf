package local

import (
	"encoding/json"
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
