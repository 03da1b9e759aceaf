package data

import "encoding/binary"

// A Head is what was decided for a whole version. It is immutable.
type Head struct {
	Began   int64      // the time at which the batch judged what had expired
	At      int64      // the time of the commit, ns since 1970
	Evicted []NameText `json:",omitempty"` // names of the entries that this commit evicted
	Cleared []Mark     `json:",omitempty"` // of what it removed, what was gone before
}

// An Epoch is a stored row. It says that the text index of a space began, or was made anew, to
// replicas, which derive their own index from the entries and cannot see that: if a space was
// emptied and has the same keys again, a replica that missed the versions between, or got both
// steps in one, finds entries that have changed, and would keep the Analyzer it had. Without
// Options.AnalyzerOf only Reindex begins an epoch.
//
// Its key is the name that an entry of the space would have whose key is when it began. That
// is another each time: two are no conflict where a fork is merged.
type Epoch struct{}

// HeadKey returns the key of a head.
func HeadKey(at int64, tick uint64) string {
	key := binary.BigEndian.AppendUint64(nil, uint64(at))
	return string(binary.BigEndian.AppendUint64(key, tick))
}
