// Package recall has public texts with queries of which it is known what they have
// to find, to see how good a search for words is.
//
// The texts of [Verses] are in the public domain: the Gospel of Luke and the Acts of
// the Apostles, much of which is people talking, in two translations each, that were
// made independently of one another. English: The Twentieth Century New Testament, 1901,
// and H. T. Anderson, 1864. French: H. Oltramare, 1874, and E. Stapfer, 1889. German:
// L. Albrecht, 1926, and L. Tafel, 1911.
package recall

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/bench/records"
)

// A Text is what is to be found, under a key.
type Text struct{ Key, Text string }

// A Query has one text to find.
type Query struct{ Text, Wanted string }

// A Collection is texts and queries. Ranking was tuned with the Tuning half of the
// queries; only what the Held half finds tells how good it is.
type Collection struct {
	Name     string
	Language string // an ISO 639-1 code
	Texts    []Text
	Tuning   []Query
	Held     []Query
}

// Recall returns for which part of queries the text that is wanted is among the keys
// that search finds, from 0 to 1.
func Recall(queries []Query, search func(query string) (keys []string)) float64 {
	sum := 0.0
	for _, q := range queries {
		sum += records.Recall(search(q.Text), []string{q.Wanted})
	}
	return sum / float64(len(queries))
}

//go:embed testdata
var verses embed.FS

// Languages returns the languages that there are Verses in.
func Languages() []string { return []string{"en", "fr", "de"} }

// Verses returns the verses of one translation, and queries of eight words that follow
// one another in another translation of the same verse. It panics if there are none in
// that language.
func Verses(language string) *Collection {
	c := &Collection{Name: "verses in " + map[string]string{"en": "English", "fr": "French", "de": "German"}[language], Language: language}
	data, err := verses.ReadFile("testdata/verses." + language + ".jsonl.gz")
	if err != nil {
		panic(fmt.Sprintf("recall: no verses in %q: see Languages", language))
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		var v struct{ Key, Text, Query string }
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			panic(err)
		}
		c.Texts = append(c.Texts, Text{v.Key, v.Text})
		if v.Query != "" {
			c.ask(Query{v.Query, v.Key})
		}
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
	return c
}

// ask adds a query, to one half and the other in turn.
func (c *Collection) ask(q Query) {
	if len(c.Tuning) == len(c.Held) {
		c.Tuning = append(c.Tuning, q)
	} else {
		c.Held = append(c.Held, q)
	}
}

// DocumentationName is the Name of Documentation.
const DocumentationName = "documentation in English"

// Documentation makes a Collection of English documentation, with n queries: each is
// five words of one text, in some order, each in another form that is among the texts
// too, if there is one, as "searches" for "search". Texts that are there twice count
// once. The same texts and n make the same.
func Documentation(texts []Text, n int) *Collection {
	c := &Collection{Name: DocumentationName, Language: "en"}
	seen := map[string]bool{}
	known := map[string]bool{}
	words := make([][]string, 0, len(texts))
	for _, t := range texts {
		if seen[t.Text] {
			continue
		}
		seen[t.Text] = true
		c.Texts = append(c.Texts, t)
		ws := word.FindAllString(strings.ToLower(t.Text), -1)
		slices.Sort(ws)
		ws = slices.Compact(ws)
		words = append(words, ws)
		for _, w := range ws {
			known[w] = true
		}
	}
	r := rand.New(rand.NewPCG(11, 11))
	for _, i := range r.Perm(len(c.Texts)) {
		if len(c.Tuning)+len(c.Held) == n {
			break
		}
		ws := words[i]
		if len(ws) < 5 {
			continue
		}
		var asked []string
		for _, j := range r.Perm(len(ws))[:5] {
			asked = append(asked, otherForm(ws[j], known))
		}
		c.ask(Query{strings.Join(asked, " "), c.Texts[i].Key})
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
