package snapshottest

import (
	"fmt"
	"reflect"
	"regexp"
	"time"
	"unsafe"

	"github.com/cowstore/cowstore/snapshot/depth"
)

// Features are what is remarkable about a value.
type Features struct {
	Shared   bool // two references lead to the same object
	Interior bool // one leads into an object that another leads to, or two slices overlap
	Cycle    bool // references lead back to where they come from
}

// Compare returns an error unless the values that a and b, two pointers of one
// type, point to have one shape: the same values of the same dynamic types, nil and
// empty told apart, in memory of the same shape. What is one variable in a, however
// it is reached, must be one in b, the other way round, at the same place in what
// it is a part of; that holds too for what is beyond the length of slices if two
// references reach it. No memory may be in both, but for that of sentinels, zones
// and types, which stay themselves, and for what regexps were compiled to. Channels and functions must be the same.
func Compare(a, b reflect.Value) (Features, error) {
	c := comparer{
		to:     map[unsafe.Pointer]unsafe.Pointer{},
		from:   map[unsafe.Pointer]unsafe.Pointer{},
		met:    map[reference]bool{},
		open:   map[unsafe.Pointer]bool{},
		beyond: map[unsafe.Pointer][]unsafe.Pointer{},
	}
	err := c.value(a.Elem(), b.Elem(), "v")
	if err == nil {
		err = c.rest()
	}
	return c.Features, err
}

// A comparer walks two values at once.
type comparer struct {
	Features
	to, from map[unsafe.Pointer]unsafe.Pointer // variables of a and of b
	met      map[reference]bool
	open     map[unsafe.Pointer]bool // objects that the walk is in
	beyond   map[unsafe.Pointer][]unsafe.Pointer
	apart    bool // what is compared are copies of what lies in maps and interfaces
	levels   int
}

// maxLevels is how deep Compare goes. Each level has its path.
const maxLevels = 1000

// A reference is what leads from a to somewhere.
type reference struct {
	t reflect.Type
	p unsafe.Pointer
	n int
}

// leaf notes that the variable at b is that at a, of those that have no parts, and
// reports whether it did so before.
func (c *comparer) leaf(a, b reflect.Value, path string) (before bool, err error) {
	if c.apart {
		return false, nil
	}
	p := a.Addr().UnsafePointer()
	_, before = c.to[p]
	return before, c.variable(p, b.Addr().UnsafePointer(), path)
}

func (c *comparer) variable(p, q unsafe.Pointer, path string) error {
	to, there := c.to[p]
	from, back := c.from[q]
	switch {
	case !there && !back:
		c.to[p], c.from[q] = q, p
		return nil
	case to != q || from != p:
		return fmt.Errorf("%s: is another variable than before", path)
	}
	return nil
}

// rest looks at all of the memory once the walk is over.
func (c *comparer) rest() error {
	for p := range c.to {
		if _, ok := c.from[p]; ok {
			return fmt.Errorf("memory in common: %p", p)
		}
	}
	for p, all := range c.beyond {
		want, visible := c.to[p]
		if len(all) == 1 && !visible {
			continue
		}
		if !visible {
			want = all[0]
		}
		for _, q := range all {
			if q == nil || q != want {
				return fmt.Errorf("what slices could grow into is not the same memory")
			}
		}
		if !visible {
			c.Interior = true
		}
	}
	return nil
}

