// Package embed has structs with embedded fields.
package embed

import (
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/lists"
)

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Base,ByValue,ByPointer,Levels,Stamped,Linked,Foreign,ForeignPointer,Shadowed,Containers,Interfaces,Twins

// A Base is embedded.
type Base struct {
	ID    int
	Tags  []string
	Attrs map[string][]string
}

// Describe is promoted.
func (b Base) Describe() string { return fmt.Sprint(b.ID) }

// ByValue embeds a struct.
type ByValue struct {
	Base
	Name string
}

// ByPointer embeds a pointer.
type ByPointer struct {
	*Base
	Name string
}

// Levels embeds what embeds.
type Levels struct {
	ByValue
	Stamped
	More []ByPointer
}

// Stamped embeds a type with methods for JSON, which becomes its own.
type Stamped struct {
	time.Time
	Notes []string
}

// Linked embeds a pointer to a type of package url.
type Linked struct {
	*url.URL
	Notes []string
}

// Foreign embeds types of other packages.
type Foreign struct {
	lists.Item
	lists.Point
	netip.Addr
}

// ForeignPointer embeds pointers to types of other packages.
type ForeignPointer struct {
	*lists.Items
	*lists.Point
}

// Shadowed has a field of the name of a promoted one.
type Shadowed struct {
	Base
	Tags map[string]int
}

// Names is a named slice.
type Names []string

// Index is a named map.
type Index map[string][]int

// Containers embeds slices and maps.
type Containers struct {
	Names
	Index
	*lists.ItemList
}

// Interfaces embeds interfaces.
type Interfaces struct {
	error
	fmt.Stringer
	N []int
}

// Left and Right have fields of the same name.
type Left struct {
	A    []int
	Both []string
}

// Right is the other.
type Right struct {
	B    []int
	Both []string
}

// Twins has promoted fields that are ambiguous.
type Twins struct {
	Left
	Right
}
