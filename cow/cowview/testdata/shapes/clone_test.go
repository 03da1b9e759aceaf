package shapes_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/basic"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/graphs"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/kinds"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/other"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/uses"
	"github.com/cowstore/cowstore/snapshot/snapshottest"
	"github.com/cowstore/cowstore/snapshot/view"
	"github.com/stretchr/testify/require"
)

// A viewOf is what is common to views of a T.
type viewOf[T, W any] interface {
	view.Viewer[T, W]
	Clone() T
	Equal(W) bool
	Valid() bool
	String() string
	MarshalJSON() ([]byte, error)
}

// inView clones by the view that cowview generated.
func inView[W viewOf[T, W], T any]() snapshottest.Place {
	var held *T
	return snapshottest.Place{
		Type:   reflect.TypeFor[T](),
		Put:    func(v reflect.Value) error { held = cloneOf[W](v.Interface().(*T)); return nil },
		Get:    func() reflect.Value { return reflect.ValueOf(cloneOf[W](held)) },
		Inside: true,
	}
}

func cloneOf[W viewOf[T, W], T any](p *T) *T {
	c := view.Of[W](view.To(p)).Clone()
	return &c
}

func TestClonesKeepTheirShape(t *testing.T) {
	snapshottest.Run(t, []snapshottest.Place{
		inView[graphs.OneView, graphs.One](),
		inView[graphs.TwoView, graphs.Two](),
		inView[graphs.MixedView, graphs.Mixed](),
		inView[graphs.InteriorView, graphs.Interior](),
		inView[graphs.GridView, graphs.Grid](),
		inView[graphs.TreeView, graphs.Tree](),
		inView[graphs.LeadView, graphs.Lead](),
		inView[graphs.SoloView, graphs.Solo](),
		inView[graphs.AnyView, graphs.Any](),
		inView[graphs.AnyTwoView, graphs.AnyTwo](),
		inView[graphs.NamedView, graphs.Named](),
		inView[graphs.ConvView, graphs.Conv](),
		inView[graphs.MapsView, graphs.Maps](),
		inView[graphs.KeysView, graphs.Keys](),
		inView[graphs.ArraysView, graphs.Arrays](),
		inView[graphs.GenView[int], graphs.Gen[int]](),
		inView[graphs.GenView[[]int], graphs.Gen[[]int]](),
		inView[graphs.GenView[any], graphs.Gen[any]](),
		inView[graphs.DeepView, graphs.Deep](),
		inView[graphs.PartsView, graphs.Parts](),
		inView[graphs.BoolsView, graphs.Bools](),
		inView[graphs.LengthsView, graphs.Lengths](),
	}, 5000)
}

func TestCloneComparesWhatMayBeOfOneType(t *testing.T) {
	var l graphs.Lengths
	l.A = new(struct{ All [4]int })
	l.B = (*[2]int)(l.A.All[1:])
	l = l.Clone()
	require.Same(t, &l.A.All[1], &l.B[0], "arrays of two lengths")

	m, c := map[string]int{}, make(chan int)
	p := graphs.Params[int, int]{A: m, B: m}.Clone()
	p.A["new"] = 1
	require.Contains(t, p.B, "new")
	require.NotContains(t, m, "new")
	p = graphs.Params[int, int]{C: &c, D: &c}.Clone()
	require.Same(t, p.C, p.D)
}

// base returns the address of the array of s.
func base[T any](s []T) *T { return unsafe.SliceData(s) }

func TestCloneComparesFirst(t *testing.T) {
	s := []string{"a", "b", "c", "d"}
	apart := kinds.Twice{A: s[:2:2], B: s[2:]}.Clone()
	require.Equal(t, s[:2], apart.A)
	require.Equal(t, s[2:], apart.B)

	m := map[string]string{"k": "v"}
	n := 7
	c := kinds.Twice{A: s[:3], B: s[2:], M: m, N: m, P: &n, Q: &n}.Clone()
	require.Same(t, &c.A[2], &c.B[0], "slices of one array stay that")
	require.NotSame(t, base(s), base(c.A))
	c.M["new"] = "x"
	require.Equal(t, "x", c.N["new"], "one map stays one")
	require.NotContains(t, m, "new")
	require.Same(t, c.P, c.Q)
	require.NotSame(t, &n, c.P)

	empty := kinds.Twice{A: []string{}, M: map[string]string{}}.Clone()
	require.NotNil(t, empty.A)
	require.NotNil(t, empty.M)
	require.Nil(t, empty.B)
	require.Nil(t, empty.N)
}

