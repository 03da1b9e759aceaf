package memories

import (
	"context"
	"errors"
	"sync"

	"github.com/philippgille/chromem-go"
)

// newChromemMemory makes a collection of chromem-go for each space. All of a value that
// it keeps is what programs read: the text is the content of a document, the stamp
// its metadata. Every note must have a vector, and a key that is not empty. It
// keeps the very vectors that it is given, and it has no list of its documents, so
// that a space of it cannot be read as a whole.
func newChromemMemory() Memory {
	db := chromem.NewDB()
	var making sync.Mutex // or two could make the same collection, one of which would be lost
	return spaces(func(path ...string) Space {
		making.Lock()
		defer making.Unlock()
		c, err := db.GetOrCreateCollection(pathName(path), nil, func(context.Context, string) ([]float32, error) {
			return nil, errors.New("a note must have a vector") // without this it would ask a service for one
		})
		stored(err)
		return chromemSpace{c}
	})
}

type chromemSpace struct{ c *chromem.Collection }

func (s chromemSpace) Get(key string) (Found, bool) {
	d, err := s.c.GetByID(context.Background(), key)
	return Found{d.Content, d.Metadata["stamp"]}, err == nil // no other error than that it is absent
}

// Put adds one document after the other. AddDocuments does so too, with a goroutine
// for each, which is of use for embeddings that are not there yet.
func (s chromemSpace) Put(notes ...Note) {
	for i := range notes {
		f := foundIn(notes[i].Value)
		d := chromem.Document{ID: notes[i].Key, Content: f.Text, Embedding: notes[i].Vector}
		if f.Stamp != "" {
			d.Metadata = map[string]string{"stamp": f.Stamp}
		}
		stored(s.c.AddDocument(context.Background(), d))
	}
}

func (s chromemSpace) Nearest(v []float32, k int) []string {
	k = min(k, s.c.Count()) // more is an error; nothing is ever removed
	if k == 0 {
		return nil
	}
	results, err := s.c.QueryEmbedding(context.Background(), v, k, nil, nil)
	stored(err)
	keys := make([]string, len(results))
	for i := range results {
		keys[i] = results[i].ID
	}
	return keys
}
