package cow

import (
	"encoding/hex"
	"fmt"
	"iter"
	"reflect"
	"strconv"

	"github.com/cowstore/cowstore/cow/internal/line"
	"github.com/cowstore/cowstore/cow/internal/look"
)

// Pages about a DB see tables without their types: this is how.

func init() { look.For = func(db any) look.DB { return looker{db.(*DB)} } }

// A looker is a look.DB.
type looker struct{ db *DB }

func (l looker) Tables() (all []look.Table) {
	for _, t := range l.db.catalog().all() {
		all = append(all, t.look(l.db))
	}
	return all
}

func (l looker) Held(version uint64) int { return l.db.line.HeldBy(version) }

// A tableLook is a look.Table.
type tableLook[K comparable, V any] struct {
	def *tableDef[K, V]
	db  *DB
}

func (d *tableDef[K, V]) look(db *DB) look.Table { return tableLook[K, V]{d, db} }

func (t tableLook[K, V]) Name() string { return t.def.name }

func (t tableLook[K, V]) Indexes() []string { return t.def.state(t.db).list().Names() }

func (t tableLook[K, V]) In(s any) look.Map {
	return mapLook[K, V]{t, t.def.content((*line.Root)(s.(*Snapshot)))}
}

// A mapLook is a look.Map.
type mapLook[K comparable, V any] struct {
	table tableLook[K, V]
	m     *Map[K, V]
}

func (l mapLook[K, V]) Len() int { return l.m.Len() }

// row returns a row, nil for the zero one.
func (l mapLook[K, V]) row(r Row[K, V]) *look.Row {
	if r == (Row[K, V]{}) {
		return nil
	}
	text, keyed := l.table.def.keyText(r.Key())
	return &look.Row{Key: text, Keyed: keyed, Revision: r.Revision(), Bytes: builder[K, V]{}.Size(r), Type: func() string { return fmt.Sprintf("%T", r.Shared()) }, Value: func() any { return r.Value() }}
}

func (l mapLook[K, V]) Row(key look.Key) (look.Row, bool) {
	r, ok := l.m.Row(key.(K))
	if !ok {
		return look.Row{}, false
	}
	return *l.row(r), true
}

func (l mapLook[K, V]) Rows(after look.Key, back bool) iter.Seq[look.Row] {
	var key *K
	if k, ok := after.(K); ok {
		key = &k
	}
	return l.rows(builder[K, V]{}.RowsFrom(l.m, key, back))
}

func (l mapLook[K, V]) rows(all iter.Seq[Row[K, V]]) iter.Seq[look.Row] {
	return func(yield func(look.Row) bool) {
		for r := range all {
			if !yield(*l.row(r)) {
				return
			}
		}
	}
}

func (l mapLook[K, V]) ByIndex(name string, skip int) (rows iter.Seq[look.Row], n int, ok bool) {
	all, n, ok := l.table.def.state(l.table.db).list().Rows(l.m, name, skip)
	if !ok {
		return nil, 0, false
	}
	return l.rows(all), n, true
}

func (l mapLook[K, V]) Diff(older look.Map) iter.Seq2[*look.Row, *look.Row] {
	return func(yield func(was, is *look.Row) bool) {
		for c := range l.m.Diff(older.(mapLook[K, V]).m) {
			was, is := c.Rows()
			if !yield(l.row(was), l.row(is)) {
				return
			}
		}
	}
}

// keyText returns a text for a key, and whether it is the key's own: strings are themselves,
// numbers and booleans as they are written, and others the bytes that they are stored by, in
// hexadecimal digits.
func (d *tableDef[K, V]) keyText(key K) (text string, own bool) {
	switch v := reflect.ValueOf(&key).Elem(); v.Kind() { // that of K, which may be an interface
	case reflect.String:
		return v.String(), true
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(v.Uint(), 10), true
	}
	if d.keysErr != nil {
		return fmt.Sprintf("%.1000v", key), false
	}
	return hex.EncodeToString(d.keys.Append(nil, key)), true
}

// Key is the reverse of keyText.
func (l mapLook[K, V]) Key(text string) (look.Key, bool) {
	var key K
	v := reflect.ValueOf(&key).Elem()
	var err error
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(text == "true")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(text, 10, v.Type().Bits())
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		var n uint64
		n, err = strconv.ParseUint(text, 10, v.Type().Bits())
		v.SetUint(n)
	default:
		var b []byte
		if b, err = hex.DecodeString(text); err == nil && l.table.def.keysErr == nil {
			key, err = l.table.def.keys.Decode(b)
		}
	}
	if err != nil {
		return nil, false
	}
	is, own := l.table.def.keyText(key) // so that each key has one text
	return key, own && is == text
}
