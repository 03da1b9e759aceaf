package sound

import (
	"fmt"
	"reflect"
)

// view calls the methods of a view, and looks at what comes back.
func (s *search) view(v reflect.Value, path string, depth int) {
	key := keyOf(v)
	if s.views[key] {
		return
	}
	if depth > deepest || len(s.views) > mostViews {
		s.Deep = true
		return
	}
	s.views[key] = true
	s.Views++
	if !isValid(v) {
		return // an accessor would panic, as one of a nil pointer
	}
	c := caller{s, v.Addr(), path, depth + 1, nil}
	c.keys = c.find()
	for i := range c.ptr.NumMethod() {
		c.method(i)
	}
}

// isValid reports whether the view v shows something.
func isValid(v reflect.Value) bool {
	valid, ok := v.Addr().Interface().(interface{ Valid() bool })
	return !ok || valid.Valid()
}

// A caller calls the methods of one view.
type caller struct {
	*search
	ptr   reflect.Value // to the view
	path  string
	depth int
	keys  []reflect.Value
}

// find returns the keys that the view tells of, if any.
func (c caller) find() []reflect.Value {
	for _, name := range []string{"Keys", "All"} {
		m := c.ptr.MethodByName(name)
		if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 || !isIterator(m.Type().Out(0)) {
			continue
		}
		var keys []reflect.Value
		each(m.Call(nil)[0], func(args []reflect.Value) bool {
			keys = append(keys, args[0])
			return true
		})
		return keys
	}
	return nil
}

// length returns what the method Len says, -1 if there is none.
func (c caller) length() int {
	if l, ok := c.ptr.Interface().(interface{ Len() int }); ok {
		return l.Len()
	}
	return -1
}

var intType = reflect.TypeFor[int]()

// method calls a method with all arguments that it can have, or notes that it is
// skipped.
func (c caller) method(i int) {
	m := c.ptr.Type().Method(i)
	f := c.ptr.Method(i)
	t := f.Type()
	n := c.length()
	name := c.ptr.Type().Elem().Name() + "." + m.Name
	c.Called[name] = true
	switch {
	case m.Name == "ViewOf": // makes a view of what one has anyway
	case t.NumIn() == 0:
		c.call(m.Name, f)
	case m.Name == "At" && n >= 0 && t.NumIn() == 1 && t.In(0) == intType:
		for i := range n {
			c.call(m.Name, f, reflect.ValueOf(i))
		}
	case m.Name == "Sub" && n >= 0 && t.NumIn() == 2 && t.In(0) == intType && t.In(1) == intType:
		c.call(m.Name, f, reflect.ValueOf(0), reflect.ValueOf(n))
		c.call(m.Name, f, reflect.ValueOf(n/2), reflect.ValueOf(n))
	case m.Name == "AppendTo" && t.NumIn() == 1 && t.In(0).Kind() == reflect.Slice:
		c.call(m.Name, f, reflect.Zero(t.In(0)))
		c.call(m.Name, f, reflect.MakeSlice(t.In(0), 0, 100))
	case m.Name == "Equal" && t.NumIn() == 1 && t.In(0) == c.ptr.Type().Elem():
		c.call(m.Name, f, c.ptr.Elem())
	case m.Name == "Equal" && t.NumIn() == 1:
		c.call(m.Name, f, reflect.Zero(t.In(0)))
	case t.NumIn() == 1 && !t.IsVariadic() && len(c.keys) > 0 && c.keys[0].Type() == t.In(0):
		for _, k := range c.keys {
			c.call(m.Name, f, k)
		}
	case t.NumIn() == 1 && (m.Name == "Get" || m.Name == "Has" || m.Name == "Contains"):
		// There are no keys.
	case samples(t) != nil:
		c.call(m.Name, f, samples(t)...)
	default:
		delete(c.Called, name)
		c.Skipped = append(c.Skipped, name)
	}
}

// samples returns arguments for a method of type t, nil if they are not all numbers and
// texts.
func samples(t reflect.Type) (args []reflect.Value) {
	for i := range t.NumIn() {
		v := reflect.New(t.In(i)).Elem()
		switch {
		case t.IsVariadic():
			return nil
		case v.Kind() == reflect.String:
			v.SetString("a")
		case v.CanInt():
			v.SetInt(1)
		default:
			return nil
		}
		args = append(args, v)
	}
	return args
}

// call calls f and looks at the results.
func (c caller) call(name string, f reflect.Value, args ...reflect.Value) {
	path := c.path + "." + name + "()"
	defer func() {
		if r := recover(); r != nil {
			c.leak(fmt.Sprintf("%s panics: %v", path, r))
		}
	}()
	for _, r := range f.Call(args) {
		c.Results++
		c.result(copyOf(r), path, c.depth)
	}
}

// isIterator reports whether t is an iter.Seq or an iter.Seq2.
func isIterator(t reflect.Type) bool {
	if t.Kind() != reflect.Func || t.NumIn() != 1 || t.NumOut() != 0 || t.In(0).Kind() != reflect.Func {
		return false
	}
	yield := t.In(0)
	return yield.NumIn() <= 2 && yield.NumOut() == 1 && yield.Out(0).Kind() == reflect.Bool
}

// each calls f for all that the iterator seq yields, until f returns false.
func each(seq reflect.Value, f func(args []reflect.Value) bool) {
	seq.Call([]reflect.Value{reflect.MakeFunc(seq.Type().In(0), func(args []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(f(args)).Convert(seq.Type().In(0).Out(0))}
	})})
}

// mostYielded is after how many an iterator is stopped.
const mostYielded = 1000

// iterate looks at what an iterator yields, and demands that it can be stopped.
func (s *search) iterate(seq reflect.Value, path string, depth int) {
	n := 0
	each(seq, func(args []reflect.Value) bool {
		n++
		for _, a := range args {
			s.Results++
			s.result(copyOf(a), path, depth)
		}
		return n < mostYielded
	})
	calls := 0
	defer func() {
		if r := recover(); r != nil || calls > 1 {
			s.leak(fmt.Sprintf("%s goes on when it is stopped", path))
		}
	}()
	each(seq, func([]reflect.Value) bool {
		calls++
		return false
	})
}
