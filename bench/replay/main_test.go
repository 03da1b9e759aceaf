package main

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/recall"
)

func TestReplay(t *testing.T) {
	require.NoError(t, flag.Set("test.benchtime", "3x"))
	var out bytes.Buffer
	require.NoError(t, run("", "", 1, &out))
	require.Regexp(t, `(?s)^60 records, 34 queries.*lookups/s.*searches/s.*recall@5.*cowstore memory, text .*%.*bleve en, in memory .*%`, out.String())
	require.ErrorIs(t, run("none", "", 1, &out), os.ErrNotExist)
	require.Error(t, run("", "main.go", 1, &out))
}

func TestRank(t *testing.T) {
	c := &recall.Collection{}
	for i, text := range []string{"a train to Lyon", "green tea", "the night train", "black tea", "horses run", "a horse eats"} {
		c.Texts = append(c.Texts, recall.Text{Key: string(rune('a' + i)), Text: text})
	}
	c.Held = []recall.Query{{Text: "teas", Relevant: []string{"b", "d"}}, {Text: "running horse", Relevant: []string{"e", "f"}}}
	var out bytes.Buffer
	require.NoError(t, rank([]recall.Set{{Name: "small", Spaces: []*recall.Collection{c, c}}}, &out))
	require.Regexp(t, `small +4 +1\.0000 +1\.0000 +\+0\.0 ± 0\.0 +1\.0000 +1\.0000 +\+0\.0 ± 0\.0\n`, out.String())
	require.Regexp(t, `(?s)small +random .*small +grams .*small +LSA +1\.0000 +`, out.String())
	require.Len(t, verses()[0].Spaces[0].Held, 1066)
}
