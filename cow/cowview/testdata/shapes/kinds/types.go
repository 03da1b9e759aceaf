// Package kinds has a field of every kind.
package kinds

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Slices,Maps,Pointers,Others,Embeds,Own,OwnPtr,Locked,Lockers,Owners,List,Single,Twice,Parts

import (
	"bytes"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Tags, Attrs and Ptr are defined types that refer to memory.
type (
	Tags  []string
	Attrs map[string]int
	Ptr   *Leaf
	Tree  []Tree
	Func  func([]int) []int
)

// Leaf can be modified.
type Leaf struct {
	S []int
}

// Flat cannot.
type Flat struct {
	A int
	B string
	C chan []int
}

// Slices are slices.
type Slices struct {
	Flat     []Flat
	Leaf     []Leaf
	Leaves   []*Leaf
	Tags     Tags
	TagsList []Tags
	Tree     Tree
	PP       []**Leaf
	Ptrs     []Ptr
	Bytes    [][]byte
	IPs      []net.IP
	Times    []*time.Time
	Raw      json.RawMessage
	Any      []any
	Structs  []struct{ A []int }
	Arrays   [][2][]int
	Flats    []*Flat
}

// Maps are maps.
type Maps struct {
	Flat   map[int]Flat
	Leaf   map[string]Leaf
	Leaves map[string]*Leaf
	Tags   map[string]Tags
	Attrs  Attrs
	List   []Attrs
	Header http.Header
	Head   map[string]http.Header
	Deep   map[string]map[string][]*Leaf
	Any    map[string]any
	ByPtr  map[*Leaf]string
	ByAny  map[any]string
	Set    map[string]struct{}
}

// Pointers are pointers.
type Pointers struct {
	Int   *int
	Flat  *Flat
	Leaf  *Leaf
	Ptr   Ptr
	PP    **Leaf
	Slice *[]int
	Map   *map[string]Tags
	Tags  *Tags
	Time  *time.Time
	Zone  *time.Location
	Re    *regexp.Regexp
	Any   *any
	Arr   *[3]int
	ArrS  *[3][]int
	Self  *Pointers
}

// Others are all other kinds.
type Others struct {
	Arr     [3]int
	ArrS    [3][]int
	ArrL    [2]Leaf
	Func    Func
	Chan    chan []int
	Typ     reflect.Type
	Err     error
	Buf     bytes.Buffer
	Anon    struct{ A []int }
	AnonF   struct{ A int }
	IPNet   net.IPNet
	Empty   *struct{}
	Own     *ownError
	_       int
	private map[string][]int
}

type ownError struct{ s string }

func (e *ownError) Error() string { return e.s }

var _ = &ownError{}

// Base is embedded.
type Base struct {
	ID   string
	List []int
	Same int
}

// Meta is embedded by a pointer.
type Meta struct {
	Labels map[string]string
	Same   int
}

// Embeds embeds.
type Embeds struct {
	Base
	*Meta
	http.Cookie
	time.Time
	fmtStringer
	Name string
}

type fmtStringer interface{ String() string }

// Own has a Clone by hand.
type Own struct{ S []int }

// Clone returns a deep copy.
func (o Own) Clone() Own { return Own{slices.Clone(o.S)} }

// OwnPtr has a Clone by hand on its pointer.
type OwnPtr struct{ S []int }

// Clone returns a deep copy.
func (o *OwnPtr) Clone() *OwnPtr { return &OwnPtr{slices.Clone(o.S)} }

// Locked has a Clone by hand, since it holds a lock.
type Locked struct {
	mu sync.Mutex
	M  map[string]int
}

// Clone returns a deep copy.
func (l *Locked) Clone() *Locked {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Locked{M: maps.Clone(l.M)}
}

// Owners hold some.
type Owners struct {
	A []Own
	B map[string]Own
	C *OwnPtr
	D []*OwnPtr
	E OwnPtr
	F [2]Own
}

// Lockers hold what holds locks.
type Lockers struct {
	List []*Locked
	By   map[string]*Locked
}
