package memory

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cowstore/cowstore/memory/internal/derive"

	"github.com/cowstore/cowstore/memory/internal/tuple"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// pathPieces are what paths are made of that an encoding may get wrong.
var pathPieces = []string{"", "\x00", "\x01", "\x02", "\xff", "\x00\xff", "\xff\x00", "\x00\x00", "a", "b", "a\x00", "a\x00b", "a\x00\xff", "a\x01", "a\xff", "ab", "é"}

func randomPath(r *rand.Rand) []string {
	path := []string{}
	for range r.IntN(4) {
		var s string
		for range r.IntN(3) {
			s += pathPieces[r.IntN(len(pathPieces))]
		}
		path = append(path, s)
	}
	return path
}

func TestPathEncodingIsInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		path := randomPath(r)
		encoded := tuple.Encode(path)
		require.Equal(t, path, tuple.Decode(encoded))
		key := strings.Join(randomPath(r), "")
		space, k := tuple.Split(encoded + "\x01" + key)
		require.Equal(t, encoded, space)
		require.Equal(t, key, k)
	}
	require.Equal(t, "", tuple.Encode(nil))
	require.Equal(t, []string{}, tuple.Decode(""))
}

// Injective and of the right order at once: the encodings compare as the paths.
func TestPathEncodingKeepsOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 20_000 {
		p, q := randomPath(r), randomPath(r)
		require.Equal(t, slices.Compare(p, q), strings.Compare(tuple.Encode(p), tuple.Encode(q)), "%q %q", p, q)
	}
}

// The entries of a space come before those of the spaces below it.
func TestNamesAreInOrderOfSpacesThenKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 20_000 {
		p, q := randomPath(r), randomPath(r)
		k, l := strings.Join(randomPath(r), ""), strings.Join(randomPath(r), "")
		want := slices.Compare(p, q)
		if want == 0 {
			want = strings.Compare(k, l)
		}
		is := strings.Compare(tuple.Encode(p)+"\x01"+k, tuple.Encode(q)+"\x01"+l)
		require.Equal(t, want, is, "%q %q, %q %q", p, k, q, l)
	}
}

func TestWithinIsASpaceAndWhatIsBelow(t *testing.T) {
	var db cow.DB
	table := cow.NewTable[string](&db, "paths", cow.Options[[]string]{})
	order := cow.NewOrder(table, "order")
	r := rand.New(rand.NewPCG(4, 4))
	var all [][]string
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		e := table.Edit(tx)
		for _, p := range pathPieces {
			for _, q := range pathPieces {
				all = append(all, []string{p, q})
			}
			all = append(all, []string{p})
		}
		for range 300 {
			all = append(all, randomPath(r))
		}
		for _, p := range all {
			e.Set(tuple.Encode(p), p)
		}
		return nil
	}))
	slices.SortFunc(all, func(a, b []string) int { return slices.Compare(a, b) })
	all = slices.CompactFunc(all, slices.Equal)
	for i, of := range all {
		if i%7 != 0 && len(of) != 1 && len(of) != 0 {
			continue
		}
		want := []string{}
		for _, p := range all {
			if len(p) >= len(of) && slices.Equal(p[:len(of)], of) {
				want = append(want, tuple.Encode(p))
			}
		}
		is := []string{}
		for encoded := range derive.Within(order.In(table.In(db.Load())), tuple.Encode(of)).All() {
			is = append(is, encoded)
		}
		require.Equal(t, want, is, "%q", of)
	}
}

func FuzzSpacePath(f *testing.F) {
	f.Add("", "a", "key", "b", "a\x00b")
	f.Add("\x00", "\x01", "\x02", "\xff", "")
	f.Add("a", "a\x00", "a\x00\xff", "\x00\xff", "\xff\x00")
	f.Fuzz(func(t *testing.T, a, b, key, c, d string) {
		p, q := []string{a, b}, []string{c, d}
		require.Equal(t, p, tuple.Decode(tuple.Encode(p)))
		space, k := tuple.Split(tuple.Encode(p) + "\x01" + key)
		require.Equal(t, tuple.Encode(p), space)
		require.Equal(t, key, k)
		for i := range 3 {
			for j := range 3 {
				require.Equal(t, slices.Compare(p[:i], q[:j]), strings.Compare(tuple.Encode(p[:i]), tuple.Encode(q[:j])))
			}
		}
		below := tuple.Encode(p[:1])
		inside := func(s string) bool { return s >= below && s < below+tuple.AboveBelow }
		require.True(t, inside(tuple.Encode(p)))
		require.Equal(t, a == c, inside(tuple.Encode(q)))
	})
}
