package local

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

func (c *call) remember() (any, error) {
	type result struct {
		Key      string   `json:"key"`
		Space    []string `json:"space,omitempty"`
		Revision uint64   `json:"revision"`
		Replaced bool     `json:"replaced"`
		Similar  []alike  `json:"similar,omitempty"`
	}
	args, err := decode[struct {
		where
		Text     string
		Key      *string
		Space    []string
		Tags     []string
		Metadata map[string]any
		Vector   []float32
		TTL      int64 `json:"ttl_seconds"`

		Supersedes *string
	}](c)
	if err == nil {
		err = checkNote(args.Text, args.Space, args.Tags, args.Metadata, args.Vector, args.TTL)
	}
	for _, key := range []*string{args.Key, args.Supersedes} {
		if err == nil && key != nil {
			err = checkName("the key", *key, maxName)
		}
	}
	if err == nil && args.Supersedes != nil && args.Key != nil && *args.Key == *args.Supersedes {
		err = store.Errorf(store.Invalid, "a note does not supersede itself: leave out supersedes, and it is replaced")
	}
	if err == nil {
		err = c.room()
	}
	if err != nil {
		return nil, err
	}
	l, end, err := c.at(args.where)
	if err != nil {
		return nil, err
	}
	defer end()
	key := c.made()
	if args.Key != nil {
		key = *args.Key
	}
	return c.update(l, func(w *write) (any, error) {
		space := noteSpace(c.Namespace, args.Space)
		n := note{text: args.Text, tags: args.Tags, metadata: args.Metadata, updated: now()}
		n.created = n.updated
		was, replaced := w.in(space).Get(key)
		if replaced {
			n.created = noteOf(was).created
		}
		it := memory.Item{Value: n.value(), Vector: args.Vector, TTL: memory.Never}
		if args.TTL > 0 {
			it.TTL = time.Duration(args.TTL) * time.Second
		}
		if args.Supersedes == nil {
			err = w.put(space, key, it)
		} else if err = w.supersede(space, *args.Supersedes, key, it); errors.Is(err, memory.ErrNotFound) {
			err = store.Errorf(store.NotFound, "there is no note %q to supersede", clip(*args.Supersedes))
		}
		if err != nil {
			return nil, err
		}
		similar, err := w.similar(space, key, args.Text)
		if err != nil {
			return nil, err
		}
		return result{key, args.Space, w.batch.Version(), replaced, similar}, nil
	})
}

// An alike is a note that says about the same as another one.
type alike struct {
	Key   string  `json:"key"`
	Text  string  `json:"text"`
	Share float64 `json:"share"` // of the words of the other one
}

// similar returns the notes of a folder that say about what the note of key says, which was put
// just now: those of the best hits of its own text that have most of its words.
func (w *write) similar(folder []string, key, text string) (list []alike, err error) {
	const (
		atMost = 3
		most   = 0.75
		bytes  = 1 << 10 // of the text
		told   = 200     // bytes of another
	)
	query := strings.ReplaceAll(clipTo(text, bytes), `"`, " ")
	if strings.TrimSpace(query) == "" {
		return nil, nil
	}
	hits, err := w.in(folder).Search(memory.Query{Text: query, K: 4 * atMost})
	if err != nil {
		return nil, err
	}
	words := func(h memory.Hit) float64 {
		terms := make(map[string]bool)
		for _, m := range h.Matches() {
			terms[m.Term] = true
		}
		return float64(len(terms))
	}
	own := slices.IndexFunc(hits, func(h memory.Hit) bool { return h.Key == key })
	if own < 0 {
		return nil, nil // there are many who say it better
	}
	all := words(hits[own])
	for i, h := range hits {
		if share := words(h) / all; i != own && share >= most && len(list) < atMost {
			list = append(list, alike{h.Key, clipTo(noteOf(h.Value).text, told), math.Round(share*100) / 100})
		}
	}
	return list, nil
}

func checkNote(text string, folder, tags []string, metadata map[string]any, vector []float32, ttl int64) error {
	if strings.TrimSpace(text) == "" {
		return store.Errorf(store.Invalid, "the text is empty")
	}
	if err := checkLen("the text", text, maxText); err != nil {
		return err
	}
	if err := checkFolder(folder); err != nil {
		return err
	}
	if len(tags) > maxTags {
		return store.Errorf(store.TooLarge, "%d tags, and %d are allowed", len(tags), maxTags)
	}
	for _, t := range tags {
		if err := checkName("a tag", t, maxFolder); err != nil {
			return err
		}
	}
	b, err := json.Marshal(metadata)
	if err != nil {
		return store.Errorf(store.Invalid, "the metadata is not JSON: %v", err)
	}
	if len(b) > maxMetadata {
		return store.Errorf(store.TooLarge, "the metadata has %d bytes, and %d are allowed", len(b), maxMetadata)
	}
	if ttl > maxTTL {
		return store.Errorf(store.Invalid, "ttl_seconds is %d, and %d is the most", ttl, int64(maxTTL))
	}
	return checkVector(vector)
}

func checkVector(v []float32) error {
	if len(v) > maxVector {
		return store.Errorf(store.TooLarge, "a vector of %d dimensions, and %d are allowed", len(v), maxVector)
	}
	if len(v) > 0 && !slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
		return store.Errorf(store.Invalid, "a vector of zeros alone has no direction")
	}
	return nil
}
