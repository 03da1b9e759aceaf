package inspect

import (
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow/inspect"
	"github.com/cowstore/cowstore/memory"
)

// What a page of a space shows at most.
const (
	spacesShown   = 50
	entriesShown  = 50
	listedAtMost  = 500 // of either, where the last ones have no address
	hitsShown     = 20
	wordsShown    = 20
	spacesSought  = 1000 // in one search
	longestSearch = 1000 // bytes
)

// space shows a space: what is below it, and its entries.
func (w *shower) space(path []string) error {
	space := w.s.Space(path...)
	all, own := space.LenAll(), space.Len()
	if all == 0 && len(path) > 0 {
		return w.Missing("there is no entry in that space at version %d", w.s.Version())
	}
	if len(path) > 0 {
		w.Title(w.Key(path[len(path)-1]), w.above(path)...)
	}
	w.Fact("version", w.Version(w.s.Version()))
	w.Fact("entries", own)
	w.Fact("with those of spaces below", all)
	o := space.Options()
	for _, limit := range []struct {
		name string
		most int64
	}{{"most entries", int64(o.MaxEntries)}, {"most bytes", o.MaxBytes}} {
		if limit.most > 0 {
			w.Fact(limit.name, uint64(limit.most))
		}
	}
	if o.TTL > 0 {
		w.Fact("entries live", o.TTL.String())
	}
	if w.o.Value != nil {
		if words, ok := w.Form("Search", "words"); ok {
			return w.search(space, words)
		}
	} else {
		w.Note("Search: not offered, because values are not shown.")
	}
	if err := w.spaces(path); err != nil {
		return err
	}
	return w.entries(space)
}

// from returns the key in a parameter of the address, after or before which a list begins, and
// whether there is one.
func (w *shower) from(name string) (key string, ok bool, err error) {
	if !w.Query().Has(name) {
		return "", false, nil
	}
	if key, ok = w.Opened(w.Query().Get(name)); !ok {
		return "", false, w.Missing("%.100q is not a key as addresses have it", w.Query().Get(name))
	}
	return key, true, nil
}

// here returns the address of this page with one parameter.
func (w *shower) here(name, value string) string { return w.To(url.Values{name: {value}}, w.Path()...) }

// page returns the first items of a list, and whether there are more. It ends with one whose key has
// an address, from which the next page goes on: a key that is too long has none.
func page[T any](w *shower, items iter.Seq[T], shown int, keyOf func(T) string) (all []T, more bool) {
	for item := range items {
		if n := len(all); n >= shown {
			if _, ok := w.Sealed(keyOf(all[n-1])); ok || n >= listedAtMost {
				return all, true
			}
		}
		all = append(all, item)
	}
	return all, false
}

// way adds a link to the page that goes on from the first of items that has an address.
func way[T any](w *shower, text, name string, items iter.Seq2[int, T], keyOf func(T) string) {
	for _, item := range items {
		if key, ok := w.Sealed(keyOf(item)); ok {
			w.Link(inspect.Link{Text: text, To: w.here(name, key)})
			return
		}
	}
	if name == "before" && w.Query().Has("after") { // back to what is before the key that this page is after
		w.Link(inspect.Link{Text: text, To: w.here(name, w.Query().Get("after"))})
		return
	}
	w.Note("There are more. No link leads to them, because the keys here have no address.")
}

// spaces lists what is right below a space.
func (w *shower) spaces(path []string) error {
	o := memory.SpacesOptions{Prefix: path, Depth: len(path) + 1}
	after, ok, err := w.from("below")
	if err != nil {
		return err
	}
	if ok {
		o.After = append(slices.Clone(path), after)
	}
	last := func(p []string) string { return p[len(path)] }
	below, more := page(w, func(yield func([]string) bool) {
		for p := range w.s.Spaces(o) {
			if len(p) > len(path) && !yield(p) { // the first may be the space itself
				return
			}
		}
	}, spacesShown, last)
	if len(below) == 0 && o.After == nil {
		return nil
	}
	w.Section("Spaces")
	w.Columns("space", "entries", "with those below")
	for _, p := range below {
		s := w.s.Space(p...)
		w.Row(w.spaceLink(p), s.Len(), s.LenAll())
	}
	if o.After != nil {
		w.Link(inspect.Link{Text: "the first", To: w.To(nil, w.Path()...)})
	}
	if more {
		way(w, "forward", "below", slices.Backward(below), last)
	}
	return nil
}

