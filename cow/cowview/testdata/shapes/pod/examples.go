package pod

import (
	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
)

// Shapes returns the types of this package.
func Shapes() []shape.Shape {
	return []shape.Shape{
		shape.Of[PodView](),
		shape.Of[MetaView](),
		shape.Of[OwnerView](),
		shape.Of[ManagedView](),
		shape.Of[SpecView](),
		shape.Of[ContainerView](),
		shape.Of[EnvVarView](),
		shape.Of[EnvSourceView](),
		shape.Of[VolumeView](),
		shape.Of[SourceView](),
		shape.Of[ResourcesView](),
		shape.Of[QuantityView](shape.Hidden(func(v QuantityView) map[string]any {
			return map[string]any{"i": v.i(), "d": v.d(), "text": v.text()}
		})),
		shape.Of[TolerationView](),
		shape.Of[AffinityView](),
		shape.Of[NodeTermView](),
		shape.Of[RequirementView](),
		shape.Of[StatusView](),
		shape.Of[ConditionView](),
		shape.Of[ContainerStatusView](),
		shape.Of[StateView](),
		shape.Of[PodListView](),
	}
}
