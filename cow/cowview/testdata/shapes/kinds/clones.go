package kinds

import "time"

// Single is cloned without a look.
type Single struct {
	Name   string
	Tags   Tags
	Labels map[string]int
	Own    []Own
	Owns   map[string]Own
	Leaf   struct {
		When *time.Time
		F    []float64
	}
}

// Twice compares first.
type Twice struct {
	A, B   []string
	M, N   map[string]string
	P, Q   *int
	T, U   *time.Time
	Bytes  []byte
	Arr    *[4]byte
	Inner  struct{ C []string }
	Unique []bool
}

// Parts has references in its parts, each of its own kind.
type Parts struct {
	Head struct {
		S []string
		N *int
	}
	Arr  [1][]float64
	Map  map[string][2]int
	Deep *struct{ B []byte }
}
