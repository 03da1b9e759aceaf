package stores

import "iter"

// A Memory keeps what agents know: JSON-like values in spaces, each perhaps with
// a vector. All methods of it and of its spaces may be called from any number of
// goroutines at once.
type Memory interface {
	// Space returns one space, known by its path. Programs make it once, and use
	// it for as long as a session lasts.
	Space(path ...string) Space
}

// A Space is one space of a Memory.
type Space interface {
	// Get reads the value of key, as isolated as the Kind promises, and returns
	// what a program wants of it.
	Get(key string) (Found, bool)

	// Put stores all notes, as one commit where the memory has such a thing.
	Put(notes ...Note)

	// All returns an iterator over all keys of the space and what Get returns of
	// them.
	All() iter.Seq2[string, Found]
}

// A Note is what is put under a key.
type Note struct {
	Key    string
	Value  any       // as encoding/json decodes it
	Vector []float32 // of unit length; nil: none
}

// A Found is what programs read of a value that is a map: two of its strings,
// which are empty where they are not there.
type Found struct{ Text, Stamp string }

// A VectorSpace is a Space that finds notes by their vectors.
type VectorSpace interface {
	Space

	// Nearest returns the keys of the k notes whose vectors are most similar to v
	// by cosine, the most similar first.
	Nearest(v []float32, k int) []string
}

// A TextSpace is a Space that finds notes by the words in them.
type TextSpace interface {
	Space

	// Matching returns the keys of the k notes that match query best, the best
	// first.
	Matching(query string, k int) []string
}