// entries lists entries of a space.
func (w *shower) entries(space memory.SpaceSnapshot) error {
	var o memory.ListOptions
	for _, name := range []string{"after", "before"} {
		key, ok, err := w.from(name)
		if err != nil {
			return err
		}
		if ok {
			o.After, o.HasAfter, o.Reverse = key, true, name == "before"
		}
	}
	keyOf := func(e memory.Entry) string { return e.Key }
	list, more := page(w, space.List(o), entriesShown, keyOf)
	if o.Reverse {
		slices.Reverse(list)
	}
	w.Section("Entries")
	w.Columns("key", "value", "bytes", "updated", "expires", "with", "revision")
	path := space.Path()
	for _, e := range list {
		w.Row(w.entryLink(path, e.Key), w.value(path, e), uint64(e.Value.Size()), e.Updated, expires(e), state(e), w.Version(e.Revision))
	}
	if len(list) == 0 {
		w.Note("There are no entries here.")
	}
	if o.HasAfter {
		w.Link(inspect.Link{Text: "the first", To: w.To(nil, w.Path()...)})
	}
	if len(list) > 0 && (o.Reverse && more || !o.Reverse && o.HasAfter) {
		way(w, "back", "before", slices.All(list), keyOf)
	}
	if len(list) > 0 && (o.Reverse || more) {
		way(w, "forward", "after", slices.Backward(list), keyOf)
	}
	return nil
}

// expires says when an entry expires, and in how long.
func expires(e memory.Entry) string {
	if e.Expires.IsZero() {
		return ""
	}
	at := e.Expires.UTC().Format("2006-01-02 15:04:05 UTC")
	if left := time.Until(e.Expires); left > 0 {
		return fmt.Sprintf("%s, in %s", at, left.Round(time.Second))
	}
	return at
}

// search shows what a search finds.
func (w *shower) search(space memory.SpaceSnapshot, words string) error {
	w.Section("Found")
	if len(words) > longestSearch {
		w.Note("A search has at most %d bytes.", longestSearch)
		return nil
	}
	w.Link(inspect.Link{Text: "the entries", To: w.To(nil, w.Path()...)})
	if strings.TrimSpace(words) == "" {
		w.Note("Nothing was searched for.")
		return nil
	}
	q := memory.Query{Text: words, K: hitsShown, Below: true}
	path := space.Path()
	spaces := 0
	for range w.s.Spaces(memory.SpacesOptions{Prefix: path, Limit: spacesSought + 1}) {
		spaces++
	}
	if spaces > spacesSought {
		q.Below = false
		w.Note("There are more than %d spaces below: this searches the space alone.", spacesSought)
	}
	hits, err := space.Search(q)
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	w.Fact("searched for", words)
	w.Columns("key", "space", "score", "words", "value")
	for _, h := range hits {
		in := h.Space()
		w.Row(w.entryLink(in, h.Key), inspect.Link{Text: w.pathText(in), To: w.spaceLink(in).To}, h.Score, matched(h), w.value(in, h.Entry))
	}
	if len(hits) == 0 {
		w.Note("Nothing was found.")
	}
	return nil
}

// pathText returns a path in one line.
func (w *shower) pathText(path []string) string {
	if len(path) == 0 {
		return w.o.Name
	}
	shown := make([]string, len(path))
	for i, element := range path {
		shown[i] = w.Key(element)
	}
	return strings.Join(shown, " / ")
}

// matched returns the words of an entry that a search found it by, each once.
func matched(h memory.Hit) string {
	var words []string
	for _, m := range h.Matches() {
		word := m.Text[m.From:m.To]
		if len(words) < wordsShown && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}
