package main

import (
	"bytes"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplay(t *testing.T) {
	before := flag.Lookup("test.benchtime").Value.String()
	defer func() { require.NoError(t, flag.Set("test.benchtime", before)) }()
	var out, err bytes.Buffer
	require.Zero(t, run([]string{"-rounds", "1", "-turn", "1ms"}, &out, &err), err.String())
	require.Regexp(t, `(?s)^60 records, 34 queries.*lookups/s.*searches/s.*recall@5.*cowstore memory, text .*%.*bleve en, in memory .*%`, out.String())
	for _, args := range [][]string{{"-records", "x"}, {"-rounds", "0"}, {"more"}, {"-none"}, {"-records", "none", "-queries", "none"}} {
		err.Reset()
		require.Equal(t, 2, run(args, &out, &err), args)
		require.NotEmpty(t, err.String())
	}
}
