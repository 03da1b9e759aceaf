package corpus

import (
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/stores"
)

func TestCorpusIsSensible(t *testing.T) {
	least, packages := 10_000, []string(nil)
	if testing.Short() {
		least, packages = 2_000, []string{"go", "io", "net", "sort"}
	}
	records, err := Load(packages...)
	require.NoError(t, err)
	require.Greater(t, len(records), least)
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
		require.NotRegexp(t, `\\|(^|/)(testdata|vendor)(/|$)`, r.Package)
		last := r.Name[strings.LastIndexByte(r.Name, '.')+1:]
		require.True(t, token.IsExported(last), key)
		require.Contains(t, r.Signature, last, key)
		require.NotEmpty(t, strings.TrimSpace(r.Doc), key)
		require.Equal(t, r.Kind, r.Tags[1], key)
		require.True(t, strings.HasPrefix(r.Meta["file"], r.Package+"/") && strings.HasSuffix(r.Meta["file"], ".go"), "%s in %s", key, r.Meta["file"])
		require.Regexp(t, "^[1-9][0-9]*$", r.Meta["line"], key)
	}
	for _, kind := range []string{"const", "var", "func", "type", "method", "field"} {
		require.Greater(t, kinds[kind], least/100, kind)
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

	if testing.Short() {
		return
	}
	again, err := Load()
	require.NoError(t, err)
	require.True(t, slices.EqualFunc(records, again, func(a, b stores.Record) bool {
		return a.Key() == b.Key() && a.Check == b.Check
	}), "the order is the same each time")
}

func TestCorpusOfNothing(t *testing.T) {
	_, err := load(t.TempDir())
	require.ErrorIs(t, err, ErrNoSource)
}
