package memory

import (
	"fmt"
	"slices"
	"time"

	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/vector"
)

// An Item is a whole entry to be stored by PutItem.
type Item struct {
	Value    any           // as for Freeze; nil is Null
	Vector   []float32     // none if nil
	Metadata any           // as for Freeze, and a Map; none if it is nil or Null
	TTL      time.Duration // 0: that of the space, or of the Memory; Never: none
}

// A draft is an Item as it will be stored: frozen and checked, in memory of its
// own. A Space makes one before the writer's place is taken, and hands it to its Editor
// as the value.
type draft struct {
	value    Value
	words    text.Words
	metadata Value
	vector   []float32
	ttl      time.Duration
}

// prepare makes a draft of it, unless its value is one.
func (m *Memory) prepare(space, key string, it Item) (*draft, error) {
	m.made()
	if d, ok := it.Value.(*draft); ok {
		return d, nil
	}
	d, err := m.freeze(space, key, it.Value)
	if err != nil {
		return nil, err
	}
	d.metadata, err = freezeMetadata(it.Metadata)
	if err == nil && it.Vector != nil {
		d.vector, err = slices.Clone(it.Vector), vector.Check(it.Vector)
	}
	if err == nil && validTTL(it.TTL) != nil {
		err = fmt.Errorf("%w: %w", ErrUnsupported, validTTL(it.TTL))
	}
	if err != nil {
		return nil, keyError(space, key, err)
	}
	d.ttl = it.TTL
	return d, nil
}

// freezeMetadata returns metadata as a Map, or Absent.
func freezeMetadata(metadata any) (Value, error) {
	v, err := Freeze(metadata)
	switch {
	case err != nil:
		return Value{}, err
	case v.Kind() == Map:
		return v, nil
	case v.Exists() && !v.IsNull():
		return Value{}, &ValueError{Type: fmt.Sprintf("%T", metadata), Err: fmt.Errorf("%w: metadata must be a map", ErrUnsupported)}
	}
	return Value{}, nil
}

// freeze makes a draft of a value, unless it is one.
func (m *Memory) freeze(space, key string, v any) (*draft, error) {
	m.made()
	if d, ok := v.(*draft); ok {
		return d, nil
	}
	frozen, err := Freeze(v)
	if err == nil {
		err = checkDepth(space)
	}
	if err != nil {
		return nil, keyError(space, key, err)
	}
	if !frozen.Exists() {
		frozen, _ = Freeze(nil) // what is Absent would be no value
	}
	return &draft{value: frozen, words: m.texts.wordsAhead(space, frozen)}, nil
}

// embed makes a draft of a vector and its metadata.
func (m *Memory) embed(space, key string, v []float32, metadata map[string]any) (*draft, error) {
	m.made()
	if v == nil {
		v = []float32{}
	}
	d, err := m.prepare(space, key, Item{Vector: v, Metadata: metadata})
	if err == nil {
		d.value = Value{}
	}
	return d, err
}

// Float32s returns v in single precision, as vectors are stored. What is too
// large for it becomes an infinity, which no vector may have.
func Float32s(v []float64) []float32 {
	if v == nil {
		return nil
	}
	s := make([]float32, len(v))
	for i, x := range v {
		s[i] = float32(x)
	}
	return s
}
