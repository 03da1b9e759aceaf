package memory

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/memory/internal/fault"
	"github.com/cowstore/cowstore/memory/internal/search"
	"github.com/cowstore/cowstore/memory/internal/top"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/vector"
)

// A Metric says how alike two vectors are; a higher score is always more.
type Metric = vector.Metric

// The metrics. The zero Metric is Cosine.
const (
	Cosine = vector.Cosine // of the angle, from -1 to 1
	Dot    = vector.Dot    // the dot product
	L2     = vector.L2     // minus the Euclidean distance
)

// A Query says what a search is for: words, entries that are like a vector, or both.
// One with neither is an error.
type Query struct {
	Text   string    // words, "" for none; a Vector also finds what lacks those in quotes
	Vector []float32 // nil for none; an empty one is vector.ErrEmpty

	K        int           // how many; 0: 10
	MinScore float64       // only hits of this Score and better; 0: no minimum
	Filter   filter.Filter // only what it accepts; it is asked about few
	Metric   Metric        // of vectors

	// Below says that the spaces below are searched too, as if all were one: all of a
	// user's, or all users'. With Prefix, the last word stands for what begins with it in
	// each space by itself. Below takes time proportional to the number of spaces, besides
	// what the search of one such space takes.
	Below bool

	// Prefix says that the last word may be the beginning of one, as somebody is still
	// typing it: nothing follows it, not even a space.
	Prefix bool

	// Lean says what counts for more in a query with both: from -1, only the vector, by
	// 0, words for three times as much, to 1, only the words.
	Lean float64
}

func (q *Query) check() error {
	if q.Text == "" && q.Vector == nil {
		return fmt.Errorf("%w: neither a Text nor a Vector, and a Filter alone is for List: %w", ErrQuery, bare.Wrap(vector.ErrEmpty))
	}
	if q.K < 0 {
		return fmt.Errorf("%w: K is %d", ErrQuery, q.K)
	}
	if q.K == 0 {
		q.K = 10
	}
	if q.MinScore != q.MinScore {
		return fmt.Errorf("%w: MinScore is NaN", ErrQuery)
	}
	if !(q.Lean >= -1 && q.Lean <= 1) {
		return fmt.Errorf("%w: Lean is %v: it is from -1 to 1", ErrQuery, q.Lean)
	}
	if q.Metric > L2 {
		return fmt.Errorf("%w: %v", ErrQuery, q.Metric)
	}
	if err := q.Filter.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrQuery, bare.Wrap(err))
	}
	return nil
}

// A Hit is an entry that a search found.
type Hit struct {
	Entry
	Score float64 // the higher the better; its scale is that of the search, see SpaceSnapshot.Search

	// Unembedded says why Recall has searched by the words alone; nil: it has not, or it was
	// another search.
	Unembedded error

	space string
	found *sought // nil: by its vector alone
}

// Space returns the path of the space that the entry is in.
func (h Hit) Space() []string { return tuple.Decode(h.space) }

// Search returns the entries that fit a query best, the best first, those of equal
// scores by space and key. The errors are those of vectors, and [ErrQuery].
//
// By a Vector, these are the entries whose vectors are most like it. That is exact: scores
// are compared before they are rounded. It takes time proportional to the number of vectors
// in the space. With Below, spaces whose vectors have another dimension are passed over,
// unless all have: that is [ErrDimension].
//
// By a Text, these are the entries whose text fits its words best, by BM25; see package
// text. The text of an entry is what Options.TextOf says, all strings in its value
// otherwise, but not the keys of maps; what its words are, and those of the query, says
// Options.Analyzer. Each word of the query that is in the text adds to the score; what is
// in quotes must be in it, as it stands there. How rare a word is depends on the space
// alone, or with Below on all that are searched, on entries that are expired but not swept
// too.
//
// By both, both searches are joined by a weighted sum of their scores (S. Bruch, S. Gai and
// A. Ingber, An Analysis of Fusion Functions for Hybrid Retrieval, ACM TOIS 42(1), 2023): the
// score for the words, and a third of that for the vector. Lean moves the weights. Of each
// search the first 40 hits count, or 4 K. What a vector adds is 1 where it is that of the
// query, 0 for the last of these hits, which is as near as others are too, or where it has
// nothing in common with the query, and in proportion between. So vectors that say nothing
// change nothing, and an entry that one of both does not find keeps what the other gives it.
//
// What a Score means depends on the query. By words, or by a vector and Cosine, 0 is nothing in
// common and 1 a good match: a text of average length that has all the words, or the same
// vector. By Dot and L2 it is theirs. By both it is the sum: an entry with all the words has about
// 1 or more, and one that only its vector finds has a third at most. To find what means the same,
// ask by a Vector alone, with a MinScore.
//
// Hooks of the DB that are a [hook.Searched] are told of it.
func (v SpaceSnapshot) Search(q Query) ([]Hit, error) { return v.search(context.Background(), q) }

