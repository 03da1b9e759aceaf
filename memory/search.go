package memory

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/top"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/vector"
	"github.com/cowstore/cowstore/snapshot"
)

// A Metric says how alike two vectors are; a higher score is always more.
type Metric = vector.Metric

// The metrics. The zero Metric is Cosine.
const (
	Cosine = vector.Cosine // of the angle, from -1 to 1
	Dot    = vector.Dot    // the dot product
	L2     = vector.L2     // minus the Euclidean distance
)

// SearchOptions say what a search is for. The zero value is right for the ten best
// by cosine.
type SearchOptions struct {
	K        int     // how many; 0: 10
	MinScore float64 // only these and better; 0: no minimum
	Filter   Filter  // only what it accepts; it is asked about few
	Metric   Metric  // of vectors

	// Below says that the spaces below are searched too, as if all were one: all of a
	// user's, or all users'. With Prefix, the last word stands for what begins with it in
	// each space by itself. Below takes time proportional to the number of spaces, besides
	// what the search of one such space takes.
	Below bool

	// Prefix says that the last word may be the beginning of one, as somebody is still
	// typing it.
	Prefix bool

	// Lean says what counts for more in SearchBoth: from -1, only the vector, by 0, both
	// alike, to 1, only the words.
	Lean float64
}

func (o *SearchOptions) check() error {
	if o.K < 0 {
		return fmt.Errorf("%w: K is %d", ErrOptions, o.K)
	}
	if o.K == 0 {
		o.K = 10
	}
	if o.MinScore != o.MinScore {
		return fmt.Errorf("%w: MinScore is NaN", ErrOptions)
	}
	if !(o.Lean >= -1 && o.Lean <= 1) {
		return fmt.Errorf("%w: Lean is %v: it is from -1 to 1", ErrOptions, o.Lean)
	}
	if o.Metric > L2 {
		return fmt.Errorf("%w: %v", ErrOptions, o.Metric)
	}
	if err := o.Filter.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, bare.Wrap(err))
	}
	return nil
}

// A Hit is an entry that a search found.
type Hit struct {
	Entry
	Score float64 // the higher the better; its scale is that of the search

	space string
	found *sought // nil: by its vector alone
}

// Space returns the path of the space that the entry is in.
func (h Hit) Space() []string { return decodePath(h.space) }

// Search returns the entries whose vectors are most like v, the best first, those
// of equal scores by space and key. It is exact: scores are compared before they are
// rounded. The errors are those of vectors, and ErrOptions. It takes time proportional to the number of vectors in the space. With
// Below, spaces whose vectors have another dimension are passed over, unless all have:
// that is ErrDimension.
func (v SpaceSnapshot) Search(query []float32, o SearchOptions) ([]Hit, error) {
	if err := o.check(); err != nil {
		return nil, spaceError(v.path, err)
	}
	spaces := v.searched(&o)
	best, err := v.nearest(spaces, query, &o)
	if err != nil {
		return nil, err
	}
	return entriesOf(spaces, best, nil), nil
}

// nearest returns the best of spaces by their vectors. The Part of a hit is the number of
// its space.
func (v SpaceSnapshot) nearest(spaces []SpaceSnapshot, query []float32, o *SearchOptions) ([]top.Hit, error) {
	vo := vector.Options{K: o.K, Metric: o.Metric}
	if o.MinScore != 0 {
		vo.MinScore, vo.HasMin = float32(o.MinScore), true
		if float64(vo.MinScore) < o.MinScore {
			vo.MinScore = math.Nextafter32(vo.MinScore, float32(math.Inf(1)))
		}
	}
	var best []top.Hit
	fits, failed := false, error(nil)
	for i, w := range spaces {
		vo.Accept = w.accept(o.Filter)
		found, err := w.s.space(w.path).vectors.Search(query, vo)
		if errors.Is(err, vector.ErrDimension) {
			if failed == nil && !fits && w.hasVector() {
				failed = err
			}
			continue
		}
		if err != nil {
			return nil, spaceError(w.path, err)
		}
		fits = fits || len(found) > 0 || w.hasVector()
		best = slices.Grow(best, len(found))
		for _, h := range found {
			best = append(best, top.Hit{Key: h.Key, Score: h.Exact, Part: i})
		}
		if len(spaces) == 1 {
			break
		}
		slices.SortFunc(best, top.Hit.Compare)
		if len(best) >= o.K { // what the next spaces have to reach
			best = best[:o.K]
			vo.MinScore, vo.HasMin = top.Rounded(best[o.K-1].Score), true
		}
	}
	if failed != nil && !fits {
		return nil, spaceError(v.path, failed)
	}
	for i := range best {
		best[i].Score = float64(top.Rounded(best[i].Score))
	}
	return best, nil
}

// hasVector reports whether an entry of the space has a vector: one that has expired
// and is not swept does not.
func (v SpaceSnapshot) hasVector() bool {
	if sp := v.s.space(v.path); sp.expiring == 0 || sp.vectors.Len() == 0 {
		return sp.vectors.Len() > 0
	}
	for e := range v.List(ListOptions{}) {
		if e.Dim > 0 {
			return true
		}
	}
	return false
}

