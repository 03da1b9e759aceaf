package text

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// comments returns comments of the Go library: doc comments, and others of a
// line and more.
var comments = sync.OnceValue(func() []string {
	const n = 50_000
	var texts []string
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil
	}
	set := gotoken.NewFileSet()
	_ = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || len(texts) == n {
			return fs.SkipAll
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "vendor") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil
		}
		for _, c := range f.Comments {
			if text := c.Text(); len(text) >= 60 && len(texts) < n && !copyright(c) {
				texts = append(texts, text)
			}
		}
		return nil
	})
	return texts
})

func copyright(c *ast.CommentGroup) bool { return strings.HasPrefix(c.List[0].Text, "// Copyright") }

func load(texts []string) *Index {
	var x *Index
	for i, c := range texts {
		x = x.Set(fmt.Sprintf("doc/%06d", i), tokenize(c))
	}
	return x
}

var loaded = sync.OnceValue(func() *Index { return load(comments()) })

func BenchmarkSearch(b *testing.B) {
	if len(comments()) < 50_000 {
		b.Skip("no Go sources")
	}
	x := loaded()
	for _, q := range []string{
		"context deadline",
		"buffered reader",
		"returns error",
		"the reader returns",
		"tls certificate verify",
		"goroutine stack",
		"parse the time zone",
		"the",
		"how do I cancel a request when the client closes the connection before the response is written",
	} {
		name, _, _ := strings.Cut(q, " I cancel")
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				hits, err := x.Search(q, Options{})
				if err != nil || len(hits) == 0 {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("accept", func(b *testing.B) {
		b.ReportAllocs()
		calls := 0
		for b.Loop() {
			_, err := x.Search("context deadline", Options{Accept: func(key string) bool {
				calls++
				return key[len(key)-1] == '7'
			}})
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
	})
}

// BenchmarkTalk searches short texts of which half are stop words, as people talk, for
// whole sentences.
func BenchmarkTalk(b *testing.B) {
	r := rand.New(rand.NewPCG(12, 12))
	stops := strings.Fields(stopWords["en"])
	sentence := func(n int) string {
		var words strings.Builder
		for i := range n {
			if f := r.Float64(); i%2 == 0 {
				words.WriteString(stops[int(f*f*f*float64(len(stops)))] + " ")
			} else {
				fmt.Fprintf(&words, "w%d ", int(f*f*f*3000))
			}
		}
		return words.String()
	}
	for _, docs := range []int{2000, 20_000} {
		texts, queries := make([]string, docs), make([]string, 500)
		for i := range texts {
			texts[i] = sentence(10 + r.IntN(30))
		}
		for i := range queries {
			queries[i] = sentence(8 + r.IntN(12))
		}
		x := load(texts)
		b.Run(fmt.Sprint(docs), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if hits, err := x.Search(queries[i%len(queries)], Options{}); err != nil || len(hits) != 10 {
					b.Fatal(len(hits), err)
				}
				i++
			}
		})
	}
}

func BenchmarkSet(b *testing.B) {
	if len(comments()) < 50_000 {
		b.Skip("no Go sources")
	}
	// Documents of exactly 50 distinct terms.
	var fifty []Words
	for _, c := range comments() {
		w := tokenize(c)
		if len(w.terms) < 50 {
			continue
		}
		w.terms = w.terms[:50]
		w.tokens = 0
		for _, c := range w.terms {
			w.tokens += uint64(c.count)
		}
		if fifty = append(fifty, w); len(fifty) == 1000 {
			break
		}
	}
	for _, n := range []int{1000, 10_000, 50_000} {
		x := loaded()
		if n < 50_000 {
			x = load(comments()[:n])
		}
		b.Run(fmt.Sprintf("new/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				x.Set("new", fifty[i%len(fifty)])
				i++
			}
		})
		b.Run(fmt.Sprintf("replace/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			y, i := x, 0
			for b.Loop() {
				y = y.Set(fmt.Sprintf("doc/%06d", i*7919%n), fifty[i%997])
				i++
			}
		})
	}
}

func BenchmarkTokenize(b *testing.B) {
	text := strings.Join(comments()[:100], "\n")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tokenize(text)
	}
}
