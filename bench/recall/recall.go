// Package recall has public texts with queries of which it is known what they have
// to find, to see how good a search for words is, and reads memories of agents with queries
// for them.
//
// The texts of [Verses] are in the public domain: the Gospel of Luke and the Acts of
// the Apostles, much of which is people talking, in two translations each, that were
// made independently of one another. English: The Twentieth Century New Testament, 1901,
// and H. T. Anderson, 1864. French: H. Oltramare, 1874, and E. Stapfer, 1889. German:
// L. Albrecht, 1926, and L. Tafel, 1911.
package recall

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// A Text is what is to be found, under a key.
type Text struct{ Key, Text string }

// A Collection is texts and queries. Ranking was tuned with as many others: of all queries
// there are, these are every second one.
type Collection struct {
	Texts []Text
	Held  []Query // for a Text each
}

// Recall returns which part of what is relevant to queries search finds, on average.
func Recall(queries []Query, search func(query string) (keys []string)) float64 {
	sum := 0.0
	for _, q := range queries {
		sum += q.Recall(search(q.Text))
	}
	return sum / float64(len(queries))
}

//go:embed testdata/*.gz
var verses embed.FS

// Verses returns the verses of one translation, and queries of eight words that follow
// one another in another translation of the same verse. The language must be en, fr or de.
func Verses(language string) *Collection {
	data, err := verses.ReadFile("testdata/verses." + language + ".jsonl.gz")
	must(err)
	z, err := gzip.NewReader(bytes.NewReader(data))
	must(err)
	c, asked := new(Collection), 0
	for lines := json.NewDecoder(z); lines.More(); {
		var v struct{ Key, Text, Query string }
		must(lines.Decode(&v))
		c.Texts = append(c.Texts, Text{v.Key, v.Text})
		if v.Query == "" {
			continue
		}
		if asked++; asked%2 == 0 {
			c.Held = append(c.Held, Query{Text: v.Query, Relevant: []string{v.Key}})
		}
	}
	return c
}

// must panics if the embedded files, or bleve, are not what they were.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Documentation makes a Collection of English documentation, with n held queries: each is
// five words of one text, in some order, each in another form that is among the texts
// too, if there is one, as "searches" for "search". Texts that are there twice count
// once. The same texts and n make the same.
func Documentation(texts []Text, n int) *Collection {
	c := new(Collection)
	seen, known := map[string]bool{}, map[string]bool{}
	var words [][]string // of each text
	for _, t := range texts {
		if seen[t.Text] {
			continue
		}
		seen[t.Text] = true
		ws := word.FindAllString(strings.ToLower(t.Text), -1)
		slices.Sort(ws)
		ws = slices.Compact(ws)
		c.Texts, words = append(c.Texts, t), append(words, ws)
		for _, w := range ws {
			known[w] = true
		}
	}
	r, made := rand.New(rand.NewPCG(11, 11)), 0
	for _, i := range r.Perm(len(c.Texts)) {
		if len(c.Held) == n {
			break
		}
		if len(words[i]) < 5 {
			continue
		}
		var asked []string
		for _, j := range r.Perm(len(words[i]))[:5] {
			asked = append(asked, otherForm(words[i][j], known))
		}
		if made++; made%2 == 0 {
			c.Held = append(c.Held, Query{Text: strings.Join(asked, " "), Relevant: []string{c.Texts[i].Key}})
		}
	}
	return c
}

var word = regexp.MustCompile(`\b[a-z]{3,}\b`)

// otherForm returns another form of a word that is known, or else itself.
func otherForm(w string, known map[string]bool) string {
	for _, end := range []string{"ing", "ed", "es", "s", "d"} {
		if known[w+end] {
			return w + end
		}
	}
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if base, ok := strings.CutSuffix(w, end); ok && len(base) > 2 && known[base] {
			return base
		}
	}
	return w
}

// NDCG returns how near what a search finds comes to all that is relevant in front, from 0
// to 1, among the first ten (K. Järvelin and J. Kekäläinen, Cumulated Gain-Based Evaluation
// of IR Techniques, ACM TOIS 20(4), 2002).
func (q Query) NDCG(found []string) float64 {
	gain, most := 0.0, 0.0
	for i := range 10 {
		if i < len(found) && slices.Contains(q.Relevant, found[i]) {
			gain += 1 / math.Log2(float64(i+2))
		}
		if i < len(q.Relevant) {
			most += 1 / math.Log2(float64(i+2))
		}
	}
	return gain / most
}

// Difference returns how much greater the numbers of a are than those of b beside them, on
// average, and its standard error.
func Difference(a, b []float64) (mean, standardError float64) {
	for i := range a {
		mean += (a[i] - b[i]) / float64(len(a))
	}
	squares, n := 0.0, float64(len(a))
	for i := range a {
		d := a[i] - b[i] - mean
		squares += d * d
	}
	return mean, math.Sqrt(squares / (n - 1) / n)
}
