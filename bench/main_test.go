package main

import (
	"bytes"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/corpus"
	"github.com/cowstore/cowstore/bench/stores"
)

// symbols are those of a few packages.
func symbols() ([]stores.Record, error) { return corpus.Load("net/http", "strings") }

// ran runs the main job for a round and returns what it printed.
func ran(t *testing.T, kinds []stores.Kind, turn time.Duration) (stdout, stderr string, failed error) {
	before := flag.Lookup("test.benchtime").Value.String()
	t.Cleanup(func() { require.NoError(t, flag.Set("test.benchtime", before)) })
	var out, err bytes.Buffer
	failed = run(symbols, kinds, 1, turn, &out, &err)
	return out.String(), err.String(), failed
}

func TestTheMainJob(t *testing.T) {
	out, progress, err := ran(t, stores.Kinds(), time.Millisecond)
	require.NoError(t, err)
	for _, k := range stores.Kinds() {
		require.Contains(t, out, "\n"+k.Marked())
	}
	for _, text := range []string{"lookups/s", "B/entry", "cowstore views again", "not isolated:", "noise: ", "In short (A coding agent's memory; lookups/s):", "What cowstore saves: "} {
		require.Contains(t, out, text)
	}
	require.Regexp(t, `^read \d\d+ symbols of the Go installation`, progress)
	require.NotContains(t, out+progress, "\x1b", "no terminal is there")
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "GOMAXPROCS") && !strings.Contains(line, "wait for") && !strings.Contains(line, "of no one moment") {
			require.LessOrEqual(t, len([]rune(line)), 101, line)
		}
	}
	_, _, err = ran(t, stores.Kinds(), 0)
	require.ErrorContains(t, err, "-turn")
}

// A store that has lost everything.
type empty struct{ stores.Store }

func (empty) Get(string) (stores.Record, bool) { return stores.Record{}, false }

func TestABrokenPromiseIsAnError(t *testing.T) {
	k := stores.Kinds()[5]
	made := k.New
	k.New = func() stores.Store { return empty{made()} }
	_, _, err := ran(t, []stores.Kind{stores.Kinds()[0], k}, time.Millisecond)
	require.ErrorContains(t, err, "RWMutex map broke its promise in docs")
}
