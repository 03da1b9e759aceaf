// Package shapes has struct types of all sorts, by theme, with generated views.
package shapes

import (
	"slices"

	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/anonymous"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/arrays"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/dynamic"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/embed"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/generic"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/handles"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/hidden"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/lists"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/names"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/outer"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/overlap"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/own"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/plain"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/pod"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/pointers"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/readonly"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/recursive"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/shadow"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/std"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/tables"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/tags"
	"github.com/cowstore/cowstore/cow/cowview/internal/shapes/viewer"
)

// All returns all of them.
func All() []shape.Shape {
	return slices.Concat(
		anonymous.Shapes(),
		arrays.Shapes(),
		dynamic.Shapes(),
		embed.Shapes(),
		generic.Shapes(),
		handles.Shapes(),
		hidden.Shapes(),
		lists.Shapes(),
		names.Shapes(),
		outer.Shapes(),
		overlap.Shapes(),
		own.Shapes(),
		plain.Shapes(),
		pod.Shapes(),
		pointers.Shapes(),
		readonly.Shapes(),
		recursive.Shapes(),
		shadow.Shapes(),
		std.Shapes(),
		tables.Shapes(),
		tags.Shapes(),
		viewer.Shapes(),
	)
}
