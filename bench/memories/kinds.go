package memories

import (
	"github.com/blevesearch/bleve/v2/analysis/lang/en"

	"github.com/cowstore/cowstore/bench/stores"
)

// Kind is a way to make a memory, and what such a memory promises.
type Kind struct {
	stores.Info
	New func() Memory
}

// Kinds returns the memories that are compared.
func Kinds() []Kind {
	ours := stores.Promises{Isolated: true, Snapshots: true, Atomic: true, Ordered: true}
	bleve := "github.com/blevesearch/bleve/v2"
	return []Kind{
		{stores.Info{ID: "memory", Name: "cowstore memory", Ours: true, Promises: ours}, newAgentMemory},
		{stores.Info{ID: "memory-text", Name: "cowstore memory, text", Ours: true, Promises: ours}, newTextMemory},
		{stores.Info{ID: "store-index", Name: "cowstore by an index", Ours: true, Promises: ours}, newStoreMemory},
		{stores.Info{ID: "rwmutex-copy", Name: "RWMutex map, copies", Promises: stores.Promises{Isolated: true, Atomic: true, Lacks: stores.WritersWait}}, newMapsMemoryCopies},
		{stores.Info{ID: "rwmutex", Name: "RWMutex map", Promises: stores.Promises{Atomic: true, Lacks: stores.WritersWait}}, newMapsMemory},
		{stores.Info{ID: "json", Name: "RWMutex map of JSON", Promises: stores.Promises{Isolated: true, Atomic: true, Lacks: stores.WritersWait}}, newJSONMemory},
		{stores.Info{ID: "chromem", Name: "chromem-go", Module: "github.com/philippgille/chromem-go",
			Promises: stores.Promises{Lacks: "keeps texts with a vector only; no list of what is in it"}}, newChromemMemory},
		{stores.Info{ID: "bleve", Name: "bleve, in memory", Module: bleve, Promises: stores.Promises{Isolated: true, Atomic: true,
			Lacks: "no stop words or stems, which may flatter ours: see bleve en; " + twoCommits}}, func() Memory { return newBleveMemory(WordsAnalyzer) }},
		{stores.Info{ID: "bleve-en", Name: "bleve en, in memory", Module: bleve, Promises: stores.Promises{Isolated: true, Atomic: true,
			Lacks: twoCommits}}, func() Memory { return newBleveMemory(en.AnalyzerName) }},
	}
}

const twoCommits = "words and values are two commits; " + stores.WritersWait
