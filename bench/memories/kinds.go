package memories

import (
	"slices"

	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/index/scorch"

	"github.com/cowstore/cowstore/bench/stores"
	"github.com/cowstore/cowstore/memory"
)

// Kind is a kind of memories.
type Kind = stores.KindOf[Memory]

// Kinds returns the memories that are compared.
func Kinds() []Kind {
	ours := stores.Promises{Isolated: true, Snapshots: true, Atomic: true, Ordered: true}
	locked := stores.Promises{Isolated: true, Atomic: true, Lacks: stores.WritersWait}
	bleve := "github.com/blevesearch/bleve/v2"
	shared := stores.Promises{Atomic: true, Lacks: stores.WritersWait}
	return []Kind{
		{Info: stores.Info{ID: "memory", Name: "cowstore memory", Ours: true, Promises: ours}, New: newAgentMemory(memory.Options{NoText: true})},
		{Info: stores.Info{ID: "memory-text", Name: "cowstore memory, text", Ours: true, Promises: ours}, New: newAgentMemory(memory.Options{})},
		{Info: stores.Info{ID: "store-index", Name: "cowstore by an index", Ours: true, Promises: ours}, New: newStoreMemory},
		{Info: stores.Info{ID: "rwmutex-copy", Name: "RWMutex map, copies", Promises: locked}, New: newCopiesMemory},
		{Info: stores.Info{ID: "rwmutex", Name: "RWMutex map", Promises: shared}, New: newMapsMemory},
		{Info: stores.Info{ID: "json", Name: "RWMutex map of JSON", Promises: locked}, New: newJSONMemory},
		{Info: stores.Info{ID: "chromem", Name: "chromem-go", Module: "github.com/philippgille/chromem-go",
			Promises: stores.Promises{Lacks: "keeps texts with a vector only; no list of what is in it"}}, New: newChromemMemory},
		{Info: stores.Info{ID: "bleve", Name: "bleve, in memory", Module: bleve, Promises: stores.Promises{Isolated: true, Atomic: true,
			Lacks: "no stop words or stems, which may flatter ours: see bleve en; " + twoCommits}}, New: newBleve(WordsAnalyzer)},
		{Info: stores.Info{ID: "bleve-en", Name: "bleve en, in memory", Module: bleve, Promises: stores.Promises{Isolated: true, Atomic: true,
			Lacks: twoCommits}}, New: newBleve(en.AnalyzerName)},
	}
}

const twoCommits = "words and values are two commits; " + stores.WritersWait

func newBleve(analyzer string) func() Memory {
	return func() Memory { return NewBleve(scorch.Name, analyzer) }
}

// New returns a new memory of the kind with that ID, which must be one.
func New(id string) Memory {
	all := Kinds()
	return all[slices.IndexFunc(all, func(k Kind) bool { return k.ID == id })].New()
}
