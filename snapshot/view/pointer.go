package view

// A Pointer shows a pointer to what holds nothing that can be modified but itself.
type Pointer[T any] struct{ to *T }

// PointerOf returns a view of p. What p points to must not be written to.
func PointerOf[T any](p *T) Pointer[T] { return Pointer[T]{p} }

func (Pointer[T]) check() error { return immutable[T]("Pointer") }

// ViewOf returns a view of the pointer that r points to.
func (Pointer[T]) ViewOf(r Ref[*T]) Pointer[T] { return Pointer[T]{r.value()} }

// Valid reports whether the pointer is not nil.
func (v Pointer[T]) Valid() bool { return v.to != nil }

// Get returns what the pointer points to, and whether it is not nil.
func (v Pointer[T]) Get() (e T, ok bool) {
	if v.to == nil {
		return e, false
	}
	return *v.to, true
}

// Clone returns a pointer to a copy that belongs to the caller, or nil.
func (v Pointer[T]) Clone() *T {
	e, ok := v.Get()
	if !ok {
		return nil
	}
	return &e
}

// String returns what the pointer points to as fmt shows it.
func (v Pointer[T]) String() string {
	e, ok := v.Get()
	return pointee(e, ok)
}

// MarshalJSON returns the JSON of the pointer.
func (v Pointer[T]) MarshalJSON() ([]byte, error) { return marshal(v.to) }

// PointerViews shows a pointer to what is shown by a view.
type PointerViews[T any, W Viewer[T, W]] struct {
	_ shownAs[W]
	p *T
}

// PointerViewsOf returns a view of p. What p points to must not be written to.
func PointerViewsOf[W Viewer[T, W], T any](p *T) PointerViews[T, W] {
	return PointerViews[T, W]{p: p}
}

func (PointerViews[T, W]) check() error { return Check[W]() }

// ViewOf returns a view of the pointer that r points to.
func (PointerViews[T, W]) ViewOf(r Ref[*T]) PointerViews[T, W] {
	return PointerViews[T, W]{p: r.value()}
}

// Valid reports whether the pointer is not nil.
func (v PointerViews[T, W]) Valid() bool { return v.p != nil }

// Get returns a view of what the pointer points to, and whether it is not nil.
func (v PointerViews[T, W]) Get() (w W, ok bool) {
	if v.p == nil {
		return w, false
	}
	return Of[W](Ref[T]{v.p}), true
}

// Clone returns a deep copy that belongs to the caller, or nil.
func (v PointerViews[T, W]) Clone() *T { return cloned(v.p) }

// String returns the type of the pointer, and "<nil>" for nil.
func (v PointerViews[T, W]) String() string {
	if v.p == nil {
		return "<nil>"
	}
	return typeName[*T]()
}

// MarshalJSON returns the JSON of the pointer.
func (v PointerViews[T, W]) MarshalJSON() ([]byte, error) { return marshal(v.p) }

// Cloned stands for a value that cannot be shown, such as an interface: it hands out
// clones of it.
type Cloned[T any] struct{ of *T }

// ViewOf returns a Cloned of what r points to.
func (Cloned[T]) ViewOf(r Ref[T]) Cloned[T] { return Cloned[T]{of: r.p} }

// Get returns a deep copy that belongs to the caller. That of the zero Cloned is the zero value.
func (v Cloned[T]) Get() (e T) {
	if v.of == nil {
		return e
	}
	return CloneOf(*v.of)
}

// String returns the type of the value.
func (v Cloned[T]) String() string { return typeName[T]() }

// MarshalJSON returns the JSON of the value.
func (v Cloned[T]) MarshalJSON() ([]byte, error) { return marshal(v.of) }
