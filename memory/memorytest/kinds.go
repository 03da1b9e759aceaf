package memorytest

import (
	"encoding/json"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// A kind is a sort of value that can be modified after it was stored.
type kind struct {
	name  string
	must  bool // no backend may refuse it
	typed bool // it has more than JSON shows
	fresh func() any
}

type profile struct {
	Name  string
	Tags  []string
	Facts map[string]int
	Inner struct{ Raw []byte }
	Next  *profile
}

func newProfile(name string) profile {
	p := profile{Name: name, Tags: []string{"a", "b"}, Facts: map[string]int{"n": 1}}
	p.Inner.Raw = []byte("raw")
	return p
}

// A sealed cannot be read or modified from outside but by its methods.
type sealed struct{ list []string }

func kinds() []kind {
	return []kind{
		{name: "map[string]any", must: true, fresh: func() any { return map[string]any{"a": "x", "b": true} }},
		{name: "[]any", must: true, fresh: func() any { return []any{"x", true, nil} }},
		{name: "nested", must: true, fresh: func() any {
			return map[string]any{"list": []any{"x", map[string]any{"deep": []any{"y", map[string]any{"deeper": "z"}}}}}
		}},
		{name: "[]string", fresh: func() any { return []string{"a", "b"} }},
		{name: "[]byte", fresh: func() any { return []byte("bytes") }},
		{name: "json.RawMessage", fresh: func() any { return json.RawMessage(`{"a":[1]}`) }},
		{name: "[]float32", fresh: func() any { return []float32{0.5, 0.25} }},
		{name: "map[string]string", fresh: func() any { return map[string]string{"k": "v"} }},
		{name: "map[string][]string", fresh: func() any { return map[string][]string{"k": {"v", "w"}} }},
		{name: "[]map[string]any", fresh: func() any { return []map[string]any{{"a": "x"}, {"b": []any{"y"}}} }},
		{name: "[][]int", fresh: func() any { return [][]int{{1, 2}, {3}} }},
		{name: "struct", fresh: func() any { return newProfile("struct") }},
		{name: "pointer", fresh: func() any { p := newProfile("pointer"); return &p }},
		{name: "pointers", fresh: func() any {
			p, next := newProfile("first"), newProfile("next")
			p.Next = &next
			return []*profile{&p}
		}},
		{name: "typed in untyped", fresh: func() any {
			p := newProfile("inside")
			return map[string]any{"strings": []string{"a"}, "bytes": []byte("b"), "map": map[string]string{"k": "v"}, "struct": &p, "list": []any{[]string{"c"}}}
		}},
		{name: "unexported fields", typed: true, fresh: func() any { return &sealed{[]string{"a"}} }},
	}
}

// spoil writes to everything that v reaches.
func spoil(v any) { spoilValue(reflect.ValueOf(v)) }

func spoilValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		spoilValue(v.Elem())
	case reflect.Pointer:
		if s, ok := v.Interface().(*sealed); ok && s != nil {
			spoil(s.list)
			s.list = append(s.list, "spoiled")
			return
		}
		if !v.IsNil() {
			spoilValue(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			spoilElem(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				spoilElem(v.Field(i))
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			spoilValue(v.MapIndex(k))
			v.SetMapIndex(k, spoiled(v.Type().Elem()))
		}
		if v.Type().Key().Kind() == reflect.String && !v.IsNil() {
			v.SetMapIndex(reflect.ValueOf("spoiled").Convert(v.Type().Key()), spoiled(v.Type().Elem()))
		}
	}
}

// spoilElem spoils what v reaches, and then v, if it can be set.
func spoilElem(v reflect.Value) {
	spoilValue(v)
	if v.CanSet() {
		v.Set(spoiled(v.Type()))
	}
}

// spoiled returns a value that is in none of the kinds.
func spoiled(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.String:
		v.SetString("spoiled")
	case reflect.Interface:
		v.Set(reflect.ValueOf("spoiled"))
	case reflect.Int:
		v.SetInt(-999)
	case reflect.Uint8:
		v.SetUint('!')
	case reflect.Float32, reflect.Float64:
		v.SetFloat(-999)
	case reflect.Bool:
		v.SetBool(false)
	}
	return v
}

// A hooked is a value that calls the test back when a backend copies or encodes
// it, so that the test can do something in the middle of what the backend does.
// It holds no function itself, for a backend could not copy that.
type hooked struct{ ID, Hook int }

var (
	hooks    sync.Map // int → func(id int)
	lastHook atomic.Int64
)

// hook has f called by the hooked values of the number that it returns, until
// stop is called.
func hook(f func(id int)) (number int, stop func()) {
	number = int(lastHook.Add(1))
	hooks.Store(number, f)
	return number, func() { hooks.Delete(number) }
}

func (h hooked) call() {
	if f, ok := hooks.Load(h.Hook); ok {
		f.(func(id int))(h.ID)
	}
}

// Clone returns h.
func (h hooked) Clone() hooked {
	h.call()
	return h
}

// MarshalJSON returns what it would without this method.
func (h hooked) MarshalJSON() ([]byte, error) {
	h.call()
	type plain hooked
	return json.Marshal(plain(h))
}

// meeting returns a function that returns when it was called with n different ids,
// or a grace after the first: from then on at once.
func meeting(n int, grace time.Duration) func(id int) {
	var mu sync.Mutex
	ids := map[int]bool{}
	over := make(chan struct{})
	end := sync.OnceFunc(func() { close(over) })
	return func(id int) {
		mu.Lock()
		if len(ids) == 0 {
			time.AfterFunc(grace, end)
		}
		if ids[id] = true; len(ids) == n {
			end()
		}
		mu.Unlock()
		<-over
	}
}
