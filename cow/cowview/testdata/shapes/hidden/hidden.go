// Package hidden has structs with unexported fields.
package hidden

import "time"

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Mixed,Closed,inner,Node,Same

// Mixed has fields of both sorts.
type Mixed struct {
	Name string
	Tags []string
	tags []string
	by   map[string]*inner
	next *Mixed
	at   time.Time
	inner
}

type inner struct {
	n     int
	parts [][]byte
	up    *Closed
}

// Closed has no exported field.
type Closed struct {
	n    int
	list []inner
	refs []*inner
	any  any
	err  error
}

// A Node is of a list that goes both ways.
type Node struct {
	next, prev *Node
	list       *struct {
		root Node
		n    int
	}
	Value []int
}

// Same has fields whose names differ by their first letters.
type Same struct {
	Name, name   []string
	Index, index map[string]int
	ID           int
	iD           *int
}
