package text

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/size"
	"github.com/cowstore/cowstore/snapshot"
)

// An Index is an immutable full-text index of documents, each under a key.
//
// The nil *Index is empty and usable. An Index must not be copied; copy the
// pointer. All methods may be called from any number of goroutines at once, and
// never wait. Any version may be the base of any number of others, and stays
// as it is, valid forever.
//
// An Index takes memory proportional to the documents that are in it, whatever was
// replaced and deleted before. A write takes time proportional to the words of its
// document, old and new, and hardly more in a large index than in a small one. No
// work is put off: no later write has to rebuild or merge anything.
type Index struct {
	noCopy noCopy
	dict   *snapshot.Map[string, uint32] // term → its number
	keys   *snapshot.Map[string, uint32] // key → the number of its document
	terms  array[term]
	docs   array[document]
	tokens uint64    // of all documents
	how    *Analyzer // of its documents, and so of queries
	bytes  int       // of rows of the maps, of documents and postings
}

// empty is what all dictionaries begin with.
var empty = snapshot.New[string](snapshot.Options[uint32]{})

// noCopy makes go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Analyzer returns the Analyzer of the documents of x, nil for an empty index.
func (x *Index) Analyzer() *Analyzer {
	if x == nil {
		return nil
	}
	return x.how
}

// Len returns the number of documents.
func (x *Index) Len() int {
	if x == nil {
		return 0
	}
	return x.keys.Len()
}

// Bytes returns about how many bytes x holds on the heap, what it shares with
// other versions included. It takes constant time.
func (x *Index) Bytes() int {
	if x == nil {
		return 0
	}
	return size.Object(int(unsafe.Sizeof(*x))) + size.Map(x.dict.Len()) + size.Map(x.keys.Len()) + x.terms.bytes + x.docs.bytes + x.bytes
}

// Set returns an index in which words are the document of key, in place of the one it
// has, if any. If words has no tokens, Set is [Index.Delete]: a document without tokens
// is not counted. Set returns x itself if nothing would change.
//
// One Analyzer must make all documents of an Index; it analyzes the queries too. Set
// panics for words of another Analyzer. To change it, build another Index.
func (x *Index) Set(key string, words Words) *Index {
	if len(words.terms) == 0 {
		return x.Delete(key)
	}
	if x != nil && x.how != words.analyzer {
		panic(fmt.Sprintf("text: words of the Analyzer %v for an Index of the Analyzer %v: build another Index", words.analyzer, x.how))
	}
	w := newWriter(x)
	w.how = words.analyzer
	number, found := w.keys.Get(key)
	var old document
	if found {
		old = *w.docs.at(number)
	}
	uses := w.uses(words)
	terms := encode(uses)
	if found && terms == old.terms && words.tokens == old.tokens {
		return x
	}
	var d *document
	if found {
		d = w.docs.write(w.edit, number)
	} else {
		number, d = w.docs.add(w.edit)
		d.key = w.newKey(key, number)
	}
	w.replace(number, old, uses, words.tokens)
	w.tokens += words.tokens - old.tokens
	d.tokens, d.terms, d.heavy = words.tokens, terms, heavies(uses, words.tokens)
	w.bytes += d.bytes() - old.bytes()
	return w.finish()
}

// Delete returns an index without the document of key: x itself if there is none, and
// nil if it was the last.
func (x *Index) Delete(key string) *Index {
	if x == nil {
		return nil
	}
	number, found := x.keys.Get(key)
	if !found {
		return x
	}
	if x.Len() == 1 {
		return nil
	}
	w := newWriter(x)
	old := *w.docs.at(number)
	w.replace(number, old, nil, 0)
	w.docs.remove(w.edit, number)
	w.bytes -= size.Row(key) + old.bytes()
	w.tokens -= old.tokens
	e := w.keys.Edit()
	e.Delete(key)
	w.keys = e.Seal()
	return w.finish()
}

// A writer derives one version of an Index.
type writer struct {
	*Index
	edit  uint64
	names *snapshot.Editor[string, uint32] // of dict, once there is a change
	fresh []freshTerm
}

type freshTerm struct {
	name   string
	number uint32
}

func newWriter(x *Index) *writer {
	w := &writer{Index: &Index{dict: empty, keys: empty}, edit: newEdit()}
	if x != nil {
		*w.Index = Index{dict: x.dict, keys: x.keys, terms: x.terms, docs: x.docs, tokens: x.tokens, how: x.how, bytes: x.bytes}
	}
	return w
}

// uses returns words with the numbers of their terms; new terms get one.
func (w *writer) uses(words Words) []use {
	uses := make([]use, len(words.terms))
	for i, c := range words.terms {
		n, ok := w.dict.Get(c.term)
		if !ok {
			n, _ = w.terms.add(w.edit)
			w.editor().Set(c.term, n)
			w.fresh = append(w.fresh, freshTerm{c.term, n})
			w.bytes += size.Row(c.term)
		}
		uses[i] = use{n, c.count}
	}
	slices.SortFunc(uses, func(a, b use) int { return cmp.Compare(a.term, b.term) })
	return uses
}

func (w *writer) editor() *snapshot.Editor[string, uint32] {
	if w.names == nil {
		w.names = w.dict.Edit()
	}
	return w.names
}

type builder = snapshot.Builder[string, uint32]

// newKey adds key, of the document of that number.
func (w *writer) newKey(key string, number uint32) *snapshot.RowRef {
	e := w.keys.Edit()
	e.Set(key, number)
	w.keys = e.Seal()
	w.bytes += size.Row(key)
	r, _ := w.keys.Row(key)
	return builder{}.Ref(r)
}

// replace changes the postings of a document from those of old to uses, both
// in the order of terms, and touches none that stays the same.
func (w *writer) replace(number uint32, old document, uses []use, tokens uint64) {
	had := decode(old.terms)
	for len(had) > 0 || len(uses) > 0 {
		switch {
		case len(uses) == 0 || len(had) > 0 && had[0].term < uses[0].term:
			w.remove(number, had[0].term)
			had = had[1:]
			continue
		case len(had) > 0 && had[0].term == uses[0].term:
			same := newWeight(had[0].count, old.tokens) == newWeight(uses[0].count, tokens)
			had = had[1:]
			if same {
				uses = uses[1:]
				continue
			}
		}
		t := w.terms.write(w.edit, uses[0].term)
		w.bytes -= t.bytes()
		t.put(posting{number, newWeight(uses[0].count, tokens)})
		w.bytes += t.bytes()
		uses = uses[1:]
	}
}

// remove removes a posting, and its term with the last.
func (w *writer) remove(number, id uint32) {
	t := w.terms.at(id)
	w.bytes -= t.bytes()
	if t.df() == 1 {
		name := builder{}.KeyOf(t.name)
		w.editor().Delete(name)
		w.terms.remove(w.edit, id)
		w.bytes -= size.Row(name)
		return
	}
	t = w.terms.write(w.edit, id)
	t.remove(number)
	w.bytes += t.bytes()
}

// finish returns the version.
func (w *writer) finish() *Index {
	if w.names != nil {
		w.dict = w.names.Seal()
	}
	for _, f := range w.fresh {
		r, _ := w.dict.Row(f.name)
		w.terms.write(w.edit, f.number).name = builder{}.Ref(r)
	}
	return w.Index
}
