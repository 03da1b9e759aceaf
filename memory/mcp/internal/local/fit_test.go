package local_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// Who gives arguments that do not fit is told the argument and what is expected, and nothing of
// Go or of how things are kept.
func TestWhatDoesNotFitIsSaidInTheClientsWords(t *testing.T) {
	s := filled(t)
	do(t, s, "remember", `{"text":"x","vector":[1,2],"key":"v"}`)
	for _, c := range []struct{ op, args, want string }{
		{"remember", `[]`, `what holds the arguments must be an object, and is an array`},
		{"remember", `{}`, `argument "text" is missing: it is a string`},
		{"remember", `{"text":5}`, `argument "text" must be a string, and is an integer`},
		{"remember", `{"text":null}`, `argument "text" must be a string, and is null`},
		{"remember", `{"text":"x","space":"a"}`, `argument "space" must be an array, and is a string`},
		{"remember", `{"text":"x","metadata":7}`, `argument "metadata" must be an object, and is an integer`},
		{"remember", `{"text":"x","vector":[1,"a"]}`, `argument "vector[1]" must be a number, and is a string`},
		{"remember", `{"text":"x","vector":[1,1e39]}`, `argument "vector" must be a number that is not out of range, and is 1e39`},
		{"remember", `{"text":"x","vector":[1,1e400]}`, `must be a number that is not out of range, and is 1e400`},
		{"remember", `{"text":"x","ttl_seconds":0}`, `argument "ttl_seconds" must be at least 1, and is 0`},
		{"remember", `{"text":"x","ttl_seconds":1.5}`, `argument "ttl_seconds" must be an integer, and is a number`},
		{"remember", `{"text":"x","ttl_seconds":1.0}`, `argument "ttl_seconds" must be a whole number of at most 18 digits, without a point or an exponent, and is 1.0`},
		{"remember", `{"text":"x","ttl_seconds":1e30}`, `argument "ttl_seconds" must be a whole number`},
		{"remember", `{"text":"x","vector":[1,2,3]}`, `the vector cannot be used: wrong dimension: have 3, want 2`},
		{"remember", `{"text":"x","vector":[]}`, `the vector cannot be used: empty vector`},
		{"recall", `{"vector":[1,2,3]}`, `the vector cannot be used: wrong dimension: have 3, want 2`},
		{"recall", `{"k":1000}`, `argument "k" must be at most 100, and is 1000`},
		{"recall", `{"k":"7"}`, `argument "k" must be an integer, and is a string`},
		{"recall", `{"kind":"x"}`, `argument "kind" must be one of "note", "entity", and is "x"`},
		{"undo", `{"revision":18446744073709551616}`, `argument "revision" must be a whole number of at most 18 digits`},
		{"create_entities", `{"entities":7}`, `argument "entities" must be an array, and is an integer`},
		{"create_entities", `{"entities":[{"name":"a","entityType":"b"}]}`, `argument "entities[0].observations" is missing: it is an array`},
		{"create_entities", `{"entities":[{"name":"a","entityType":"b","observations":[true]}]}`, `argument "entities[0].observations[0]" must be a string, and is a boolean`},
	} {
		_, err := s.Do(t.Context(), store.Request{ID: c.args, Op: c.op, Args: json.RawMessage(c.args)})
		require.ErrorContains(t, err, c.want, c.args)
		for _, internal := range []string{"Go ", "struct", "float", "int64", "json:", "reflect", "notes", "properties", "validating"} {
			require.NotContains(t, err.Error(), internal)
		}
	}
}
