package stores

// Kinds returns the stores that are compared by default.
func Kinds() []Kind {
	all := Promises{Isolated: true, Snapshots: true, Atomic: true}
	return []Kind{
		{Info{ID: "views", Name: "cowstore views", Ours: true, Promises: all}, newViews},
		{Info{ID: "cowstore", Name: "cowstore Get", Ours: true, Promises: all}, newCowstore},
		{Info{ID: "compiled", Name: "cowstore Get, compiled", Ours: true, Promises: all}, newCompiled},
		{Info{ID: "shared", Name: "cowstore Shared", Ours: true, Promises: Promises{Snapshots: true, Atomic: true}}, newShared},
		{Info{ID: "rwmutex-copy", Name: "RWMutex map, copies", Promises: Promises{Isolated: true, Atomic: true, Lacks: WritersWait}}, empty(newRWMutex, true)},
		{Info{ID: "rwmutex", Name: "RWMutex map", Promises: Promises{Atomic: true, Lacks: WritersWait}}, empty(newRWMutex, false)},
		{Info{ID: "syncmap", Name: "sync.Map", Promises: Promises{Lacks: NoOneMoment}}, newSyncMap},
		{Info{ID: "immutable", Name: "one immutable.Map", Module: "github.com/benbjohnson/immutable", Promises: Promises{Snapshots: true, Atomic: true}}, newImmutable},
	}
}

// More returns the other maps and locks of the standard library.
func More() []Kind {
	return []Kind{
		{Info{ID: "mutex-copy", Name: "Mutex map, copies", Promises: Promises{Isolated: true, Atomic: true, Lacks: allWait}}, empty(newMutex, true)},
		{Info{ID: "mutex", Name: "Mutex map", Promises: Promises{Atomic: true, Lacks: allWait}}, empty(newMutex, false)},
		{Info{ID: "clone", Name: "maps.Clone per write", Promises: Promises{Snapshots: true, Atomic: true, Lacks: "each write copies the whole map"}}, newCloneMap},
		{Info{ID: "sharded", Name: "sharded RWMutex map", Promises: Promises{Lacks: NoOneMoment}}, newSharded},
	}
}

// empty makes stores of an empty map.
func empty(of func(m map[string]Record, copies bool) Store, copies bool) func() Store {
	return func() Store { return of(make(map[string]Record), copies) }
}

// What several stores lack.
const (
	WritersWait = "writers wait for whoever iterates"
	allWait     = "all others wait for whoever iterates"
	NoOneMoment = "a whole iteration is of no one moment"
)
