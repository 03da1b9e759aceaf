// Package anonymous has fields of types without a name.
package anonymous

import "github.com/cowstore/cowstore/cow/cowview/testdata/shapes/lists"

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Flat,Deep,Contained,Alike

// Flat has structs of what is immutable.
type Flat struct {
	One struct {
		A int
		B string
	}
	Two [2]struct{ X, Y float64 }
}

// Deep has structs of what can be modified.
type Deep struct {
	One struct {
		A int
		B []string
		C struct {
			D map[string]*int
			E struct{ F []byte }
		}
	}
	P *struct {
		A int
		B []string
	}
	Item struct {
		lists.Item
		Notes []string
	}
	hidden struct {
		a int
		b []string
	}
}

// Contained has structs in slices and maps.
type Contained struct {
	List []struct {
		Name string
		Tags []string
	}
	Flat  []struct{ A, B int }
	Refs  []*struct{ Tags []string }
	By    map[string]struct{ Tags []string }
	ByRef map[string]*struct{ Tags []string }
	Keys  map[struct{ A, B int }][]string `json:"-"`
	Lists map[string][]struct{ Tags []string }
	Array [2]struct{ Tags []string }
}

// Alike has the same anonymous type more than once.
type Alike struct {
	A struct{ Tags []string }
	B struct{ Tags []string }
	C []struct{ Tags []string }
}
