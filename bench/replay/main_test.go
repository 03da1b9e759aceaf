package main

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplay(t *testing.T) {
	require.NoError(t, flag.Set("test.benchtime", "3x"))
	var out bytes.Buffer
	require.NoError(t, run("", "", 1, &out))
	require.Regexp(t, `(?s)^60 records, 34 queries.*lookups/s.*searches/s.*recall@5.*cowstore memory, text .*%.*bleve en, in memory .*%`, out.String())
	require.ErrorIs(t, run("none", "", 1, &out), os.ErrNotExist)
	require.Error(t, run("", "main.go", 1, &out))
}
