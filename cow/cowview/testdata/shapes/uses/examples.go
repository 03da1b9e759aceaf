package uses

import "github.com/cowstore/cowstore/cow/cowview/internal/shape"

// Shapes returns the types of this package whose fields have accessors, and views that are
// generated.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[MetaView](),
		shape.Of[TextsView](),
		shape.Of[HeadsView](shape.Tree),
	}
}
