// Package outer has fields of other packages' types, and of their generated views.
package outer

import (
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/lists"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/recursive"
)

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Uses,Cached

// Uses has types that have views in their packages.
type Uses struct {
	Item  lists.Item
	ItemP *lists.Item
	Items []lists.Item
	Refs  []*lists.Item
	By    map[string]lists.Items
	ByRef map[string]*lists.Items
	Tree  recursive.Tree
	Graph *recursive.Graph
	Lists map[string][]lists.Item
}

// Cached has views.
type Cached struct {
	Item  lists.ItemView
	ItemP *lists.ItemView
	Items []lists.ItemView
	By    map[string]lists.ItemsView
	Notes []string
}
