package memorytest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"
)

// A model is a backend that is right: a mutex, deep copies, and everything else the
// slow way. What is wrong with the others, in bugs_test.go, is all that they change.
type model struct {
	mu      sync.RWMutex
	in, out func(any) any         // copy what is stored, and what is read
	join    func([]string) string // one string for a space
	tables  tables
}

type tables struct {
	rows    map[string]map[string]row
	vectors map[string]map[string]vector
	last    uint64 // revision
}

type row struct {
	value    any
	revision uint64
}

type vector struct {
	at       []float32
	metadata map[string]any
}

func newModel() *model {
	return &model{in: deepCopy, out: deepCopy, join: func(s []string) string { return fmt.Sprintf("%q", s) }, tables: tables{
		rows: map[string]map[string]row{}, vectors: map[string]map[string]vector{},
	}}
}

func (t tables) clone() tables {
	c := tables{map[string]map[string]row{}, map[string]map[string]vector{}, t.last}
	for s, rows := range t.rows {
		c.rows[s] = maps.Clone(rows)
	}
	for s, vectors := range t.vectors {
		c.vectors[s] = maps.Clone(vectors)
	}
	return c
}

// row returns a row under the lock.
func (m *model) row(space []string, key string) (row, bool) {
	r, ok := m.tables.rows[m.join(space)][key]
	return r, ok
}

// set stores a value under the lock.
func (m *model) set(space []string, key string, v any) {
	s := m.join(space)
	if m.tables.rows[s] == nil {
		m.tables.rows[s] = map[string]row{}
	}
	m.tables.last++
	m.tables.rows[s][key] = row{v, m.tables.last}
}

func (m *model) Put(space []string, key string, v any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(space, key, m.in(v))
	return nil
}

func (m *model) Get(space []string, key string) (any, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r, ok := m.row(space, key)
	return m.out(r.value), ok, nil
}

func (m *model) Delete(space []string, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.tables.rows[m.join(space)], key)
	return nil
}

func (m *model) List(space []string) ([]string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Collect(maps.Keys(m.tables.rows[m.join(space)])), nil
}

func (m *model) Insert(space []string, key string, v any) (bool, error) {
	return m.SetIf(space, key, 0, v)
}

var errAbsent = errors.New("absent")

func (m *model) Modify(space []string, key string, f func(any) (any, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.row(space, key)
	if !ok {
		return errAbsent
	}
	v, err := f(m.out(r.value))
	if err != nil {
		return err
	}
	m.set(space, key, m.in(v))
	return nil
}

func (m *model) Take(space []string, key string) (any, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.row(space, key)
	delete(m.tables.rows[m.join(space)], key)
	return m.out(r.value), ok, nil
}

func (m *model) Revision(space []string, key string) (uint64, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r, _ := m.row(space, key)
	return r.revision, nil
}

func (m *model) SetIf(space []string, key string, revision uint64, v any) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, _ := m.row(space, key); r.revision != revision {
		return false, nil
	}
	m.set(space, key, m.in(v))
	return true, nil
}

func (m *model) DeleteIf(space []string, key string, revision uint64) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, _ := m.row(space, key); r.revision != revision {
		return false, nil
	}
	delete(m.tables.rows[m.join(space)], key)
	return true, nil
}

func (m *model) Batch(f func(tx Backend) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	tx := &model{in: m.in, out: m.out, join: m.join, tables: m.tables.clone()}
	if err := f(tx); err != nil {
		return err
	}
	m.tables = tx.tables
	return nil
}

// copy returns a model of what m has now.
func (m *model) copy() *model {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return &model{in: m.in, out: m.out, join: m.join, tables: m.tables.clone()}
}

func (m *model) Snapshot() (Snapshot, error) { return m.copy(), nil }

func (m *model) PutVector(space []string, key string, at []float32, metadata map[string]any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.join(space)
	if m.tables.vectors[s] == nil {
		m.tables.vectors[s] = map[string]vector{}
	}
	m.tables.vectors[s][key] = vector{m.in(at).([]float32), m.in(metadata).(map[string]any)}
	return nil
}

func (m *model) GetVector(space []string, key string) ([]float32, map[string]any, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	v, ok := m.tables.vectors[m.join(space)][key]
	if !ok {
		return nil, nil, false, nil
	}
	return m.out(v.at).([]float32), m.out(v.metadata).(map[string]any), true, nil
}

func (m *model) SearchVector(space []string, query []float32, k int) ([]Neighbor, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	vectors := m.tables.vectors[m.join(space)]
	var hits []Neighbor
	for _, key := range nearest(vectors, query, k) {
		v := vectors[key]
		hits = append(hits, Neighbor{key, m.out(v.at).([]float32), m.out(v.metadata).(map[string]any)})
	}
	return hits, nil
}

// nearest returns the keys of the k nearest vectors.
func nearest(vectors map[string]vector, query []float32, k int) []string {
	distance := func(key string) (sum float64) {
		for i, x := range vectors[key].at {
			sum += math.Pow(float64(x-query[i]), 2)
		}
		return sum
	}
	keys := slices.SortedFunc(maps.Keys(vectors), func(a, b string) int {
		if d := distance(a) - distance(b); d != 0 {
			return int(math.Copysign(1, d))
		}
		return 0
	})
	return keys[:min(k, len(keys))]
}

// deepCopy copies everything that v reaches.
func deepCopy(v any) any {
	if v == nil {
		return nil
	}
	return deepCopyOf(reflect.ValueOf(v)).Interface()
}

func deepCopyOf(v reflect.Value) reflect.Value {
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return v
	}
	c := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			c.Set(deepCopyOf(v.Elem()))
		}
	case reflect.Pointer:
		c.Set(reflect.New(v.Type().Elem()))
		if s, ok := v.Interface().(*sealed); ok {
			c.Set(reflect.ValueOf(&sealed{slices.Clone(s.list)}))
			break
		}
		c.Elem().Set(deepCopyOf(v.Elem()))
	case reflect.Slice:
		if !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			c.Index(i).Set(deepCopyOf(v.Index(i)))
		}
	case reflect.Map:
		if !v.IsNil() {
			c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		}
		for k, e := range v.Seq2() {
			c.SetMapIndex(k, deepCopyOf(e))
		}
	case reflect.Struct:
		if h, ok := v.Interface().(interface{ Clone() hooked }); ok {
			return reflect.ValueOf(h.Clone())
		}
		c.Set(v)
		for i := range v.NumField() {
			if f := c.Field(i); f.CanSet() {
				f.Set(deepCopyOf(v.Field(i)))
			}
		}
	default:
		return v
	}
	return c
}

func TestABackendThatIsRightPasses(t *testing.T) {
	t.Parallel() // it waits
	Test(t, func(testing.TB) Backend { return newModel() })
}

// What has no capability passes too: all but the tests of Put and Get are skipped.
func TestABackendThatCanOnlyPutAndGetPasses(t *testing.T) {
	Test(t, func(testing.TB) Backend { return struct{ Backend }{newModel()} })
}
