package agentfield

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/vector"
)

// SetVector stores a copy of embedding and of metadata for key, in place of those
// that it has. Metadata takes what Set takes, and nil stays nil.
//
// The embedding is kept twice: exactly, for GetVector, and in single precision, for
// SearchVector. The error wraps [vector.ErrEmpty] if it has no elements,
// [vector.ErrNotFinite] if one is NaN, infinite, or too large for a float32, and
// [memory.ErrDimension] if the scope has vectors with another number of elements. After an
// error nothing has changed.
func (b *Backend[S, O, R]) SetVector(ctx context.Context, scope S, scopeID, key string, embedding []float64, metadata map[string]any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	space := b.space(scope, scopeID, vectors)
	it := memory.Item{Value: encode(embedding), Vector: vector.Float32s(embedding)}
	if it.Vector == nil {
		it.Vector = []float32{} // an error, where nil would be an entry without a vector
	}
	if metadata != nil {
		v, err := b.freeze(space, key, metadata)
		if err != nil {
			return err
		}
		it.Metadata = v
	}
	_, err := space.PutItem(key, it)
	return err
}

// GetVector returns copies of the embedding of key, bit for bit as it came in, and of its
// metadata, and whether there is a vector. Without one it returns nil, nil, false and no
// error.
func (b *Backend[S, O, R]) GetVector(ctx context.Context, scope S, scopeID, key string) (embedding []float64, metadata map[string]any, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, false, err
	}
	e, ok := b.space(scope, scopeID, vectors).Entry(key)
	if !ok {
		return nil, nil, false, nil
	}
	// As also decodes what Bytes are in an imported Memory.
	exact, err := memory.As[[]byte](e.Value)
	if err != nil || len(exact) != 8*e.Dim {
		return nil, nil, false, fmt.Errorf("agentfield: the vector of key %q was not stored by a Backend", key)
	}
	return decode(exact), thaw(e.Metadata), true, nil
}

// DeleteVector removes the vector of key and its metadata, if there is one. A
// value stays.
func (b *Backend[S, O, R]) DeleteVector(ctx context.Context, scope S, scopeID, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := b.space(scope, scopeID, vectors).Delete(key)
	return err
}

// thaw returns metadata as it came in.
func thaw(v memory.Value) map[string]any {
	m, _ := v.Any().(map[string]any)
	return m
}

// encode returns the bits of all elements: as Bytes they take a quarter of the
// room that a List takes.
func encode(embedding []float64) []byte {
	b := make([]byte, 0, 8*len(embedding))
	for _, x := range embedding {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// decode returns the elements that encode made b of.
func decode(b []byte) []float64 {
	embedding := make([]float64, len(b)/8)
	for i := range embedding {
		embedding[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return embedding
}
