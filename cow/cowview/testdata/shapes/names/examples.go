package names

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[MethodsView](shape.Names("Valid", "ValidField", "Equal", "EqualField", "String", "StringField", "LogValue", "LogValueField", "MarshalJSON", "MarshalJSONField", "ViewOf", "ViewOfField")),
		shape.Of[ValuesView](shape.Names("Valid", "ValidField", "Equal", "EqualField", "String", "StringField", "ViewOf", "ViewOfField")),
		shape.Of[ContainersView](),
		shape.Of[ShortView](shape.Hidden(func(v ShortView) map[string]any {
			return map[string]any{
				"r":     v.r(),
				"p":     v.p(),
				"v":     v.v(),
				"w":     v.w(),
				"x":     v.x(),
				"ref":   v.refField(),
				"ptr":   v.ptr(),
				"val":   v.val(),
				"view":  v.view(),
				"json":  v.json(),
				"t":     v.t(),
				"c":     v.c(),
				"k":     v.k(),
				"e":     v.e(),
				"i":     v.i(),
				"ok":    v.ok(),
				"err":   v.err(),
				"n":     v.n(),
				"out":   v.out(),
				"dst":   v.dst(),
				"src":   v.src(),
				"p2":    v.p2(),
				"valid": v.valid(),
			}
		})),
		shape.Of[PredeclaredView](shape.Hidden(func(v PredeclaredView) map[string]any {
			return map[string]any{
				"len":    v.len(),
				"cap":    v.cap(),
				"append": v.append(),
				"copy":   v.copy(),
				"any":    v.any(),
				"nil":    v.nil(),
				"true":   v.true(),
				"error":  v.error(),
				"string": v.string(),
				"int":    v.int(),
				"bool":   v.bool(),
				"make":   v.make(),
				"new":    v.new(),
				"iota":   v.iota(),
				"byte":   v.byte(),
			}
		})),
		shape.Of[CloneFieldView](shape.Names("Clone", "CloneField")),
		shape.Of[ViewFieldView](),
		shape.Of[FooView](),
		shape.Of[FooView2View](),
	}
}
