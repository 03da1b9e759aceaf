package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The demo serves until it is ended, and knows what it does not know.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.NoError(t, run(ctx, []string{"-http", "127.0.0.1:0", "-rows", "100", "-versions", "20", "-pause", "1ms"}))
	for _, args := range [][]string{{"-x"}, {"rows"}, {"-http", "nowhere"}} {
		require.Error(t, run(t.Context(), args), args)
	}
}

func TestADemoHasWhatThePagesShow(t *testing.T) {
	d, err := newDemo(100, 20)
	require.NoError(t, err)
	require.Equal(t, 100, d.jobs.Len())
	require.Equal(t, 20, d.db.Stats().Retained)
	require.Equal(t, 1, d.db.Stats().Pins)
	require.Equal(t, 100, d.byState.In(d.jobs.Load()).Len())
	w := httptest.NewRecorder()
	d.pages().ServeHTTP(w, httptest.NewRequest(http.MethodGet, fmt.Sprintf("/l/%s/v/%d/memory", d.db.Lineage().ID, d.db.Load().Version()), nil))
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "agents")
}
