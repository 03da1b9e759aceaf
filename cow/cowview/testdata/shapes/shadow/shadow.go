// Package shadow declares what generated code could want to import or use.
package shadow

import (
	renamed "net/url"

	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/shadow/url"
)

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Profile

type (
	view    struct{ n int }
	json    []int
	slog    map[string]int
	fmt     int
	reflect string
)

var slices, maps = []int{1}, 2

func snapshot() view { return view{len(slices) + maps} }

// A Profile has fields of types named like packages.
type Profile struct {
	Tags   []string
	V      view
	Vs     []view
	J      json
	S      slog
	F      fmt
	R      []reflect
	URL    *renamed.URL
	Own    url.URL
	OwnP   *url.URL
	Owns   []url.URL
	hidden func() view
}

// New returns a Profile.
func New() Profile { return Profile{V: snapshot()} }
