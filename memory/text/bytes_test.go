package text

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// heap returns the bytes in use.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// What Bytes says is near to the heap, whatever the index.
func TestBytes(t *testing.T) {
	if bits.UintSize != 64 {
		t.Skip("pointers are smaller here")
	}
	words := 50_000 // of all indexes, about
	if testing.Short() {
		words = 4_000
	}
	for _, c := range []struct {
		docs, vocabulary, words int
		write                   string
	}{
		{1, 1, 1, ""}, {1, 100, 8, ""}, {1, 5000, 3000, ""}, {3, 10, 2, ""}, {10, 200, 12, ""}, {10, 1, 400, ""},
		{100, 50, 5, ""}, {100, 2000, 40, ""}, {1000, 20, 1, ""}, {1000, 300, 100, ""}, {3000, 3000, 8, ""}, {200, 20_000, 500, ""},
		{1, 100, 8, "replace"}, {10, 200, 12, "replace"}, {2000, 1000, 20, "replace"},
		{10, 200, 12, "delete"}, {100, 2000, 40, "delete"}, {3000, 500, 10, "delete"},
	} {
		if testing.Short() && c.docs*c.words > words {
			continue
		}
		name := strings.TrimSpace(fmt.Sprintf("%d of %d words of %d %s", c.docs, c.words, c.vocabulary, c.write))
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 1))
			text := func() Words { return tokenize(randomText(r, c.vocabulary, c.words)) }
			name := func(i int) string { return fmt.Sprintf("document-%d", i) }
			xs := make([]*Index, max(words/(c.docs*(c.words+5)), 7)+1)
			measure := func() (is, said int) {
				clear(xs)
				tokenize("") // and the memory that it keeps
				before := heap()
				for i := range xs {
					for j := range c.docs {
						xs[i] = xs[i].Set(name(j), text())
					}
					for j := range c.docs {
						switch k := r.IntN(c.docs); {
						case c.write == "replace":
							xs[i] = xs[i].Set(name(k), text())
						case c.write == "delete" && j < c.docs*3/4:
							xs[i] = xs[i].Delete(name(j * 7 % c.docs))
						}
					}
				}
				is = heap() - before
				for _, x := range xs {
					said += x.Bytes()
				}
				t.Logf("%d bytes, %d a document, predicted %d", is/len(xs), is/len(xs)/xs[0].Len(), said/len(xs))
				runtime.KeepAlive(xs)
				return is, said
			}
			// What ends meanwhile, of another test, is measured too: not every time.
			is, said := measure()
			for range 5 {
				if math.Abs(float64(is-said)) <= 0.12*float64(is) {
					break
				}
				is, said = measure()
			}
			require.InEpsilon(t, is, said, 0.12)
		})
	}
}

// An index of one short text is small.
func TestFirstText(t *testing.T) {
	x := (*Index)(nil).Set("first", tokenize("tea"))
	require.Less(t, x.Bytes(), 850)
	x = x.Set("second", tokenize("green tea")).Delete("first")
	require.Less(t, x.Bytes(), 1200)
}
