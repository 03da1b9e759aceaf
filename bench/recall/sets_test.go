package recall_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/recall"
)

// The files of each collection are read as they are distributed.
func TestSets(t *testing.T) {
	dir := t.TempDir()
	_, err := recall.Sets(dir)
	require.ErrorContains(t, err, "none of the test collections")
	write := func(files map[string]string) {
		for name, text := range files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	const texts = ".I 1\r\n.T\r\nA title\r\n.A\r\nSomebody\r\n.W\r\nand a text\r\n.X\r\n1 2 3\r\n.I 2\r\n.W\r\nno title\r\n"
	const queries = ".I 001\n.W\nfirst\n.I 4\n.W\nsecond\n.I 5\n.W\nhas nothing relevant\n"
	write(map[string]string{
		"CISI.ALL": texts, "CISI.QRY": queries, "CISI.REL": "  1  2 0 0.0\n  4  1 0 0.0\n  4  1 0 0.0\n  4  2 0 0.0\n",
		"MED.ALL": texts, "MED.QRY": queries, "MED.REL": "1 0 1 1\n4 0 1 0\n4 0 2 1\n",
		"cran.all.1400": texts, "cran.qry": queries, "cranqrel": "1 1 2\n2 1 -1\n2 2 3\n3 1 5\n",
		"npl.doc-text": "\n1\ncompact\nmemories\n   /\n2\ncomputers\n   /\n    /\n", "npl.query-text": "1\nFIRST\n/\n2\nSECOND\n/\n/\n",
		"npl.rlv-ass":   "1\n 1\n   /\n2\n 1 2\n   /\n",
		"locomo10.json": `[{"qa":[{"question":"Who?","evidence":["D1:1"],"category":1},{"question":"When?","evidence":["D1:2","D9:9"],"category":2},{"question":"Never?","evidence":["D1:2"],"category":5},{"question":"Where?","evidence":["D8:8"],"category":1}],"conversation":{"speaker_a":"Ann","session_1_date_time":"May","session_1":[{"speaker":"Ann","dia_id":"D1:1","text":"Hello"},{"speaker":"Bob","dia_id":"D1:2","text":"Hi"}]}}]`,
	})
	sets, err := recall.Sets(dir)
	require.NoError(t, err)
	smart := []recall.Text{{Key: "1", Text: "A title\nand a text\n"}, {Key: "2", Text: "no title\n"}}
	require.Equal(t, []recall.Set{
		{Name: "CISI", Spaces: []*recall.Collection{{Texts: smart, Held: []recall.Query{{Text: "second\n", Relevant: []string{"1", "2"}}}}}},
		{Name: "MED", Spaces: []*recall.Collection{{Texts: smart, Held: []recall.Query{{Text: "second\n", Relevant: []string{"2"}}}}}},
		{Name: "Cranfield", Spaces: []*recall.Collection{{Texts: smart, Held: []recall.Query{{Text: "second\n", Relevant: []string{"2"}}}}}},
		{Name: "NPL", Spaces: []*recall.Collection{{Texts: []recall.Text{{Key: "1", Text: "compact\nmemories"}, {Key: "2", Text: "computers"}}, Held: []recall.Query{{Text: "SECOND", Relevant: []string{"1", "2"}}}}}},
		{Name: "LoCoMo", Spaces: []*recall.Collection{{Texts: []recall.Text{{Key: "D1:1", Text: "Ann: Hello"}, {Key: "D1:2", Text: "Bob: Hi"}}, Held: []recall.Query{{Text: "When?", Relevant: []string{"D1:2"}}}}}},
	}, sets)

	write(map[string]string{"locomo10.json": "{"})
	_, err = recall.Sets(dir)
	require.ErrorContains(t, err, "locomo10.json: no queries")
	require.NoError(t, os.Remove(filepath.Join(dir, "CISI.REL")))
	_, err = recall.Sets(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestNDCG(t *testing.T) {
	q := recall.Query{Relevant: []string{"a", "b"}}
	most := 1 + 1/math.Log2(3)
	for want, found := range map[float64][]string{
		0: {"x"}, 1: {"b", "a"}, 1 / most: {"a", "x"}, 1 / math.Log2(3) / most: {"x", "a"},
		1 / math.Log2(11) / most: {"x", "x", "x", "x", "x", "x", "x", "x", "x", "a", "b"},
	} {
		require.InDelta(t, want, q.NDCG(found), 1e-12, found)
	}
	mean, standardError := recall.Difference([]float64{1, 2, 3}, []float64{1, 1, 1})
	require.InDelta(t, 1, mean, 1e-12)
	require.InDelta(t, 1/math.Sqrt(3), standardError, 1e-12)
}

// Words that are never together are alike if they are beside the same others.
func TestLSA(t *testing.T) {
	var texts []recall.Text
	for _, s := range []string{"the car has wheels and a motor", "an automobile has wheels and a motor", "a car needs wheels", "an automobile needs a motor", "cats chase mice", "cats sleep", "mice sleep", "cats and mice"} {
		texts = append(texts, recall.Text{Text: s})
	}
	embed := recall.LSA(texts, 2)
	require.Equal(t, embed("car"), recall.LSA(texts, 2)("car"))
	cosine := func(a, b []float32) float64 {
		ab, aa, bb := 0.0, 0.0, 0.0
		for i := range a {
			ab += float64(a[i]) * float64(b[i])
			aa += float64(a[i]) * float64(a[i])
			bb += float64(b[i]) * float64(b[i])
		}
		return ab / math.Sqrt(aa*bb)
	}
	require.Greater(t, cosine(embed("car"), embed("automobile")), 0.8)
	require.Less(t, cosine(embed("car"), embed("cats")), 0.3)
	require.Len(t, recall.LSA(texts, 1000)("car"), len(texts))
}
