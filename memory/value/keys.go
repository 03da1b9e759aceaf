package value

import (
	"encoding/binary"
	"runtime"
	"strings"
	"sync"
	"weak"
)

// A keyList is the keys of a Map, in order. Maps with the same keys share one, as
// most values of a space have them: so a lookup finds the keys in the caches, and a
// value takes less memory. It is immutable.
type keyList struct{ keys []string }

// maxShared is how many keys a list has at most that is shared: what has more is
// rather a dictionary than a record.
const maxShared = 64

// keyLists has the lists that some value uses, by their keys in one string.
var keyLists struct {
	sync.RWMutex
	byKeys map[string]weak.Pointer[keyList]
}

// listOf returns the list of those keys, which are in order.
func listOf(keys []string) *keyList {
	if len(keys) > maxShared {
		return newKeyList(keys)
	}
	var buf [512]byte
	joined := buf[:0]
	for _, k := range keys {
		joined = binary.AppendUvarint(joined, uint64(len(k)))
		joined = append(joined, k...)
	}
	keyLists.RLock()
	list := keyLists.byKeys[string(joined)].Value()
	keyLists.RUnlock()
	if list != nil {
		return list
	}
	keyLists.Lock()
	defer keyLists.Unlock()
	if list := keyLists.byKeys[string(joined)].Value(); list != nil {
		return list // somebody was quicker
	}
	list = newKeyList(keys)
	if keyLists.byKeys == nil {
		keyLists.byKeys = make(map[string]weak.Pointer[keyList])
	}
	name := string(joined)
	keyLists.byKeys[name] = weak.Make(list)
	runtime.AddCleanup(list, forget, name)
	return list
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