func (c *comparer) value(a, b reflect.Value, path string) error {
	if c.levels++; c.levels > maxLevels {
		return fmt.Errorf("%.100s…: %w", path, depth.ErrTooDeep)
	}
	defer func() { c.levels-- }()
	t := a.Type()
	if t != b.Type() {
		return fmt.Errorf("%s: %s became %s", path, t, b.Type())
	}
	a, b = writable(a), writable(b)
	switch t.Kind() {
	case reflect.Struct:
		if isWhole(t) {
			if a.Interface() != b.Interface() {
				return fmt.Errorf("%s: times differ", path)
			}
			_, err := c.leaf(a, b, path)
			return err
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.Name != "_" && f.Type.Size() > 0 && !isCommon(t, f.Name) {
				if err := c.value(a.Field(i), b.Field(i), path+"."+f.Name); err != nil {
					return err
				}
			}
		}
		return nil
	case reflect.Array:
		return c.elements(a, b, a.Len(), path)
	}
	if before, err := c.leaf(a, b, path); before || err != nil {
		return err
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface, reflect.Chan, reflect.Func:
		if a.IsNil() != b.IsNil() {
			return fmt.Errorf("%s: nil and not", path)
		}
		if a.IsNil() {
			return nil
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return c.pointer(a, b, path)
	case reflect.Slice:
		return c.slice(a, b, path)
	case reflect.Map:
		return c.mapping(a, b, path)
	case reflect.Interface:
		return c.copies(a.Elem(), b.Elem(), path+".("+a.Elem().Type().String()+")")
	case reflect.Chan, reflect.Func:
		if a.UnsafePointer() != b.UnsafePointer() {
			return fmt.Errorf("%s: another %s", path, t)
		}
		return nil
	}
	if !a.Equal(b) {
		return fmt.Errorf("%s: %v became %v", path, a, b)
	}
	return nil
}

// copies compares values that are not variables.
func (c *comparer) copies(a, b reflect.Value, path string) error {
	was := c.apart
	c.apart = true
	err := c.value(copyOf(a), copyOf(b), path)
	c.apart = was
	return err
}

// copyOf returns a variable with the value v.
func copyOf(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

// behind compares what a reference leads to.
func (c *comparer) behind(compare func() error) error {
	was := c.apart
	c.apart = false
	err := compare()
	c.apart = was
	return err
}

// enter notes that a reference leads from a to p and from b to q, and reports
// whether what is there is to be compared.
func (c *comparer) enter(t reflect.Type, p unsafe.Pointer, n int) bool {
	r := reference{t, p, n}
	if c.open[p] {
		c.Cycle = true
	}
	if c.met[r] {
		c.Shared = true
		return false
	}
	if _, ok := c.to[p]; ok {
		c.Interior = true
	}
	c.met[r] = true
	return true
}

func (c *comparer) pointer(a, b reflect.Value, path string) error {
	p, q := a.UnsafePointer(), b.UnsafePointer()
	if stays(a) {
		if p != q {
			return fmt.Errorf("%s: another %s", path, a.Type())
		}
		return nil
	}
	if o, ok := a.Interface().(*Own); ok {
		if err := c.variable(p, q, path); err != nil {
			return err
		}
		if !reflect.DeepEqual(o, b.Interface()) {
			return fmt.Errorf("%s: %v became %v", path, o, b)
		}
		return nil
	}
	if a.Type().Elem().Size() == 0 {
		return nil
	}
	if !c.enter(a.Type().Elem(), p, 1) {
		return c.again(p, q, path)
	}
	if c.open[p] {
		return c.behind(func() error { return c.value(a.Elem(), b.Elem(), path+"→") })
	}
	c.open[p] = true
	defer delete(c.open, p)
	return c.behind(func() error { return c.value(a.Elem(), b.Elem(), path+"→") })
}

// again compares two objects of which the first was met before: their beginnings
// tell.
func (c *comparer) again(p, q unsafe.Pointer, path string) error {
	if to, ok := c.to[p]; ok && to != q {
		return fmt.Errorf("%s: is another object than before", path)
	}
	return nil
}

func (c *comparer) slice(a, b reflect.Value, path string) error {
	n, size := a.Len(), a.Type().Elem().Size()
	if n != b.Len() {
		return fmt.Errorf("%s: %d elements became %d", path, n, b.Len())
	}
	if size == 0 {
		return nil
	}
	// The variables beyond the length are not compared, but their places are.
	if b.Cap() > a.Cap() {
		return fmt.Errorf("%s: can grow farther than it could", path)
	}
	for i := n; i < a.Cap(); i++ {
		var q unsafe.Pointer
		if i < b.Cap() {
			q = unsafe.Add(b.UnsafePointer(), uintptr(i)*size)
		}
		p := unsafe.Add(a.UnsafePointer(), uintptr(i)*size)
		c.beyond[p] = append(c.beyond[p], q)
	}
	if n == 0 {
		return nil
	}
	if !c.enter(a.Type().Elem(), a.UnsafePointer(), n) {
		return c.again(a.UnsafePointer(), b.UnsafePointer(), path)
	}
	for i := range n {
		if _, ok := c.to[unsafe.Add(a.UnsafePointer(), uintptr(i)*size)]; ok {
			c.Interior = true
		}
	}
	return c.behind(func() error { return c.elements(a, b, n, path) })
}

func (c *comparer) elements(a, b reflect.Value, n int, path string) error {
	for i := range n {
		if err := c.value(a.Index(i), b.Index(i), path+"[]"); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparer) mapping(a, b reflect.Value, path string) error {
	if a.Len() != b.Len() {
		return fmt.Errorf("%s: %d entries became %d", path, a.Len(), b.Len())
	}
	if err := c.variable(a.UnsafePointer(), b.UnsafePointer(), path); err != nil {
		return err
	}
	if !c.enter(a.Type(), a.UnsafePointer(), -1) {
		return nil
	}
	for i := a.MapRange(); i.Next(); {
		key := i.Key()
		if err := depth.Key.Check(key.Interface()); err != nil {
			return fmt.Errorf("%s: a key: %w", path, err)
		}
		other := b.MapIndex(key)
		if byAddress(key.Type()) { // the only one
			j := b.MapRange()
			j.Next()
			if err := c.copies(key, j.Key(), path+"[key]"); err != nil {
				return err
			}
			other = j.Value()
		}
		if !other.IsValid() {
			return fmt.Errorf("%s: no key %v", path, key)
		}
		if err := c.copies(i.Value(), other, path+"["+fmt.Sprint(key)+"]"); err != nil {
			return err
		}
	}
	return nil
}

// isWhole reports whether a t is compared as it is, and not by its parts.
func isWhole(t reflect.Type) bool {
	return t == reflect.TypeFor[time.Time]() || t.PkgPath() == "unique"
}

// byAddress reports whether keys of type t are told apart by addresses.
func byAddress(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return true
	case reflect.Array:
		return byAddress(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !isWhole(t) && byAddress(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// isCommon reports whether a clone has that field of the struct t in common with its original:
// what a regexp was compiled to is never written to.
func isCommon(t reflect.Type, field string) bool {
	return t == reflect.TypeFor[regexp.Regexp]() && (field == "prog" || field == "onepass" || field == "prefixBytes")
}

// stays reports whether the pointer v stays itself.
func stays(v reflect.Value) bool {
	x := v.Interface()
	switch x.(type) {
	case *time.Location, reflect.Type:
		return true
	}
	for _, s := range sentinels {
		if x == any(s) {
			return true
		}
	}
	return false
}

// Spoil modifies all that the value leads to that v, a pointer, points to.
func Spoil(v reflect.Value) {
	s := spoiler{met: map[reference]bool{}}
	s.later(v.Elem(), false)
	for len(s.todo) > 0 {
		last := len(s.todo) - 1
		next := s.todo[last]
		s.todo = s.todo[:last]
		s.value(next.v, next.apart)
	}
	for _, v := range s.vars {
		v.SetZero()
	}
	for _, m := range s.maps {
		m.Clear()
	}
}

// A spoiler collects what can be modified.
type spoiler struct {
	met  map[reference]bool
	vars []reflect.Value
	maps []reflect.Value
	todo []found
}

// What was found is apart if it is a copy, which nobody else sees.
type found struct {
	v     reflect.Value
	apart bool
}

func (s *spoiler) later(v reflect.Value, apart bool) { s.todo = append(s.todo, found{v, apart}) }

func (s *spoiler) first(t reflect.Type, p unsafe.Pointer, n int) bool {
	r := reference{t, p, n}
	was := s.met[r]
	s.met[r] = true
	return !was
}

func (s *spoiler) value(v reflect.Value, apart bool) {
	v = writable(v)
	if !apart {
		s.vars = append(s.vars, v)
	}
	switch v.Kind() {
	case reflect.Struct:
		if isWhole(v.Type()) {
			return
		}
		for i := range v.NumField() {
			if !isCommon(v.Type(), v.Type().Field(i).Name) {
				s.later(v.Field(i), apart)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			s.later(v.Index(i), apart)
		}
	case reflect.Slice:
		if v.Len() > 0 && s.first(v.Type().Elem(), v.UnsafePointer(), v.Len()) {
			for i := range v.Len() {
				s.later(v.Index(i), false)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() && !stays(v) && s.first(v.Type().Elem(), v.UnsafePointer(), 1) {
			s.later(v.Elem(), false)
		}
	case reflect.Interface:
		if !v.IsNil() {
			s.later(copyOf(v.Elem()), true)
		}
	case reflect.Map:
		if !v.IsNil() && s.first(v.Type(), v.UnsafePointer(), -1) {
			s.maps = append(s.maps, v)
			for i := v.MapRange(); i.Next(); {
				s.later(copyOf(i.Key()), true)
				s.later(copyOf(i.Value()), true)
			}
		}
	}
}
