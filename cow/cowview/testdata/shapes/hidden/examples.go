package hidden

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[MixedView](shape.Hidden(func(v MixedView) map[string]any {
			return map[string]any{
				"tags":  v.tags(),
				"by":    v.by(),
				"next":  v.next(),
				"at":    v.at(),
				"inner": v.inner(),
			}
		})),
		shape.Of[ClosedView](shape.Hidden(func(v ClosedView) map[string]any {
			return map[string]any{
				"n":    v.n(),
				"list": v.list(),
				"refs": v.refs(),
				"any":  v.any(),
				"err":  v.err(),
			}
		})),
		shape.Of[innerView](shape.Hidden(func(v innerView) map[string]any {
			return map[string]any{"n": v.n(), "parts": v.parts(), "up": v.up()}
		})),
		shape.Of[NodeView](shape.Hidden(func(v NodeView) map[string]any {
			return map[string]any{"next": v.next(), "prev": v.prev(), "list": v.list()}
		})),
		shape.Of[SameView](shape.Hidden(func(v SameView) map[string]any {
			return map[string]any{"name": v.name(), "index": v.index(), "iD": v.iD()}
		})),
	}
}
