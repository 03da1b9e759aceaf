package local

import (
	"encoding/json"
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
	}](c)
	if err == nil {
		err = checkNote(args.Text, args.Space, args.Tags, args.Metadata, args.Vector, args.TTL)
	}
	if err == nil && args.Key != nil {
		err = checkName("the key", *args.Key, maxName)
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
		if err := w.put(space, key, it); err != nil {
			return nil, err
		}
		return result{key, args.Space, w.batch.Version(), replaced}, nil
	})
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
