package memories

import (
	"cmp"
	"sync"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

// A Bleve is a Memory and io.Closer: an index of bleve for each space, held in memory,
// beside nested maps of the values with copies. It is made to be filled by few large
// Puts: each adds a segment to scorch, which merges it with others on disk only, so
// that many small ones make writes and searches slow. A Put is two commits: of the
// words, then of the values.
type Bleve struct {
	kind, analyzer string
	values         Memory

	mu     sync.Mutex
	spaces map[string]*BleveSpace
}

// NewBleve returns a Bleve of a kind of index: scorch.Name, the newer one, which ranks by
// BM25, or upsidedown.Name, which ranks by TF-IDF. The analyzer cuts texts into words:
// WordsAnalyzer as this project does, and those of bleve's languages as one would use
// them, where words that are everywhere do not count, and others have their stems.
func NewBleve(kind, analyzer string) *Bleve {
	return &Bleve{kind: kind, analyzer: analyzer, values: newCopiesMemory(), spaces: map[string]*BleveSpace{}}
}

// Space returns a *BleveSpace.
func (m *Bleve) Space(path ...string) Space {
	name := pathName(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.spaces[name]
	if !ok {
		index, err := bleve.NewUsing("", bleveMapping(m.kind, m.analyzer), m.kind, bleve.Config.DefaultMemKVStore, nil)
		stored(err)
		s = &BleveSpace{WholeSpace: m.values.Space(path...).(WholeSpace), index: index}
		m.spaces[name] = s
	}
	return s
}

// Close ends the goroutines of the indexes. Nobody may use the memory any more.
func (m *Bleve) Close() (err error) {
	for _, s := range m.spaces {
		err = cmp.Or(err, s.index.Close())
	}
	return err
}

// A BleveSpace gets its values from the WholeSpace.
type BleveSpace struct {
	WholeSpace
	index bleve.Index

	// writing is held by Put, so that words and values are of one Put if two
	// write the same key.
	writing sync.Mutex
}

// idPrefix begins the ID of each document, which must not be empty, as a key may.
const idPrefix = "/"

// Put indexes the strings of all values, as memory does, in one batch.
func (s *BleveSpace) Put(notes ...Note) {
	batch := s.index.NewBatch()
	for i := range notes {
		text := string(appendStrings(nil, notes[i].Value))
		stored(batch.Index(idPrefix+notes[i].Key, struct{ Text string }{text}))
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	stored(s.index.Batch(batch))
	s.WholeSpace.Put(notes...)
}

// Matching orders by the score alone.
func (s *BleveSpace) Matching(query string, k int) []string { return s.MatchingBy(query, k) }

// MatchingBy is Matching in an order as bleve writes it, such as "-_score", "_id".
func (s *BleveSpace) MatchingBy(query string, k int, order ...string) []string {
	match := bleve.NewMatchQuery(query)
	match.SetField("Text")
	request := bleve.NewSearchRequestOptions(match, k, 0, false)
	if order != nil {
		request.SortBy(order)
	}
	result, err := s.index.Search(request)
	stored(err)
	keys := make([]string, len(result.Hits))
	for i, h := range result.Hits {
		keys[i] = h.ID[len(idPrefix):]
	}
	return keys
}

// WordsAnalyzer cuts texts into words as Unicode says, in lower case: all of them,
// as they are.
const WordsAnalyzer = "words"

// bleveMapping returns a mapping of one field, Text, cut into words by an analyzer,
// and indexed without positions, which only phrases need.
func bleveMapping(kind, analyzer string) mapping.IndexMapping {
	m := bleve.NewIndexMapping()
	stored(m.AddCustomAnalyzer(WordsAnalyzer, map[string]any{
		"type": custom.Name, "tokenizer": unicode.Name, "token_filters": []string{lowercase.Name},
	}))
	text := bleve.NewTextFieldMapping()
	text.Analyzer = analyzer
	text.Store, text.IncludeInAll, text.IncludeTermVectors, text.DocValues = false, false, false, false
	document := bleve.NewDocumentStaticMapping()
	document.AddFieldMappingsAt("Text", text)
	m.DefaultMapping, m.ScoringModel = document, bleveindex.TFIDFScoring
	if kind == scorch.Name {
		m.ScoringModel = bleveindex.BM25Scoring
	}
	return m
}
