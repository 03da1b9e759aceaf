package memories

import (
	"errors"
	"sync"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

// bleveMemory is an index of bleve for each space, beside nested maps of the
// values with copies. The index is scorch, the newer one of bleve's, held in
// memory. It ranks by BM25. It is made to be filled by few large Puts: each adds
// a segment, which it merges with others on disk only, so that many small ones
// make writes and searches slow.
//
// The analyzer cuts texts into words. WordsAnalyzer does it as this project does;
// with en.AnalyzerName, which is how one would use bleve for English, words that are
// everywhere do not count, and others have their stems.
//
// A Put is two commits: of the words, then of the values. The memory is an
// io.Closer: each index has a goroutine.
type bleveMemory struct {
	values   Memory
	analyzer string

	mu     sync.Mutex
	spaces map[string]*bleveSpace
}

func newBleveMemory(analyzer string) Memory {
	return &bleveMemory{values: newMapsMemoryCopies(), analyzer: analyzer, spaces: make(map[string]*bleveSpace)}
}

func (m *bleveMemory) Space(path ...string) Space {
	name := pathName(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.spaces[name]
	if !ok {
		index, err := bleve.NewUsing("", BleveMapping(bleveindex.BM25Scoring, m.analyzer), scorch.Name, bleve.Config.DefaultKVStore, nil)
		stored(err)
		s = &bleveSpace{WholeSpace: m.values.Space(path...).(WholeSpace), index: index}
		m.spaces[name] = s
	}
	return s
}

// Close ends the goroutines of the indexes. Nobody may use the memory any more.
func (m *bleveMemory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for _, s := range m.spaces {
		errs = append(errs, s.index.Close())
	}
	clear(m.spaces)
	return errors.Join(errs...)
}

// bleveSpace gets its values from the WholeSpace.
type bleveSpace struct {
	WholeSpace
	index bleve.Index

	// writing is held by Put, so that words and values are of one Put if two
	// write the same key.
	writing sync.Mutex
}

// bleveText is a document: all strings of a value, which memory makes its index of too.
type bleveText struct{ Text string }

// idPrefix begins the ID of each document, which must not be empty, as a key may.
const idPrefix = "/"

func (s *bleveSpace) Put(notes ...Note) {
	batch := s.index.NewBatch()
	for i := range notes {
		stored(batch.Index(idPrefix+notes[i].Key, bleveText{string(appendStrings(nil, notes[i].Value))}))
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	stored(s.index.Batch(batch))
	s.WholeSpace.Put(notes...)
}

func (s *bleveSpace) Matching(query string, k int) []string {
	match := bleve.NewMatchQuery(query)
	match.SetField("Text")
	result, err := s.index.Search(bleve.NewSearchRequestOptions(match, k, 0, false))
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

// BleveMapping returns a mapping of one field, Text, cut into words by an analyzer,
// and indexed without positions, which only phrases need.
func BleveMapping(scoring, analyzer string) mapping.IndexMapping {
	m := bleve.NewIndexMapping()
	stored(m.AddCustomAnalyzer(WordsAnalyzer, map[string]any{
		"type": custom.Name, "tokenizer": unicode.Name, "token_filters": []string{lowercase.Name},
	}))
	text := bleve.NewTextFieldMapping()
	text.Analyzer = analyzer
	text.Store, text.IncludeInAll, text.IncludeTermVectors, text.DocValues = false, false, false, false
	document := bleve.NewDocumentStaticMapping()
	document.AddFieldMappingsAt("Text", text)
	m.DefaultMapping, m.ScoringModel = document, scoring
	return m
}
