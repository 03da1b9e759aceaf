package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrongFlags(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"-wat", "-wat"},
		{"-duration=0", "-duration"},
		{"-duration=soon", "-duration"},
		{"-readers=0", "-readers"},
		{"-writes=-1", "-writes"},
		{"-n=-5", "-n -5"},
		{"-seed=x", "-seed"},
		{"-stores=nope", `unknown store "nope"`},
		{"-stores=", `unknown store ""`},
		{"-stores=mutex,mutex", "twice"},
		{"-only=x", "-bars"},
		{"now", `unexpected argument "now"`},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(context.Background(), []string{c.arg}, &stdout, &stderr), c.arg)
		require.Empty(t, stdout.String())
		require.Contains(t, stderr.String(), c.want)
		require.Equal(t, 1, bytes.Count(stderr.Bytes(), []byte("\n")), "one line says it: %s", stderr.String())
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitOK, run(context.Background(), []string{"-h"}, &stdout, &stderr))
	require.Contains(t, stderr.String(), "-duration")
	require.Contains(t, stderr.String(), "rwmutex-copy")
}

func TestDefaults(t *testing.T) {
	o, err := parse(nil, nil)
	require.NoError(t, err)
	require.Len(t, o.kinds, 7)
	all, err := parse([]string{"-stores=all"}, nil)
	require.NoError(t, err)
	require.Len(t, all.kinds, 10)
}

func TestNoGoSource(t *testing.T) {
	t.Setenv("GOROOT", t.TempDir())
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitUsage, run(context.Background(), nil, &stdout, &stderr))
	require.Empty(t, stdout.String())
	require.Contains(t, stderr.String(), "no source")
}

func TestWholeRun(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the source a second time")
	}
	var stdout, stderr bytes.Buffer
	args := []string{"-duration=200ms", "-n=2000", "-json", "-stores=cowstore,rwmutex"}
	require.Equal(t, exitOK, run(context.Background(), args, &stdout, &stderr), stderr.String())
	var r jsonReport
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &r))
	require.Len(t, r.Stores, 3)
	require.Equal(t, 2000, r.Records)
	require.Contains(t, stderr.String(), "symbols")
}