// SearchText returns the entries whose text fits the query best, by BM25, the best
// first, those of equal scores by space and key; see package text. The text of an entry
// is what Options.TextOf says, all strings in its value otherwise, but not the keys of
// maps; what its words are, and those of the query, says Options.Analyzer. Each word of
// the query that is in the text adds to the score; what is in quotes must be in it, as
// it stands there. How rare a word is depends on the space alone, or with Below on all
// that are searched, on entries that are expired but not swept too.
func (v SpaceSnapshot) SearchText(query string, o SearchOptions) ([]Hit, error) {
	if err := o.check(); err != nil {
		return nil, spaceError(v.path, err)
	}
	spaces := v.searched(&o)
	best, by, err := v.fitting(spaces, query, &o)
	if err != nil {
		return nil, err
	}
	return entriesOf(spaces, best, func(int) *sought { return by }), nil
}

// fitting returns the best of spaces by their texts, and by what they were found. The Part
// of a hit is the number of its space.
func (v SpaceSnapshot) fitting(spaces []SpaceSnapshot, query string, o *SearchOptions) ([]top.Hit, *sought, error) {
	by := &sought{query: query, options: text.Options{K: o.K, MinScore: o.MinScore, Prefix: o.Prefix}}
	if v.s.t != nil {
		by.texts = &v.s.t.texts
	}
	quotes := strings.Contains(query, `"`)
	parts := make([]text.Part, len(spaces))
	if by.texts != nil && by.texts.analyzerOf != nil {
		by.how = make(map[string]*text.Analyzer, len(spaces))
	}
	for i, w := range spaces {
		parts[i] = text.Part{Index: w.s.space(w.path).texts, Accept: w.accept(o.Filter)}
		if by.how != nil {
			by.how[w.path] = parts[i].Index.Analyzer()
		}
		if quotes {
			parts[i].Texts = w.textsOf
		}
	}
	hits, err := text.SearchAll(parts, query, by.options)
	if err != nil {
		return nil, nil, spaceError(v.path, err)
	}
	best := make([]top.Hit, len(hits))
	for i, h := range hits {
		best[i] = top.Hit(h)
	}
	return best, by, nil
}

// searched returns the spaces to be searched, in order.
func (v SpaceSnapshot) searched(o *SearchOptions) []SpaceSnapshot {
	if !o.Below || v.s.t == nil {
		return []SpaceSnapshot{v}
	}
	var spaces []SpaceSnapshot
	cleared := v.s.clearings()
	for r := within(v.s.t.byPath.In(v.s.t.spaces.In(v.s.root)), v.path); ; {
		path, row, ok := r.First()
		if !ok {
			break
		}
		r = r.After(path, path)
		if cleared.alive(path, row.Revision()) {
			spaces = append(spaces, SpaceSnapshot{v.s, path})
		}
	}
	if spaces == nil {
		return []SpaceSnapshot{v} // which has the errors of a search of nothing
	}
	return spaces
}

// accept returns what a search asks about a key, or nil if everything will do.
func (v SpaceSnapshot) accept(filter Filter) func(key string) bool {
	if filter == (Filter{}) && v.s.space(v.path).expiring == 0 {
		return nil
	}
	return func(key string) bool {
		e := v.lookup(key)
		return e != nil && filter.match(e.value, e.metadata)
	}
}

// entriesOf returns the entries of what a search has found in spaces of one snapshot. By
// what best[i] was found says by(i), unless by is nil.
func entriesOf(spaces []SpaceSnapshot, best []top.Hit, by func(i int) *sought) []Hit {
	hits := make([]Hit, 0, len(best))
	s := spaces[0].s
	if len(best) == 0 || s.t == nil {
		return hits
	}
	// All are looked up together, and what that finds is read together too: these are
	// rows all over the heap.
	size := 0
	for _, h := range best {
		size += len(spaces[h.Part].path) + 1 + len(h.Key)
	}
	var all strings.Builder
	all.Grow(size)
	var few [16]string // on the stack, as few rows are
	names := few[:0]
	for _, h := range best {
		from := all.Len()
		all.WriteString(spaces[h.Part].path)
		all.WriteByte(opensKey)
		all.WriteString(h.Key)
		names = append(names, all.String()[from:])
	}
	var fewRows [len(few)]snapshot.Row[string, *entry]
	rows := fewRows[:]
	if len(best) > len(rows) {
		rows = make([]snapshot.Row[string, *entry], len(best))
	}
	snapshot.Builder[string, *entry]{}.RowsOf(s.t.entries.In(s.root), names, rows)
	cleared := s.clearings()
	touched := int64(0)
	for i := range best {
		if rows[i] != (snapshot.Row[string, *entry]{}) {
			touched |= rows[i].Shared().created
		}
	}
	runtime.KeepAlive(touched)
	for i, h := range best {
		row := rows[i]
		if row != (snapshot.Row[string, *entry]{}) && !row.Shared().expired(s.instant) && cleared.alive(spaces[h.Part].path, row.Revision()) {
			n := Hit{Entry: newEntry(h.Key, row.Shared(), row.Revision()), Score: h.Score, space: spaces[h.Part].path}
			if by != nil {
				n.found = by(i)
			}
			hits = append(hits, n)
		}
	}
	return hits
}
