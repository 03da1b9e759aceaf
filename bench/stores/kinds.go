package stores

// Kinds returns the stores that are compared by default.
func Kinds() []Kind {
	return []Kind{
		{ID: "cowstore", Name: "cowstore Get", New: newCowstore,
			Promises: Promises{Isolated: true, Snapshots: true, Atomic: true}},
		{ID: "shared", Name: "cowstore Shared", New: newShared,
			Promises: Promises{Snapshots: true, Atomic: true}},
		{ID: "rwmutex-copy", Name: "RWMutex map, copies", New: newRWMutexCopy,
			Promises: Promises{Isolated: true, Atomic: true}},
		{ID: "rwmutex", Name: "RWMutex map", New: newRWMutex,
			Promises: Promises{Atomic: true}},
		{ID: "syncmap", Name: "sync.Map", New: newSyncMap},
		{ID: "immutable", Name: "one immutable.Map", Module: "github.com/benbjohnson/immutable", New: newImmutable,
			Promises: Promises{Snapshots: true, Atomic: true}},
	}
}

// More returns further stores, which are compared when asked for.
func More() []Kind {
	return []Kind{
		{ID: "mutex", Name: "Mutex map", New: newMutex,
			Promises: Promises{Atomic: true}},
		{ID: "radix", Name: "go-immutable-radix", Module: "github.com/hashicorp/go-immutable-radix/v2", New: newRadix,
			Promises: Promises{Snapshots: true, Atomic: true, Ordered: true}},
		{ID: "btree", Name: "tidwall/btree", Module: "github.com/tidwall/btree", New: newBTree,
			Promises: Promises{Snapshots: true, Atomic: true, Ordered: true}},
		{ID: "xsync", Name: "xsync.Map", Module: "github.com/puzpuzpuz/xsync/v4", New: newXsync},
	}
}
