package local_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// A search has all that the graph has, whatever was written since the last one, and however
// much of that is still in the past.
func TestSearchesFollowTheGraph(t *testing.T) {
	for _, versions := range []int{1000, 3} {
		s := open(t, "", local.Options{Retain: cow.Retention{Versions: versions}})
		r := rand.New(rand.NewPCG(1, uint64(versions)))
		name := func() string { return fmt.Sprint("Name", r.IntN(12)) }
		write := func(ns, op, args string) {
			ids++
			_, _ = s.Do(t.Context(), store.Request{ID: fmt.Sprintf("%032d", ids), Namespace: ns, Op: op, Args: json.RawMessage(args)})
		}
		ask := func(ns, op, args string) graph {
			result, err := s.Do(t.Context(), store.Request{Namespace: ns, Op: op, Args: json.RawMessage(args)})
			require.NoError(t, err)
			return as[graph](t, string(result))
		}
		for range 400 {
			ns := []string{"", "other"}[r.IntN(2)]
			switch n := name(); r.IntN(8) {
			case 0, 1:
				write(ns, "create_entities", fmt.Sprintf(`{"entities":[{"name":%q,"entityType":"T%d","observations":["Seen %d"]}]}`, n, r.IntN(3), r.IntN(9)))
			case 2, 3:
				write(ns, "add_observations", fmt.Sprintf(`{"observations":[{"entityName":%q,"contents":["Said %d"]}]}`, n, r.IntN(9)))
			case 4:
				write(ns, "delete_entities", fmt.Sprintf(`{"entityNames":[%q]}`, n))
			case 5:
				_, _, version, _ := s.Inspect()
				write(ns, "undo", fmt.Sprintf(`{"revision":%d}`, max(1, int(version)-r.IntN(3))))
			case 6:
				if r.IntN(20) == 0 {
					write(ns, "forget", fmt.Sprintf(`{"entity":%q}`, n))
				}
			case 7:
				query := []string{"name1", "SEEN 4", "said", "t2", "x"}[r.IntN(5)]
				var want []string
				for _, e := range ask(ns, "read_graph", `{}`).Entities {
					texts := append([]string{e.Name, e.EntityType}, e.Observations...)
					for _, text := range texts {
						if strings.Contains(strings.ToLower(text), strings.ToLower(query)) {
							want = append(want, e.Name)
							break
						}
					}
				}
				found := ask(ns, "search_nodes", fmt.Sprintf(`{"query":%q}`, query)).names()
				require.Subset(t, found, want)
				if query == "x" {
					require.Empty(t, found)
				}
			}
		}
	}
}
