// Package other has views of its own.
package other

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Config,Box

// Config has a view.
type Config struct {
	Keys  []string
	Inner map[string]*Config
	state
}

type state struct {
	seen []int
	Open []string
}

// Box has a view.
type Box[T any] struct {
	Item  T
	Items []T
}

// Bare has none.
type Bare struct {
	Names []string
	seen  map[string]int
}

// Hidden has fields of types without an exported name.
type Hidden struct {
	State  state
	States []state
	Count  int
}

// Names is not a struct.
type Names []string

// See writes to b.
func (b *Bare) See(s string) { b.seen = map[string]int{s: 1} }
