package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
)

// reference are the tools that are as those of the reference server, which passes over what
// it does not know.
var reference = []string{"create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations",
	"delete_relations", "read_graph", "search_nodes", "open_nodes"}

// sample is a value that fits a schema, with all that the schema names.
func sample(s *jsonschema.Schema) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "string":
		return "2026-01-31T00:00:00Z"
	case s.Type == "integer", s.Type == "number":
		return 1
	case s.Type == "array":
		return []any{sample(s.Items)}
	}
	v := make(map[string]any)
	for name, of := range s.Properties {
		v[name] = sample(of)
	}
	return v
}

// objects yields each object in a value whose members a schema names, with its place.
func objects(place string, s *jsonschema.Schema, v any, yield func(place string, s *jsonschema.Schema, v map[string]any)) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			objects(fmt.Sprintf("%s[%d]", place, i), s.Items, item, yield)
		}
	case map[string]any:
		for name, of := range s.Properties {
			objects(strings.TrimPrefix(place+"."+name, "."), of, v[name], yield)
		}
		if place == "" || len(s.Properties) > 0 {
			yield(place, s, v)
		}
	}
}

// Whatever is unknown, wherever it stands, is refused with its name and those that there are.
func TestUnknownMembersAreRefused(t *testing.T) {
	for _, tool := range All {
		s := tool.InputSchema.(*jsonschema.Schema)
		decode := func(v any) error {
			b, err := json.Marshal(v)
			require.NoError(t, err)
			var to map[string]any
			return tool.Decode(b, &to)
		}
		args := sample(s)
		require.NoError(t, decode(args), tool.Name)
		isReference := slices.Contains(reference, tool.Name)
		objects("", s, args, func(place string, s *jsonschema.Schema, v map[string]any) {
			if !isReference {
				b, err := json.Marshal(s)
				require.NoError(t, err)
				require.Contains(t, string(b), `"additionalProperties":false`, "%s %s", tool.Name, place)
			} else {
				require.Nil(t, s.AdditionalProperties, tool.Name)
			}
			for _, unknown := range []string{"explode", "", "ünbekannt", strings.Repeat("x", 5000), "$schema", "__proto__"} {
				v[unknown] = map[string]any{"a": 1}
				err := decode(args)
				delete(v, unknown)
				if isReference {
					require.NoError(t, err, "%s %s", tool.Name, place)
					continue
				}
				require.ErrorContains(t, err, fmt.Sprintf("there is no argument %.100q", unknown), tool.Name)
				require.ErrorContains(t, err, place)
				for name := range maps.Keys(s.Properties) {
					require.ErrorContains(t, err, fmt.Sprintf("%q", name))
				}
				require.Less(t, len(err.Error()), 1000)
			}
			for known := range maps.Keys(s.Properties) { // encoding/json would take it
				v[strings.ToUpper(known)] = v[known]
				require.ErrorContains(t, decode(args), fmt.Sprintf("there is no argument %q", strings.ToUpper(known)))
				delete(v, strings.ToUpper(known))
			}
		})
	}
	remember, _ := Get("remember")
	require.EqualError(t, remember.Decode(json.RawMessage(`{"txt":"x","ttl":1}`), new(any)),
		`there is no argument "ttl", "txt"; there are "fork", "key", "metadata", "namespace", "space", "supersedes", "tags", "text", "ttl_seconds", "vector"`)
	// What is the client's own has any members.
	require.NoError(t, remember.Decode(json.RawMessage(`{"text":"x","metadata":{"any":{"Text":1}}}`), new(any)))
	recall, _ := Get("recall")
	require.NoError(t, recall.Decode(json.RawMessage(`{"where":{"any":1}}`), new(any)))
	many := make(map[string]int)
	for i := range 1000 {
		many[fmt.Sprint(i)] = i
	}
	b, err := json.Marshal(many)
	require.NoError(t, err)
	require.ErrorContains(t, recall.Decode(b, new(any)), "980 more; there are")
}
