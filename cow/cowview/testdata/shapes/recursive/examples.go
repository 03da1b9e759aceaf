package recursive

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[ListView](),
		shape.Of[TreeView](),
		shape.Of[TrieView](),
		shape.Of[GraphView](),
		shape.Of[VertexView](),
		shape.Of[PersonView](),
		shape.Of[AddressView](),
		shape.Of[HolderView](shape.Hidden(func(v HolderView) map[string]any {
			return map[string]any{"chain": v.chain()}
		})),
		shape.Of[MenuView](),
	}
}