func TestCloneOfOne(t *testing.T) {
	single := kinds.Single{Name: "n", Tags: kinds.Tags{"a", "b"}}
	var c kinds.Single
	require.Equal(t, 1.0, testing.AllocsPerRun(100, func() { c = single.Clone() }), "no more than by hand")
	require.Equal(t, single, c)

	twice := kinds.Twice{A: []string{"a"}, B: []string{"b"}}
	var d kinds.Twice
	require.Equal(t, 2.0, testing.AllocsPerRun(100, func() { d = twice.Clone() }), "to compare allocates nothing")
	require.Equal(t, twice, d)
}

func TestAccessorsDoNotAllocate(t *testing.T) {
	p := &basic.Profile{Tags: []string{"a"}, Boss: &basic.Address{Lines: []string{"b"}}, Labels: map[string]string{"c": "d"}}
	n := 0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		v := view.Of[basic.ProfileView](view.To(p))
		c, _ := v.Labels().Get("c")
		n += len(v.Tags().At(0)) + len(v.Boss().Lines().At(0)) + len(c)
	}))
	require.NotZero(t, n)
}

func TestViewOfNothing(t *testing.T) {
	var v basic.ProfileView
	require.False(t, v.Valid())
	require.Zero(t, v.Clone())
	require.Equal(t, "<nil>", v.String())
	require.True(t, v.Equal(basic.ProfileView{}))
	text, err := v.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, "null", string(text))
	require.True(t, v.LogValue().Equal(v.LogValue()))

	var locked kinds.LockedView
	require.Nil(t, locked.Clone())
}

func TestPromotedThroughNil(t *testing.T) {
	e := &kinds.Embeds{Base: kinds.Base{List: []int{1}}}
	v := view.Of[kinds.EmbedsView](view.To(e))
	require.Zero(t, v.Labels().Len())
	require.Equal(t, 1, v.List().At(0))
	e.Meta = &kinds.Meta{Labels: map[string]string{"a": "b"}}
	got, ok := v.Labels().Get("a")
	require.True(t, ok)
	require.Equal(t, "b", got)
}

func TestReadonlyMethods(t *testing.T) {
	p := &basic.Profile{Name: "Ada", Tags: []string{"x"}, Address: basic.Address{Street: "Mill"}}
	v := view.Of[basic.ProfileView](view.To(p))
	require.Equal(t, "Ada, Mill", v.Title(", "))
	tags, err := v.AllTags()
	require.NoError(t, err)
	require.Equal(t, []string{"x"}, tags)
	tags[0] = "spoiled"
	require.Equal(t, "x", p.Tags[0])

	l := &kinds.List[[]int, int]{Nums: []int{1, 2}, First: []int{9}}
	sum, first := view.Of[kinds.ListView[[]int, int]](view.To(l)).Sum(3)
	require.Equal(t, 6, sum)
	first[0] = 0
	require.Equal(t, 9, l.First[0])
}

func TestViewsOfOtherPackages(t *testing.T) {
	u := &uses.Uses{Config: other.Config{Keys: []string{"k"}}, Names: []other.Names{{"n"}}, Hands: make([]uses.ByHand, 2)}
	v := view.Of[uses.UsesView](view.To(u))
	require.Equal(t, "k", v.Config().Keys().At(0))
	require.False(t, v.Pointer().Valid())
	require.Equal(t, "n", v.Names().At(0).At(0))
	require.Equal(t, 0, v.Hands().At(1).Len())
}
