package corpus

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/stores"
)

// loaded is the corpus, read once for all tests and benchmarks.
var loaded = sync.OnceValues(func() ([]stores.Record, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	return Load(context.Background(), root)
})

func symbolsOf(t testing.TB) []stores.Record {
	records, err := loaded()
	require.NoError(t, err)
	return records
}

func TestCorpusIsSensible(t *testing.T) {
	records := symbolsOf(t)
	require.Greater(t, len(records), 10_000)
	kinds := map[string]int{}
	keys := map[string]*stores.Record{}
	for i := range records {
		r := &records[i]
		key := r.Key()
		require.Nil(t, keys[key], "%s twice", key)
		keys[key] = r
		kinds[r.Kind]++
		if testing.Short() && i%10 > 0 {
			continue
		}
		require.True(t, r.Intact(key), key)
		require.NotContains(t, r.Package, `\`)
		require.NotContains(t, strings.Split(r.Package, "/"), "testdata")
		require.NotContains(t, strings.Split(r.Package, "/"), "vendor")
		last := r.Name[strings.LastIndexByte(r.Name, '.')+1:]
		require.True(t, last[0] >= 'A' && last[0] <= 'Z' || last[0] >= 0x80, "%s is exported", key)
		require.Contains(t, r.Signature, last, key)
		require.NotEmpty(t, strings.TrimSpace(r.Doc), key)
		require.Equal(t, r.Kind, r.Tags[1], key)
		require.True(t, strings.HasPrefix(r.Meta["file"], r.Package+"/") && strings.HasSuffix(r.Meta["file"], ".go"), "%s in %s", key, r.Meta["file"])
		line, err := strconv.Atoi(r.Meta["line"])
		require.NoError(t, err)
		require.Positive(t, line, key)
	}
	for _, kind := range []string{"const", "var", "func", "type", "method", "field"} {
		require.Greater(t, kinds[kind], 100, kind)
	}
	require.Len(t, kinds, 6)

	do := keys["net/http.Client.Do"]
	require.Equal(t, "method", do.Kind)
	require.Equal(t, "func (c *Client) Do(req *Request) (*Response, error)", do.Signature)
	require.True(t, strings.HasPrefix(do.Doc, "Do sends an HTTP request"))
	require.Equal(t, "net/http/client.go", do.Meta["file"])

	require.Equal(t, "func Less(i, j int) bool", keys["sort.Interface.Less"].Signature)
	require.Equal(t, "field", keys["net/http.Request.Header"].Kind)
	require.Equal(t, `const MethodGet = "GET"`, keys["net/http.MethodGet"].Signature)
	require.Contains(t, keys["io/ioutil.ReadAll"].Tags, "deprecated")
}

func TestCorpusOrderIsTheSameEachTime(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the source a second time")
	}
	root, err := Root()
	require.NoError(t, err)
	again, err := Load(context.Background(), root)
	require.NoError(t, err)
	require.True(t, slices.EqualFunc(symbolsOf(t), again, func(a, b stores.Record) bool {
		return a.Key() == b.Key() && a.Check == b.Check
	}))
}

func TestCorpusOfNothing(t *testing.T) {
	_, err := Load(context.Background(), filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, ErrNoSource)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	root, err := Root()
	require.NoError(t, err)
	_, err = Load(ctx, root)
	require.ErrorIs(t, err, context.Canceled)
}

func TestResize(t *testing.T) {
	records := symbolsOf(t)[:1000]
	require.Equal(t, records, Resize(records, 1000, 1))

	sample := Resize(records, 100, 1)
	require.Len(t, sample, 100)
	require.Equal(t, sample, Resize(records, 100, 1))
	require.NotEqual(t, sample, Resize(records, 100, 2))

	more := Resize(records, 2500, 1)
	require.Len(t, more, 2500)
	require.Equal(t, records, more[:1000])
	keys := map[string]bool{}
	for i := range more {
		require.True(t, more[i].Intact(more[i].Key()))
		keys[more[i].Key()] = true
	}
	require.Len(t, keys, 2500)
	require.Equal(t, "gen2/"+records[499].Package, more[2499].Package)
	require.Len(t, symbolsOf(t)[:1000], 1000)
}
