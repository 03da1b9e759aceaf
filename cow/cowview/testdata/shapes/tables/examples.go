package tables

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[EntryView](),
		shape.Of[FlatView](),
		shape.Of[EntriesView](),
		shape.Of[SlicesView](),
		shape.Of[MapsView](),
		shape.Of[NamedView](),
		shape.Of[PointersView](),
		shape.Of[KeysView](),
		shape.Of[AnyKeysView](),
	}
}
