//lint:file-ignore U1000 Fields are there to be found by reflection.

package snapshottest

import (
	"container/list"
	"container/ring"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/url"
	"reflect"
	"strconv"
	"time"

	"github.com/cowstore/cowstore/snapshot/clone"
)

// Types of all sorts. Those with a parameter are there for each of the arguments
// in list.go.

type (
	Count   int
	Ratio   float64
	Label   string
	Flags   [3]bool
	Bytes   []byte
	Names   []string
	Index   map[string]int
	Set     map[Label]struct{}
	Tree    map[string]Tree
	Nested  []Nested
	Chain   *Chain
	Anys    []any
	Object  map[string]any
	Handler func()
	Signal  chan int
)

func (c *Count) Add(n int)        { *c += Count(n) }
func (l Label) String() string    { return strconv.Quote(string(l)) }
func (n Names) First() string     { return n[0] }
func (i Index) Has(k string) bool { _, ok := i[k]; return ok }

// A Leaf has nothing but values in it.
type Leaf struct {
	n    int8
	at   time.Time
	Name string
	on   bool
	r    [2]Ratio
	_    struct{}
	u    uint16
}

func (l *Leaf) Rename(s string) { l.Name = s }

// A Base is embedded in others.
type Base struct {
	id   Count
	tags Names
	Leaf
}

func (b *Base) ID() Count { return b.id }

// An Entity embeds by value and by pointer.
type Entity struct {
	Base
	*Leaf2
	owner *Entity
	parts []Entity
	first *Base
	attrs Object
}

type Leaf2 struct {
	x, y int32
	p    *int32
}

// A Buffer refers to its own memory.
type Buffer struct {
	buf  [16]byte
	cur  *byte
	rest []byte
	over Bytes
}

// A Matrix has rows that are parts of its data.
type Matrix struct {
	data []float64
	rows [][]float64
	grid [2][3]float64
	cell *float64
}

// A Queue is a list whose anchor is in it, as container/list has it.
type Queue struct {
	anchor Waiter
	n      int
	last   *Waiter
}

type Waiter struct {
	next, prev *Waiter
	queue      *Queue
	what       any
}

// A Doc is like decoded JSON, with a parent.
type Doc struct {
	Fields  map[string]any
	List    []any
	Parent  *Doc
	Kids    []*Doc
	By      map[string]*Doc
	err     error
	text    fmt.Stringer
	Handler Handler
	signal  Signal
}

// Std is types of the standard library.
type Std struct {
	list  *list.List
	value list.List
	ring  *ring.Ring
	big   *big.Int
	rat   big.Rat
	user  *url.Userinfo
	zone  *time.Location
	typ   reflect.Type
	err   error
	dur   time.Duration
}

// A Failure is an error that can be modified.
type Failure struct {
	Codes []int
	cause error
}

func (f *Failure) Error() string { return "failure" }

// A Sentinel is one that is compared by its pointer; one is named.
type Sentinel struct{ text string }

func (s *Sentinel) Error() string { return s.text }

var sentinels = []error{io.EOF, errors.New("sentinel"), clone.Sentinel(&Sentinel{"mine"}), fmt.Errorf("more: %w", io.EOF)}

// An Own clones itself.
type Own struct {
	n    int
	data []int
}

func (o *Own) Clone() *Own {
	c := &Own{n: o.n}
	if o.data != nil {
		c.data = append(make([]int, 0, len(o.data)), o.data...)
	}
	return c
}

// Types with a parameter.

// A Node is one of a list that goes both ways.
type Node[T any] struct {
	next, prev *Node[T]
	value      T
	at         *T
}

func (n *Node[T]) Next() *Node[T] { return n.next }

// A Ring is a ring buffer.
type Ring[T any] struct {
	buf        []T
	head, tail []T
	cur        *T
	n          int
}

// An Arena hands out parts of its pages.
type Arena[T any] struct {
	pages [][]T
	free  []*T
	page  [4]T
	any   any
}

// A Pair has two of a kind.
type Pair[T any] struct{ a, b T }

// A Both has a pointer to the pair next to it.
type Both[T any] struct {
	Pair[T]
	pair *Pair[T]
	one  *T
}

// An Optional is a pointer, and one to that.
type Optional[T any] struct {
	p  *T
	pp **T
}

// A Table is keyed and ordered.
type Table[T any] struct {
	rows  map[string]T
	order []T
	byRow map[int]*T
	last  map[Label][]T
}

// A Heap is a slice, with methods, of structs.
type Heap[T any] []Pair[T]

func (h Heap[T]) Len() int { return len(h) }

// A Bag is a map of slices.
type Bag[T any] map[string][]T

// A Deep has several levels.
type Deep[T any] struct {
	level [2][2]Pair[*T]
	inner struct {
		list  []struct{ v T }
		point *struct{ v T }
	}
	self *Deep[T]
	subs []Deep[T]
}

// A Box has a T behind an interface.
type Box[T any] struct {
	v     any
	vs    []any
	plain T
	to    *any
}

// A Network has nodes that know each other.
type Network[T any] struct {
	nodes []Vertex[T]
	start *Vertex[T]
	edges map[string]*Vertex[T]
}

type Vertex[T any] struct {
	to    []*Vertex[T]
	graph *Network[T]
	value T
}

// An Array is an array.
type Array[T any] [3]T

// A Window is slices of slices.
type Window[T any] struct {
	all  []T
	view [3][]T
	subs [][][]T
}

// A Keyed is keyed by what it holds.
type Keyed[T any] struct {
	m    map[any]T
	ptr  map[*int]T
	this *Keyed[T]
}

// A Trie branches.
type Trie[T any] struct {
	kids map[byte]*Trie[T]
	leaf []T
	up   *Trie[T]
}

// A Linked embeds a node by value, whose neighbours can be in others.
type Linked[T any] struct {
	Node[T]
	head *Node[T]
	list []Node[T]
}

// A Single is a struct around one pointer.
type Single[T any] struct{ p *T }

// A Renamed is converted from another.
type Renamed[T any] Pair[T]

// A Twin has an object of two types.
type Twin[T any] struct {
	a *Pair[T]
	b *Renamed[T]
}

// A Knot is in what it leads to, first as itself and then as an array.
type Knot struct {
	to   *Tied
	many *struct{ knots [2]Knot }
	vals []int
}

type Tied struct {
	n    int
	knot Knot
}

// A Grid leads to arrays of itself.
type Grid [2]struct {
	n     int
	grids *struct{ grid Grid }
}
