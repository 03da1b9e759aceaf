package local_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// The file testdata/0939e04.db.gz, and what was in it, were written by this test at that
// commit: a file without a schema. It must open, and go on.
const fixture = "testdata/0939e04"

// longAgo keeps the past of a file that was written a while ago.
var longAgo = cow.Retention{Versions: 10_000}

var writeFixture = flag.Bool("write-0939e04", false, "write "+fixture+", at that commit")

func TestTheFileOf0939e04(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	show := func(s *local.Store) string {
		var b bytes.Buffer
		require.NoError(t, s.ExportAll(&b))
		fmt.Fprintln(&b, s.Cursor())
		require.NoError(t, s.Export("", &b))
		_, _, version, stats := s.Inspect()
		fmt.Fprintln(&b, version, stats.Retained)
		return b.String()
	}
	if *writeFixture {
		s, err := local.Open(path, local.Options{})
		require.NoError(t, err)
		do(t, s, "create_entities", family)
		do(t, s, "create_relations", ties)
		do(t, s, "add_observations", `{"observations":[{"entityName":"Bob","contents":["rides horses"]}]}`)
		for i := range 5 {
			do(t, s, "remember", fmt.Sprintf(`{"key":"a","text":"note %d of a horse","tags":["x"]}`, i))
		}
		do(t, s, "remember", `{"key":"b","space":["project","x"],"text":"deleted"}`)
		do(t, s, "delete_entities", `{"entityNames":["Bob"]}`)
		want := show(s)
		require.NoError(t, s.Close())
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(fixture), 0o755))
		for name, b := range map[string][]byte{".db.gz": b, ".txt.gz": []byte(want)} {
			var to bytes.Buffer
			z, err := gzip.NewWriterLevel(&to, gzip.BestCompression)
			require.NoError(t, err)
			_, err = z.Write(b)
			require.NoError(t, err)
			require.NoError(t, z.Close())
			require.NoError(t, os.WriteFile(fixture+name, to.Bytes(), 0o644))
		}
		return
	}
	unpack := func(name string) []byte {
		f, err := os.Open(fixture + name)
		require.NoError(t, err)
		defer f.Close()
		z, err := gzip.NewReader(f)
		require.NoError(t, err)
		b, err := io.ReadAll(z)
		require.NoError(t, err)
		return b
	}
	require.NoError(t, os.WriteFile(path, unpack(".db.gz"), 0o600))
	want := string(unpack(".txt.gz"))
	for round := range 3 {
		s, err := local.Open(path, local.Options{Retain: longAgo})
		require.NoError(t, err)
		require.Equal(t, want, show(s))
		if round == 0 { // what was done stays done
			_, err := s.Do(t.Context(), store.Request{ID: fmt.Sprintf("%032d", 5), Op: "remember", Args: json.RawMessage(`{"key":"c","text":"again"}`)})
			require.NoError(t, err)
			require.Equal(t, want, show(s))
		}
		do(t, s, "remember", `{"key":"a","text":"it goes on with a horse"}`)
		want = show(s)
		require.NoError(t, s.Close())
	}
}
