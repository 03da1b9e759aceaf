// Package tags has types that say how they are JSON, or text.
package tags

import "encoding/json"

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Tagged,Custom,PointerCustom,Text,Uses,Named

// Tagged has tags.
type Tagged struct {
	A       int            `json:"a"`
	B       []string       `json:"b,omitempty"`
	C       map[string]int `json:",omitempty"`
	D       *int           `json:"d,omitzero"`
	E       []int          `json:"-"`
	F       int            `json:"f,string"`
	G       []byte         `json:"<g>"`
	Inline  `json:",inline"`
	H       Custom `json:"h"`
	Html    string `json:"html"`
	private map[string]string
}

// Inline is embedded.
type Inline struct{ X, Y []int }

// Custom has JSON of its own.
type Custom struct {
	Tags []string
	n    int
}

// MarshalJSON returns how many tags there are.
func (c Custom) MarshalJSON() ([]byte, error) { return json.Marshal(len(c.Tags) + c.n) }

// PointerCustom has JSON of its own, if it can be addressed.
type PointerCustom struct{ Tags []string }

// MarshalJSON returns how many tags there are.
func (c *PointerCustom) MarshalJSON() ([]byte, error) { return json.Marshal(len(c.Tags)) }

// Text is JSON as a text.
type Text struct {
	Words []string
}

// MarshalText returns a text.
func (t Text) MarshalText() ([]byte, error) { return []byte("text"), nil }

// Named has methods that views have too.
type Named struct {
	Name string
	Tags []string
}

// String returns the name.
func (n *Named) String() string { return n.Name }

// Equal compares names.
func (n *Named) Equal(o *Named) bool { return n.Name == o.Name }

// Valid says yes.
func (n *Named) Valid() bool { return true }

// Uses has fields of those types.
type Uses struct {
	C    Custom
	Cs   []Custom
	P    PointerCustom
	PP   *PointerCustom
	Ps   []PointerCustom
	ByP  map[string]PointerCustom
	T    Text
	Ts   map[string]*Text
	N    Named
	Ns   []*Named
	Ints []int `json:"ints,omitempty"`
}
