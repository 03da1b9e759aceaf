package main

import (
	"fmt"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/cowstore/cowstore/cow/cowview/testdata/graphs"
	"github.com/cowstore/cowstore/cow/cowview/testdata/other"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes"
	"github.com/cowstore/cowstore/cow/cowview/testdata/uses"
	"github.com/cowstore/cowstore/snapshot/clone"
	"github.com/cowstore/cowstore/snapshot/snapshottest"
	"github.com/cowstore/cowstore/snapshot/view"
	"github.com/stretchr/testify/require"
)

// A region is memory that a value refers to.
type region struct{ start, end uintptr }

// memory finds all that a value refers to, but for strings, functions, channels and what
// stays itself in a clone.
type memory struct {
	regions []region
	seen    map[string]bool
}

func memoryOf(v reflect.Value) []region {
	m := &memory{seen: map[string]bool{}}
	m.walk(v)
	return m.regions
}

func (m *memory) add(v reflect.Value, p unsafe.Pointer, size uintptr) bool {
	key := fmt.Sprint(v.Type(), p, size)
	if p == nil || m.seen[key] {
		return false
	}
	m.seen[key] = true
	if size > 0 {
		m.regions = append(m.regions, region{uintptr(p), uintptr(p) + size})
	}
	return true
}

func (m *memory) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if clone.IsConstant(v) {
			return
		}
		if m.add(v, v.UnsafePointer(), v.Type().Elem().Size()) {
			m.walk(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() && v.Type() != reflect.TypeFor[reflect.Type]() {
			m.walk(v.Elem())
		}
	case reflect.Slice:
		if m.add(v, v.UnsafePointer(), uintptr(v.Cap())*v.Type().Elem().Size()) {
			for i := range v.Len() {
				m.walk(v.Index(i))
			}
		}
	case reflect.Map:
		if m.add(v, v.UnsafePointer(), 1) {
			for k, e := range v.Seq2() {
				m.walk(k)
				m.walk(e)
			}
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for _, part := range clone.Parts(v) {
			m.walk(part)
		}
	case reflect.Array:
		for i := range v.Len() {
			m.walk(v.Index(i))
		}
	}
}

// A visit looks at all that is reached from a view.
type visit struct {
	owned []region
	depth int
	met   int // values that are no views
}

// view calls all methods of a view that take nothing, and visits their results.
func (s *visit) view(v reflect.Value, path string) error {
	if s.depth > 6 {
		return nil
	}
	s.depth++
	defer func() { s.depth-- }()
	if valid := v.MethodByName("Valid"); valid.IsValid() && !valid.Call(nil)[0].Bool() {
		return nil
	}
	for i := range v.NumMethod() {
		m, name := v.Method(i), path+"."+v.Type().Method(i).Name
		if m.Type().NumIn() != 0 {
			continue
		}
		for _, r := range m.Call(nil) {
			if err := s.result(r, name); err != nil {
				return err
			}
		}
	}
	return s.elements(v, path)
}

// elements visits what At and AppendTo hand out.
func (s *visit) elements(v reflect.Value, path string) error {
	at := v.MethodByName("At")
	if !at.IsValid() {
		return nil
	}
	for i := range v.MethodByName("Len").Call(nil)[0].Int() {
		if err := s.result(at.Call([]reflect.Value{reflect.ValueOf(int(i))})[0], path+".At"); err != nil {
			return err
		}
	}
	to := v.MethodByName("AppendTo")
	return s.result(to.Call([]reflect.Value{reflect.Zero(to.Type().In(0))})[0], path+".AppendTo")
}

// result visits what a method returned.
func (s *visit) result(v reflect.Value, path string) error {
	switch {
	case isView(v.Type()):
		return s.view(v, path)
	case v.Kind() == reflect.Slice && isView(v.Type().Elem()):
		return nil // seen by At
	case v.Kind() == reflect.Func && v.Type().CanSeq2():
		for k, e := range v.Seq2() {
			if err := s.result(k, path+"[key]"); err != nil {
				return err
			}
			if err := s.result(e, path+"[]"); err != nil {
				return err
			}
		}
		return nil
	case v.Kind() == reflect.Func && v.Type().CanSeq():
		for e := range v.Seq() {
			if err := s.result(e, path+"[]"); err != nil {
				return err
			}
		}
		return nil
	}
	s.met++
	for _, r := range memoryOf(v) {
		for _, o := range s.owned {
			if r.start < o.end && o.start < r.end {
				return fmt.Errorf("%s hands out memory of the value", path)
			}
		}
	}
	return nil
}

func isView(t reflect.Type) bool {
	_, ok := t.MethodByName("ViewOf")
	return ok && t.Kind() == reflect.Struct
}

// sound visits views of random values.
func sound[W view.Viewer[T, W], T any](t *testing.T, seeds int) {
	t.Helper()
	met := 0
	for seed := range seeds {
		p := snapshottest.TreeOf(reflect.TypeFor[T](), uint64(seed)).Interface().(*T)
		s := &visit{owned: memoryOf(reflect.ValueOf(p))}
		require.NoError(t, s.view(reflect.ValueOf(view.Of[W](view.To(p))), reflect.TypeFor[T]().String()), "seed %d", seed)
		met += s.met
	}
	require.Greater(t, met, seeds, reflect.TypeFor[T]().String())
}

// leaky is a view as cowview must not write it.
type leaky struct{ r view.Ref[graphs.Lead] }

func (leaky) ViewOf(r view.Ref[graphs.Lead]) leaky { return leaky{r} }

func (v leaky) Name() string { return view.Shared(v.r).Lead.Name }

func (v leaky) Members() view.SliceViews[graphs.Member, leakyMember] {
	return view.SliceViewsOf[leakyMember](view.Shared(v.r).Members)
}

type leakyMember struct{ r view.Ref[graphs.Member] }

func (leakyMember) ViewOf(r view.Ref[graphs.Member]) leakyMember { return leakyMember{r} }

func (v leakyMember) Tags() []string { return view.Shared(v.r).Tags }

func TestLeaksAreFound(t *testing.T) {
	p := &graphs.Lead{Members: []graphs.Member{{}, {Tags: []string{"a"}}}}
	s := &visit{owned: memoryOf(reflect.ValueOf(p))}
	require.EqualError(t, s.view(reflect.ValueOf(view.Of[leaky](view.To(p))), "v"), "v.Members.All[].Tags hands out memory of the value")
}

func TestAccessorsHandOutNoMemory(t *testing.T) {
	const n = 60
	sound[graphs.TwoView](t, n)
	sound[graphs.InteriorView](t, n)
	sound[graphs.GridView](t, n)
	sound[graphs.TreeView](t, n)
	sound[graphs.LeadView](t, n)
	sound[graphs.SoloView](t, n)
	sound[graphs.AnyTwoView](t, n)
	sound[graphs.NamedView](t, n)
	sound[graphs.MapsView](t, n)
	sound[graphs.KeysView](t, n)
	sound[graphs.ArraysView](t, n)
	sound[graphs.DeepView](t, n)
	sound[graphs.PartsView](t, n)
	sound[graphs.GenView[[]int]](t, n)
	sound[graphs.GenView[any]](t, n)
	sound[shapes.SlicesView](t, n)
	sound[shapes.MapsView](t, n)
	sound[shapes.NamesView](t, n)
	sound[shapes.OwnersView](t, n)
	sound[shapes.SingleView](t, n)
	sound[shapes.ListView[[]string, int]](t, n)
	sound[other.ConfigView](t, n)
	sound[other.BoxView[map[string][]int]](t, n)
	sound[uses.UsesView](t, n)
	sound[uses.MetaView](t, n)
}
