// Package shapes has struct types of all sorts, by theme, with generated views.
package shapes

import (
	"slices"

	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/anonymous"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/arrays"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/basic"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/dynamic"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/embed"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/generic"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/graphs"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/handles"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/hidden"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/kinds"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/lists"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/names"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/other"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/outer"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/overlap"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/own"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/plain"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/pod"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/pointers"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/readonly"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/recursive"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/shadow"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/std"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/tables"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/tags"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/uses"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/viewer"
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
		basic.Shapes(),
		graphs.Shapes(),
		kinds.Shapes(),
		other.Shapes(),
		uses.Shapes(),
	)
}