func (v SpaceSnapshot) search(ctx context.Context, q Query) ([]Hit, error) {
	d := viewOf(v.s)
	s := sight{source: d, t: d.T, cleared: d.Clearings(), instant: d.Instant}
	if d.T != nil {
		s.entries = d.T.Entries.In(d.Root)
	}
	if d.T == nil {
		return s.search(v.path, q)
	}
	tell := cow.Hooked[hook.Searched](d.T.Entries.DB())
	if tell == nil {
		return s.search(v.path, q)
	}
	begun := time.Now()
	hits, err := s.search(v.path, q)
	is := hook.Search{Kind: q.kind(), Hits: len(hits), Candidates: s.candidates, Duration: time.Since(begun), Err: err}
	tell(func(h hook.Searched) { h.OnSearched(ctx, is) })
	return hits, err
}

// kind says what a search is by.
func (q *Query) kind() string {
	switch {
	case q.Vector == nil:
		return "text"
	case q.Text == "":
		return "vector"
	}
	return "both"
}

// A sight is what a search sees of a Memory: in a snapshot, or in a Batch so far.
type sight struct {
	t       *derive.Tables // nil: there is nothing
	entries *derive.Entries
	cleared data.Marks
	instant int64

	candidates int // texts and vectors among which a search has looked

	source
}

// A source is where a sight looks things up.
type source interface {
	Space(path string) *data.Space
	Within(path string) []string // that space and those below it that have entries, in order
	Lookup(path, key string) *data.Entry
	InOrder() cow.Range[string, *data.Entry, string] // all entries, by name
}

// search searches a space, or, with Below, spaces, and looks up what it finds.
func (s *sight) search(path string, q Query) ([]Hit, error) {
	if err := q.check(); err != nil {
		return nil, fault.OfSpace(path, err)
	}
	paths := []string{path}
	if q.Below && s.t != nil {
		if within := s.Within(path); len(within) > 0 {
			paths = within // else one space, which has the errors of a search of nothing
		}
	}
	parts := make([]search.Part, len(paths))
	for i, path := range paths {
		p := s.part(path, q.Filter, q.Text)
		if q.Text != "" {
			s.candidates += p.Texts.Len()
		}
		if q.Vector != nil {
			s.candidates += p.Vectors.Len()
		}
		parts[i] = p
	}
	how := search.Query{Words: q.Text, Vector: q.Vector, K: q.K, MinScore: q.MinScore, Metric: q.Metric, Prefix: q.Prefix, Lean: q.Lean}
	best, fits, err := search.Best(parts, &how)
	if err != nil {
		return nil, fault.OfSpace(path, err)
	}
	var found *sought
	if q.Text != "" && s.t != nil {
		found = &sought{query: q.Text, options: how.Text(), texts: &s.t.Texts}
		if found.texts.AnalyzerOf != nil {
			found.how = make(map[string]*text.Analyzer, len(paths))
			for i, path := range paths {
				found.how[path] = parts[i].Texts.Analyzer()
			}
		}
	}
	hits := s.entriesOf(paths, best)
	n := 0
	for i, h := range hits {
		if h.row == nil {
			continue
		}
		if fits[i] {
			h.found = found
		}
		hits[n] = h
		n++
	}
	return hits[:n], nil
}

