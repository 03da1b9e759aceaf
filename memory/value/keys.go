package value

import (
	"encoding/binary"
	"runtime"
	"strings"
	"sync"
	"unsafe"
	"weak"

	"github.com/cowstore/cowstore/memory/internal/size"
)

// A keyList is the keys of a Map, in order. Maps with the same keys share one, as
// most values of a space have them: so a lookup finds the keys in the caches, and a
// value takes less memory. It is immutable.
type keyList struct{ keys []string }

// maxShared is how many keys a list has at most that is shared, and maxSharedText how many
// bytes they have: what has more is a dictionary rather than a record.
const (
	maxShared     = 64
	maxSharedText = 512
)

// keyLists has the lists that some value uses, by their keys in one string.
var keyLists struct {
	sync.RWMutex
	byKeys map[string]weak.Pointer[keyList]
}

// listOf returns the list of those keys, which are in order, and how many bytes it takes
// more than was taken before.
func listOf(keys []string) (_ *keyList, more int) {
	var buf [maxSharedText]byte
	joined := buf[:0]
	for _, k := range keys {
		if len(keys) > maxShared || len(joined)+binary.MaxVarintLen64+len(k) > maxSharedText {
			list := newKeyList(keys)
			return list, list.size()
		}
		joined = binary.AppendUvarint(joined, uint64(len(k)))
		joined = append(joined, k...)
	}
	keyLists.RLock()
	list := keyLists.byKeys[string(joined)].Value()
	keyLists.RUnlock()
	if list != nil {
		return list, 0
	}
	keyLists.Lock()
	defer keyLists.Unlock()
	if list := keyLists.byKeys[string(joined)].Value(); list != nil {
		return list, 0 // somebody was quicker
	}
	list = newKeyList(keys)
	if keyLists.byKeys == nil {
		keyLists.byKeys = make(map[string]weak.Pointer[keyList])
	}
	name := string(joined)
	keyLists.byKeys[name] = weak.Make(list)
	runtime.AddCleanup(list, forget, name)
	return list, list.size() + size.Object(len(name)) + sharing
}

// sharing is about how many bytes it takes to share a list: its place in the map, and what
// the collector needs for the weak pointer and the cleanup.
const sharing = 100

// size returns how many bytes a list takes.
func (l *keyList) size() int {
	n := size.Object(int(unsafe.Sizeof(*l))) + size.Object(len(l.keys)*int(unsafe.Sizeof("")))
	for _, k := range l.keys {
		n += size.Object(len(k))
	}
	return n
}

// forget drops a list that no value uses any more, unless there is a new one.
func forget(name string) {
	keyLists.Lock()
	defer keyLists.Unlock()
	if keyLists.byKeys[name].Value() == nil {
		delete(keyLists.byKeys, name)
	}
}

// newKeyList returns a list of copies of the keys.
func newKeyList(keys []string) *keyList {
	list := &keyList{make([]string, len(keys))}
	for i, k := range keys {
		list.keys[i] = strings.Clone(k)
	}
	return list
}
