package data

import (
	"encoding/hex"
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

// What files have of entries stays as it is, and what no entry can have is refused.
func TestEntriesInBytes(t *testing.T) {
	type what struct {
		kept, embedded, superseded bool
		by                         string
		dim                        int
	}
	codec := EntryCodec{}
	for _, x := range []struct {
		bytes string
		what  what
	}{
		{"0102040609026869" + "00", what{}},
		{"0102040609026869" + "00" + "0000803f00000040", what{dim: 2}},
		{"020101" + "02040609026869" + "00", what{kept: true}},
		{"020103" + "02040609026869" + "00" + "0000803f", what{kept: true, embedded: true, dim: 1}},
		{"02050563686564" + "02040609026869" + "00", what{kept: true, superseded: true, by: "ched"}},
		{"020104" + "02040609026869" + "00", what{superseded: true}},
	} {
		b, err := hex.DecodeString(x.bytes)
		require.NoError(t, err)
		e, err := codec.Decode(b)
		require.NoError(t, err, x.bytes)
		by, superseded := e.SupersededBy()
		require.Equal(t, x.what, what{e.Kept(), e.Embedded(), superseded, by, len(e.Vector())}, x.bytes)
		require.Equal(t, []int64{1, 2, 3}, []int64{e.Created, e.Updated, e.Expires})
		require.Equal(t, "hi", e.Value.String())
		again, err := codec.Append(nil, e)
		require.NoError(t, err)
		require.Equal(t, x.bytes, hex.EncodeToString(again))
	}
	for _, refused := range []string{
		"", "00", "0302040609026869" + "00", // no format
		"0102040609026869",                               // no metadata
		"0102040609026869" + "00" + "00",                 // not a whole number
		"0102040609026869" + "00" + "0000807f",           // an infinity
		"0102040609026869" + "09026869",                  // metadata that is no Map
		"01020406" + "00" + "00",                         // nothing
		"0200" + "02040609026869" + "00", "0280", "0209", // no flags
		"020100" + "02040609026869" + "00", "020108" + "02040609026869" + "00", // none, and an unknown one
		"02020161" + "02040609026869" + "00",                                               // superseded, and not
		"020102" + "02040609026869" + "00", "020102" + "020406" + "00" + "00" + "0000803f", // embedded, without vector or value
		"020104" + "02040609026869" + "00" + "0000803f", "020104" + "020406" + "00" + "00", // superseded, with a vector, without a value
	} {
		b, err := hex.DecodeString(refused)
		require.NoError(t, err)
		_, err = codec.Decode(b)
		require.Error(t, err, refused)
	}
}
