package main

import (
	"bytes"
	"context"
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/stores"
)

// ran runs the program and returns its exit code and what it printed.
func ran(t *testing.T, ctx context.Context, kinds []stores.Kind, args ...string) (code int, stdout, stderr string) {
	before := flag.Lookup("test.benchtime").Value.String()
	t.Cleanup(func() { require.NoError(t, flag.Set("test.benchtime", before)) })
	var out, err bytes.Buffer
	code = run(ctx, args, kinds, &out, &err)
	return code, out.String(), err.String()
}

func TestTheMainJob(t *testing.T) {
	code, out, err := ran(t, context.Background(), stores.Kinds(), "-rounds", "1", "-turn", "1ms")
	require.Equal(t, exitOK, code, err)
	for _, k := range stores.Kinds() {
		require.Contains(t, out, "\n"+k.Marked())
	}
	for _, text := range []string{"lookups/s", "B/entry", "cowstore views again", "not isolated:", "noise: ", "In short (A coding agent's memory; lookups/s):", "What cowstore saves: "} {
		require.Contains(t, out, text)
	}
	require.Regexp(t, `^read \d\d+ symbols of the Go installation`, err)
	require.NotContains(t, out+err, "\x1b", "no terminal is there")
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "GOMAXPROCS") && !strings.Contains(line, "wait for") && !strings.Contains(line, "of no one moment") {
			require.LessOrEqual(t, len([]rune(line)), 101, line)
		}
	}
}

// A store that tears what it has.
type tearing struct{ stores.Store }

func (s tearing) Get(key string) (stores.Record, bool) {
	r, ok := s.Store.Get(key)
	r.Check++
	return r, ok
}

func TestABrokenPromiseIsAnError(t *testing.T) {
	k := stores.Kinds()[5]
	made := k.New
	k.New = func() stores.Store { return tearing{made()} }
	code, _, err := ran(t, context.Background(), []stores.Kind{stores.Kinds()[0], k}, "-rounds", "1", "-turn", "1ms")
	require.Equal(t, exitFailed, code)
	require.Contains(t, err, "RWMutex map broke its promise in docs")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	turns := 0
	k := stores.Kinds()[0]
	made := k.New
	k.New = func() stores.Store {
		if turns++; turns == 2 { // of the first round
			cancel()
		}
		return made()
	}
	code, out, _ := ran(t, ctx, []stores.Kind{stores.Kinds()[4], k}, "-turn", "1ms")
	require.Equal(t, exitInterrupted, code)
	require.Contains(t, out, "Interrupted")
	require.Contains(t, out, "RWMutex map, copies")
}

func TestUsage(t *testing.T) {
	for _, args := range []string{"-rounds 0", "-turn -1s", "docs", "-stores x"} {
		code, out, err := ran(t, context.Background(), stores.Kinds(), strings.Fields(args)...)
		require.Equal(t, exitUsage, code, args)
		require.Empty(t, out)
		require.Contains(t, err, "-turn")
	}
	code, _, err := ran(t, context.Background(), stores.Kinds(), "-help")
	require.Equal(t, exitOK, code)
	require.Contains(t, err, "-rounds")
}
