package mcp_test

import (
	"encoding/json"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp"
)

var (
	reference      = flag.String("reference", "", "compare with the reference server, which this command starts: see make reference")
	referenceSeeds = flag.String("seeds", "1 2 3", "of the random calls of that comparison")
	referenceCalls = flag.Int("calls", 2000, "how many calls each seed makes")
)

// The reference server and this one answer the same random calls in the same way: with the same
// structured content and the same text, in the same order, or both with an error. What differs on
// purpose is in pair.compare.
func TestTheReferenceServer(t *testing.T) {
	command := strings.Fields(*reference)
	if len(command) == 0 {
		t.Skip("it needs -reference: make reference")
	}
	for _, seed := range strings.Fields(*referenceSeeds) {
		t.Run(seed, func(t *testing.T) {
			t.Parallel()
			n, err := strconv.ParseUint(seed, 10, 64)
			require.NoError(t, err)
			cmd := exec.Command(command[0], command[1:]...)
			cmd.Env = append(os.Environ(), "MEMORY_FILE_PATH="+filepath.Join(t.TempDir(), "memory.jsonl"))
			p := pair{
				T:      t,
				ours:   connect(t, open(t, filepath.Join(t.TempDir(), "m.cow"), mcp.Options{}), nil),
				theirs: join(t, &sdk.CommandTransport{Command: cmd}, nil),
			}
			d := dice{rand.New(rand.NewPCG(n, 0))}
			for i := range *referenceCalls {
				tool := d.of(tools)
				args := d.args(tool)
				if d.IntN(20) == 0 {
					d.spoil(args)
				}
				p.compare(i, tool, args)
			}
			require.NoError(t, p.theirs.Close())
			t.Logf("%d calls, of which %d failed; %d searches found %d entities, and %d by words alone", *referenceCalls, p.failed, p.searches, p.found, p.more)
		})
	}
}

// A pair are the two servers, and what their answers had.
type pair struct {
	*testing.T
	ours, theirs                  *sdk.ClientSession
	failed, searches, found, more int
}

// compare makes a call to both. It knows what differs on purpose:
//
//   - What a call names twice is stored once, but for observations of a new entity. So the
//     reference gets the call without what repeats.
//   - What is wrong with arguments is said in other words; what is absent, in the same.
//   - search_nodes finds what the reference finds, in another order, and up to ten entities more,
//     after those; with the relations of all of them, as open_nodes has them.
//
// Not among the calls is what differs by the limits of the README, and by the final sigma, which
// is one sigma for search_nodes.
func (p *pair) compare(i int, tool string, args object) {
	const most = 10
	ours := p.ask(p.ours, tool, args)
	if !ours.failed {
		args = once(tool, args)
	}
	theirs := p.ask(p.theirs, tool, args)
	said, err := json.Marshal(args)
	require.NoError(p, err)
	call := []any{"call %d: %s %s", i, tool, said}
	switch {
	case theirs.failed:
		p.failed++
		require.True(p, ours.failed, call...)
		if text := theirs.text.(string); !strings.HasPrefix(text, "MCP error -32602: Input validation error") {
			require.Equal(p, theirs.text, ours.text, call...)
		}
	case tool == "search_nodes":
		require.False(p, ours.failed, call...)
		require.Equal(p, any(ours.structured), ours.text, call...)
		got, want := ours.entities(), theirs.entities()
		require.GreaterOrEqual(p, len(got), len(want), call...)
		require.LessOrEqual(p, len(got), len(want)+most, call...)
		require.ElementsMatch(p, want, got[:len(want)], call...)
		names := []any{}
		for _, e := range got {
			names = append(names, e.(object)["name"])
		}
		opened := p.ask(p.theirs, "open_nodes", object{"names": names})
		require.ElementsMatch(p, opened.entities(), got, call...)
		require.Equal(p, opened.structured["relations"], ours.structured["relations"], call...)
		p.searches, p.found, p.more = p.searches+1, p.found+len(want), p.more+len(got)-len(want)
	default:
		require.Equal(p, theirs, ours, call...)
	}
}

type object = map[string]any

type answer struct {
	failed     bool
	text       any // what it says as JSON, of which the escapes may differ, or a string
	structured object
}

func (a answer) entities() []any { return a.structured["entities"].([]any) }

