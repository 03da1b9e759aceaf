package stores

import "github.com/blevesearch/bleve/v2/analysis/lang/en"

// Kinds returns the stores that are compared by default.
func Kinds() []Kind {
	return []Kind{
		{ID: "views", Name: "cowstore views", Ours: true, New: newViews,
			Promises: Promises{Isolated: true, Snapshots: true, Atomic: true}},
		{ID: "cowstore", Name: "cowstore Get", Ours: true, New: newCowstore,
			Promises: Promises{Isolated: true, Snapshots: true, Atomic: true}},
		{ID: "compiled", Name: "cowstore Get, compiled", Ours: true, New: newCompiled,
			Promises: Promises{Isolated: true, Snapshots: true, Atomic: true}},
		{ID: "shared", Name: "cowstore Shared", Ours: true, New: newShared,
			Promises: Promises{Snapshots: true, Atomic: true}},
		{ID: "rwmutex-copy", Name: "RWMutex map, copies", New: newRWMutexCopy, NewMemory: newMapsMemoryCopies,
			Promises: Promises{Isolated: true, Atomic: true, Lacks: writersWait}},
		{ID: "rwmutex", Name: "RWMutex map", New: newRWMutex, NewMemory: newMapsMemory,
			Promises: Promises{Atomic: true, Lacks: writersWait}},
		{ID: "syncmap", Name: "sync.Map", New: newSyncMap,
			Promises: Promises{Lacks: noOneMoment}},
		{ID: "immutable", Name: "one immutable.Map", Module: "github.com/benbjohnson/immutable", New: newImmutable,
			Promises: Promises{Snapshots: true, Atomic: true}},
	}
}

// More returns further stores, which are compared when asked for: maps and
// locks, concurrent maps, trees, databases, memories of agents.
func More() []Kind {
	return []Kind{
		{ID: "mutex-copy", Name: "Mutex map, copies", New: newMutexCopy,
			Promises: Promises{Isolated: true, Atomic: true, Lacks: allWait}},
		{ID: "mutex", Name: "Mutex map", New: newMutex,
			Promises: Promises{Atomic: true, Lacks: allWait}},
		{ID: "clone", Name: "maps.Clone per write", New: newCloneMap,
			Promises: Promises{Snapshots: true, Atomic: true, Lacks: "each write copies the whole map"}},
		{ID: "sharded", Name: "sharded RWMutex map", New: newSharded,
			Promises: Promises{Lacks: noOneMoment}},
		{ID: "xsync", Name: "xsync.Map", Module: "github.com/puzpuzpuz/xsync/v4", New: newXsync,
			Promises: Promises{Lacks: noOneMoment}},
		{ID: "otter", Name: "otter", Module: "github.com/maypok86/otter/v2", New: newOtter,
			Promises: Promises{Lacks: "a cache, which may evict; " + noOneMoment}},
		{ID: "radix", Name: "go-immutable-radix", Module: "github.com/hashicorp/go-immutable-radix/v2", New: newRadix,
			Promises: Promises{Snapshots: true, Atomic: true, Ordered: true}},
		{ID: "btree", Name: "tidwall/btree", Module: "github.com/tidwall/btree", New: newBTree,
			Promises: Promises{Snapshots: true, Atomic: true, Ordered: true}},
		{ID: "memdb", Name: "go-memdb", Module: "github.com/hashicorp/go-memdb", New: newMemDB,
			Promises: Promises{Snapshots: true, Atomic: true, Ordered: true, Lacks: "a key must not be empty"}},
		{ID: "buntdb", Name: "BuntDB", Module: "github.com/tidwall/buntdb", New: newBuntDB,
			Promises: Promises{Isolated: true, Atomic: true, Ordered: true, Lacks: "values are strings, here JSON; " + writersWait}},
		{ID: "memory", Name: "cowstore memory", Ours: true, NewMemory: newAgentMemory,
			Promises: Promises{Isolated: true, Snapshots: true, Atomic: true, Ordered: true}},
		{ID: "memory-text", Name: "cowstore memory, text", Ours: true, NewMemory: newTextMemory,
			Promises: Promises{Isolated: true, Snapshots: true, Atomic: true, Ordered: true}},
		{ID: "store-index", Name: "cowstore by an index", Ours: true, NewMemory: newStoreMemory,
			Promises: Promises{Isolated: true, Snapshots: true, Atomic: true, Ordered: true}},
		{ID: "json", Name: "RWMutex map of JSON", NewMemory: newJSONMemory,
			Promises: Promises{Isolated: true, Atomic: true, Lacks: writersWait}},
		{ID: "chromem", Name: "chromem-go", Module: "github.com/philippgille/chromem-go", NewMemory: newChromemMemory,
			Promises: Promises{Lacks: "keeps texts with a vector only; no list of what is in it"}},
		{ID: "bleve", Name: "bleve, in memory", Module: "github.com/blevesearch/bleve/v2",
			NewMemory: func() Memory { return newBleveMemory(WordsAnalyzer) },
			Promises: Promises{Isolated: true, Atomic: true,
				Lacks: "no stop words or stems, which may flatter ours: see bleve en; " + twoCommits}},
		{ID: "bleve-en", Name: "bleve en, in memory", Module: "github.com/blevesearch/bleve/v2",
			NewMemory: func() Memory { return newBleveMemory(en.AnalyzerName) },
			Promises:  Promises{Isolated: true, Atomic: true, Lacks: twoCommits}},
	}
}

// What several stores lack.
const (
	writersWait = "writers wait for whoever iterates"
	allWait     = "all others wait for whoever iterates"
	twoCommits  = "words and values are two commits; " + writersWait
	noOneMoment = "a whole iteration is of no one moment"
)
