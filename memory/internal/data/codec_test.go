package data

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files have these texts, with the names that the types had first; what has other members has
// another text.
func TestSchemasOfTables(t *testing.T) {
	const m = "github.com/cowstore/cowstore/memory."
	limits := Limits{1, 1}
	for _, x := range []struct {
		name, schema string
		full         any
	}{
		{"SpaceOptions", ConfigCodec.Schema(), Config{1, 1, 1, limits, Defaults{1, 1, 1}}},
		{"clearing", ClearingCodec.Schema(), Clearing{At: 1, Hand: "a", Done: true}},
		{"head", HeadCodec.Schema(), Head{1, 1, []NameText{"a"}, []Mark{{"a", 1}}}},
		{"epoch", EpochCodec.Schema(), Epoch{}},
	} {
		text, err := json.Marshal(x.full)
		require.NoError(t, err)
		require.Equal(t, m+"jsonCodec["+m+x.name+`] of ["*",`, x.schema[:len(m)*2+len(x.name)+len(`jsonCodec[] of ["*",`)])
		require.Equal(t, members(string(text)), members(x.schema))
	}
}

// members returns the names of the members of objects in a text.
func members(text string) []string {
	all := make(map[string]bool)
	for _, found := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(text, -1) {
		all[found[1]] = true
	}
	return slices.Sorted(maps.Keys(all))
}