func (p *pair) ask(c *sdk.ClientSession, tool string, args object) (a answer) {
	r, err := c.CallTool(p.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	require.NoError(p, err)
	require.Len(p, r.Content, 1)
	a.failed = r.IsError
	a.structured, _ = r.StructuredContent.(object)
	text := r.Content[0].(*sdk.TextContent).Text
	if json.Unmarshal([]byte(text), &a.text) != nil {
		a.text = text
	}
	return a
}

// once returns arguments without what repeats: entities, relations, and contents that are added to
// one entity.
func once(tool string, args object) object {
	switch tool {
	case "create_entities":
		return object{"entities": first(args["entities"], "name")}
	case "create_relations":
		return object{"relations": first(args["relations"], "from", "to", "relationType")}
	case "add_observations":
		list := []any{}
		for _, o := range args["observations"].([]any) {
			o := maps.Clone(o.(object))
			o["contents"] = first(o["contents"])
			list = append(list, o)
		}
		return object{"observations": list}
	}
	return args
}

// first returns the elements of a list without those that are equal to one before, in the members
// of those names, or as a whole.
func first(list any, names ...string) []any {
	seen := make(map[[3]any]bool)
	return slices.DeleteFunc(slices.Clone(list.([]any)), func(v any) bool {
		key := [3]any{v}
		for i, name := range names {
			key[i] = v.(object)[name]
		}
		was := seen[key]
		seen[key] = true
		return was
	})
}

var (
	tools = []string{"create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations", "delete_relations",
		"read_graph", "search_nodes", "open_nodes"}
	names = []string{"", " ", "Ada", "ada", " Ada", "Ada Lovelace", "Acme", "Zo\u00eb", "Zoe\u0308", "東京", "😀👩‍🚀", "İzmir", "i\u0307zmir", "ılık", "\u212aelvin", "𐐀",
		"a\tb\n", `"\<&>`, "\u2028", "constructor", "__proto__", "toString", "Straße", "Ω", "Σx", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8"}
	types        = []string{"", "person", "Person", "city of", "works_at", "人", "__proto__"}
	observations = []string{"", " ", "likes tea", "Likes Tea", "liked the teas of Acme", "deploys on Fridays", "Fridays: no deploy", "naïve café", "NAI\u0308VE",
		"東京に住んでいます", "line\nline", `C:\new "x"`, "İ and ı", "1.5", "null", "{}", strings.Repeat("long ", 300)}
	all = slices.Concat(names, types, observations)
)

// A dice makes random calls.
type dice struct{ *rand.Rand }

func (d dice) of(pool []string) string { return pool[d.IntN(len(pool))] }

// some returns up to so many values.
func (d dice) some(most int, make func() any) []any {
	list := []any{}
	for range d.IntN(most + 1) {
		list = append(list, make())
	}
	return list
}

func (d dice) args(tool string) object {
	name := func() any { return d.of(names) }
	texts := func() []any { return d.some(4, func() any { return d.of(observations) }) }
	relation := func() any { // of a few, so that those to be deleted are there
		return object{"from": d.of(names[:12]), "to": d.of(names[:12]), "relationType": d.of(types[:3])}
	}
	switch tool {
	case "create_entities":
		return object{"entities": d.some(6, func() any {
			return object{"name": name(), "entityType": d.of(types), "observations": texts()}
		})}
	case "create_relations":
		return object{"relations": d.some(6, relation)}
	case "add_observations":
		return object{"observations": d.some(2, func() any { return object{"entityName": name(), "contents": texts()} })}
	case "delete_entities":
		return object{"entityNames": d.some(4, name)}
	case "delete_observations":
		return object{"deletions": d.some(4, func() any { return object{"entityName": name(), "observations": texts()} })}
	case "delete_relations":
		return object{"relations": d.some(12, relation)}
	case "search_nodes":
		return object{"query": d.query()}
	case "open_nodes":
		return object{"names": d.some(4, name)}
	}
	return object{}
}

// query returns a text that is stored, a part of one or two of them, in any case.
func (d dice) query() string {
	q := d.of(all)
	switch d.IntN(3) {
	case 0:
		q += " " + d.of(all)
	case 1:
		r := []rune(q)
		from := d.IntN(len(r) + 1)
		q = string(r[from : from+d.IntN(len(r)-from+1)])
	}
	switch d.IntN(4) {
	case 0:
		q = strings.ToUpper(q)
	case 1:
		q = strings.ToLower(q)
	}
	return q
}

// spoil takes a member away, adds one that nobody knows, or puts something else in its place, in
// a value or in something in it. It returns what is to be in the place of the value.
func (d dice) spoil(v any) any {
	switch v := v.(type) {
	case object:
		names := append(slices.Sorted(maps.Keys(v)), "besides")
		switch name := d.of(names); d.IntN(4) {
		case 0:
			delete(v, name)
		default:
			v[name] = d.spoil(v[name])
		}
		return v
	case []any:
		if i := d.IntN(len(v) + 1); i < len(v) {
			v[i] = d.spoil(v[i])
			return v
		}
	}
	return []any{7, true, nil, "Ada", []any{}, object{}}[d.IntN(6)]
}