// part returns what a search reads of a space, with its texts if there are quotes among the words.
func (s *sight) part(path string, only filter.Filter, words string) search.Part {
	sp := s.Space(path)
	p := search.Part{Vectors: sp.Vectors, Texts: sp.Texts}
	if strings.Contains(words, `"`) {
		p.Words = func(key string) iter.Seq[string] {
			e := s.Lookup(path, key)
			if e == nil {
				return func(func(string) bool) {}
			}
			return s.t.Texts.Of(path, e.Value)
		}
	}
	if sp.Expiring > 0 {
		p.Live = func() bool { return s.hasVector(path) }
	}
	if only != (filter.Filter{}) || sp.Expiring > 0 {
		p.Accept = func(key string) bool {
			e := s.Lookup(path, key)
			return e != nil && accepts(only, e)
		}
	}
	return p
}

// hasVector reports whether an entry that has not expired is found by its vector.
func (s *sight) hasVector(path string) bool {
	for _, row := range s.InOrder().Prefix(tuple.Name(path, "")).All() {
		if e := row.Shared(); e.Searched().Vector != nil && !e.Expired(s.instant) && s.cleared.Alive(path, row.Revision()) {
			return true
		}
	}
	return false
}

// entriesOf returns the entries of what a search has found in spaces, with no row where one is
// not to be seen.
func (s *sight) entriesOf(paths []string, best []top.Hit) []Hit {
	hits := make([]Hit, len(best))
	if len(best) == 0 || s.t == nil {
		return hits
	}
	var few [16]derive.Row // on the stack, as few rows are
	rows := few[:min(len(best), len(few))]
	if len(best) > len(few) {
		rows = make([]derive.Row, len(best))
	}
	derive.Together(s.entries, rows, func(i int) (path, key string) { return paths[best[i].Part], best[i].Key })
	for i, h := range best {
		row := rows[i]
		if row != (derive.Row{}) && !row.Shared().Expired(s.instant) && s.cleared.Alive(paths[h.Part], row.Revision()) {
			hits[i] = Hit{Entry: newEntry(h.Key, row.Shared(), row.Revision()), Score: h.Score, space: paths[h.Part]}
		}
	}
	return hits
}

// A Match is where the text of an entry fits a query: the bytes of Text from one place
// up to another.
type Match struct {
	Text     string
	From, To int
	Term     string // what both have in common, a stem, say
}

// A sought is what a search for text was for.
type sought struct {
	query   string
	options text.Options
	texts   *derive.Words
	how     map[string]*text.Analyzer // by space, where it is not that of all
}

// in returns what the texts of a space were analyzed by.
func (s *sought) in(path string) *text.Analyzer {
	if s.how != nil {
		return s.how[path]
	}
	return s.texts.Analyzer
}

// Matches returns where the text of the entry fits the query that found it, in order:
// why it is a hit, to be shown to a person. It is empty for a search for a vector, and
// says nothing of places where the Analyzer is a [text.Func]. It reads the text anew,
// which takes time proportional to it.
func (h Hit) Matches() []Match {
	if h.found == nil {
		return nil
	}
	var texts []string
	for t := range h.found.texts.Of(h.space, h.Value) {
		texts = append(texts, t)
	}
	var matches []Match
	for _, p := range h.found.in(h.space).Places(h.found.query, h.found.options, slices.Values(texts)) {
		matches = append(matches, Match{texts[p.Text], p.From, p.To, p.Term})
	}
	return matches
}

// LogValue returns the score, and the entry in short.
func (h Hit) LogValue() slog.Value {
	return slog.GroupValue(append([]slog.Attr{slog.Float64("score", h.Score)}, h.attrs()...)...)
}

// Format prints what LogValue returns in one line, whatever the verb.
func (h Hit) Format(f fmt.State, verb rune) { print(f, verb, h.LogValue()) }
