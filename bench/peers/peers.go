// Package peers has the stores of other modules, behind the interface of package stores:
// concurrent maps, trees, databases. A family is a file.
package peers

import "github.com/cowstore/cowstore/bench/stores"

// Kinds returns the stores of other modules.
func Kinds() []stores.Kind {
	snapshots := stores.Promises{Snapshots: true, Atomic: true, Ordered: true}
	return []stores.Kind{
		{Info: stores.Info{ID: "xsync", Name: "xsync.Map", Module: "github.com/puzpuzpuz/xsync/v4",
			Promises: stores.Promises{Lacks: stores.NoOneMoment}}, New: newXsync},
		{Info: stores.Info{ID: "otter", Name: "otter", Module: "github.com/maypok86/otter/v2",
			Promises: stores.Promises{Lacks: "a cache, which may evict; " + stores.NoOneMoment}}, New: newOtter},
		{Info: stores.Info{ID: "radix", Name: "go-immutable-radix", Module: "github.com/hashicorp/go-immutable-radix/v2", Promises: snapshots}, New: newRadix},
		{Info: stores.Info{ID: "btree", Name: "tidwall/btree", Module: "github.com/tidwall/btree", Promises: snapshots}, New: newBTree},
		{Info: stores.Info{ID: "memdb", Name: "go-memdb", Module: "github.com/hashicorp/go-memdb",
			Promises: stores.Promises{Snapshots: true, Atomic: true, Ordered: true, Lacks: "a key must not be empty"}}, New: newMemDB},
		{Info: stores.Info{ID: "buntdb", Name: "BuntDB", Module: "github.com/tidwall/buntdb",
			Promises: stores.Promises{Isolated: true, Atomic: true, Ordered: true, Lacks: "values are strings, here JSON; " + stores.WritersWait}}, New: newBuntDB},
	}
}

// All returns these and those of package stores.
func All() []stores.Kind {
	return append(append(stores.Kinds(), stores.More()...), Kinds()...)
}
