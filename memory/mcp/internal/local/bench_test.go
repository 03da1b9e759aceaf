package local_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// file returns the reference server's file with so many entities and relations.
func file(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"type":"entity","name":"person %d","entityType":"person","observations":["Lives in City %d and likes Tea number %d","Works at Company %d","Was born in %d"]}`+"\n", i, i%97, i, i%313, 1900+i%100)
	}
	for i := range n {
		fmt.Fprintf(&b, `{"type":"relation","from":"person %d","to":"person %d","relationType":"knows"}`+"\n", i, (i*7+1)%n)
	}
	return b.Bytes()
}

func BenchmarkImport(b *testing.B) {
	f := file(10_000)
	for i := 0; b.Loop(); i++ {
		s := open(b, filepath.Join(b.TempDir(), fmt.Sprint(i)), local.Options{})
		n, err := s.Import(b.Context(), "", bytes.NewReader(f), nil)
		require.NoError(b, err)
		require.Equal(b, 10_000, n.Entities)
	}
}

func BenchmarkTools(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "m"), local.Options{})
	_, err := s.Import(b.Context(), "", bytes.NewReader(file(10_000)), nil)
	require.NoError(b, err)
	for _, c := range []struct{ name, op, args string }{
		{"search_nodes/one", "search_nodes", `{"query":"tea number 777"}`},
		{"search_nodes/hundred", "search_nodes", `{"query":"City 42"}`},
		{"search_nodes/none", "search_nodes", `{"query":"zebra"}`},
		{"open_nodes", "open_nodes", `{"names":["person 5","person 6"]}`},
		{"recall", "recall", `{"query":"who lives in city 42 and was born in 1950"}`},
		{"create_entities", "create_entities", `{"entities":[{"name":"new %d","entityType":"person","observations":["Lives in City 3"]}]}`},
		{"add_observations", "add_observations", `{"observations":[{"entityName":"PERSON","contents":["said %d"]}]}`},
		{"remember", "remember", `{"text":"note %d of the day"}`},
		{"read_graph", "read_graph", `{}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			stop := make(chan struct{})
			done := make(chan struct{})
			go func() { // beside writes
				defer close(done)
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					case <-time.After(2 * time.Millisecond):
					}
					_, _ = s.Do(b.Context(), store.Request{ID: fmt.Sprintf("w%s%d", b.Name(), i), Op: "add_observations",
						Args: json.RawMessage(fmt.Sprintf(`{"observations":[{"entityName":"person %d","contents":["said %d"]}]}`, i%10_000, b.N+i))})
				}
			}()
			var slow []time.Duration
			for i := 0; b.Loop(); i++ {
				args := strings.ReplaceAll(c.args, "PERSON", fmt.Sprint("person ", i*7%10_000))
				if bytes.Contains([]byte(args), []byte("%d")) {
					args = fmt.Sprintf(args, b.N*1_000_000+i)
				}
				start := time.Now()
				_, err := s.Do(b.Context(), store.Request{ID: fmt.Sprintf("%s%d.%d", b.Name(), b.N, i), Op: c.op, Args: json.RawMessage(args)})
				slow = append(slow, time.Since(start))
				require.NoError(b, err)
			}
			close(stop)
			<-done
			report(b, slow)
		})
	}
}

func report(b *testing.B, list []time.Duration) {
	sortDurations(list)
	b.ReportMetric(float64(list[len(list)*99/100].Microseconds()), "p99-µs")
}
