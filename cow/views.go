package cow

import (
	"iter"

	"github.com/cowstore/cowstore/snapshot/view"
)

// Views reads the values of a Table through views of type W, which command cowview generates or
// package [view] has. A view has accessors and no way to write, so nothing is cloned or allocated.
// It never changes, is valid for as long as it is held, and keeps only its row alive. Its method
// Clone returns a value that may be changed, and set again.
//
// Views are made by [NewViews] or [NewPointerViews]; the zero Views panics. It is a value that may
// be copied, and is safe for concurrent use. If Options.Clone or Options.Immutable share values
// with other code, a view shows what that code writes to them.
type Views[K comparable, V, W any] struct {
	from loader[K, V]
	show func(*V) W
}

// A loader is a Table or one map.
type loader[K comparable, V any] interface{ Load() *Map[K, V] }

type oneMap[K comparable, V any] struct{ m *Map[K, V] }

func (o oneMap[K, V]) Load() *Map[K, V] { return o.m }

// NewViews returns Views of a Table:
//
//	people := cow.NewViews[ProfileView](users)
//
// It panics if W returns anything that can be modified, as a view.Slice of pointers does.
func NewViews[W view.Viewer[V, W], K comparable, V any](t interface{ Load() *Map[K, V] }) Views[K, V, W] {
	return newViews(t, func(p *V) W { return view.Of[W](view.To(p)) })
}

// NewPointerViews is NewViews for a table of pointers: the views are of what these point to. The view
// of a nil pointer shows nothing: it is the zero W, which is empty or not Valid.
func NewPointerViews[W view.Viewer[T, W], K comparable, T any](t interface{ Load() *Map[K, *T] }) Views[K, *T, W] {
	return newViews(t, func(p **T) W { return view.Of[W](view.To(*p)) })
}

func newViews[K comparable, V, W any](from loader[K, V], show func(*V) W) Views[K, V, W] {
	if from == nil {
		panic("cow: views of nothing: NewViews needs a Table")
	}
	if err := view.Check[W](); err != nil {
		panic("cow: " + err.Error())
	}
	return Views[K, V, W]{from, show}
}

// made panics for the zero Views.
func (v Views[K, V, W]) made() {
	if v.show == nil {
		panic("cow: the zero Views are of nothing: make them with NewViews or NewPointerViews")
	}
}

// In returns Views that read from m instead of the current snapshot.
func (v Views[K, V, W]) In(m *Map[K, V]) Views[K, V, W] {
	return Views[K, V, W]{oneMap[K, V]{m}, v.show}
}

// Get returns a view of the value of key in the current snapshot, and whether key is present. If it
// is absent, the view is the zero W, which is not Valid.
func (v Views[K, V, W]) Get(key K) (w W, ok bool) {
	v.made()
	if p := (builder[K, V]{}).Lookup(v.from.Load(), key); p != nil {
		return v.show(p), true
	}
	return w, false
}

// GetMany returns an iterator over those keys that are present in the snapshot that is current when
// the iteration begins. It yields the index of each in keys, in order, and a view of its value; see
// [Table.GetMany].
func (v Views[K, V, W]) GetMany(keys []K) iter.Seq2[int, W] {
	v.made()
	return func(yield func(int, W) bool) {
		for i, row := range (builder[K, V]{}).RowsOf(v.from.Load(), keys) {
			if !yield(i, v.show(builder[K, V]{}.Pointer(row))) {
				return
			}
		}
	}
}

// All returns an iterator over keys and views of the values in the snapshot that is
// current when the iteration begins, in the order of Map.All.
func (v Views[K, V, W]) All() iter.Seq2[K, W] {
	v.made()
	return func(yield func(K, W) bool) {
		for row := range v.from.Load().Rows() {
			if !yield(row.Key(), v.show(builder[K, V]{}.Pointer(row))) {
				return
			}
		}
	}
}

// Row returns a view of the value of a row, such as one of a Range, a Change or a Conflict. For the
// zero Row it returns the zero W.
func (v Views[K, V, W]) Row(row Row[K, V]) (w W) {
	v.made()
	if row == (Row[K, V]{}) {
		return w
	}
	return v.show(builder[K, V]{}.Pointer(row))
}
