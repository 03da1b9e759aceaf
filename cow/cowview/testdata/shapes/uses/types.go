// Package uses has fields of other packages' types.
package uses

import (
	"bytes"
	"math/big"
	"net/http"
	http2 "net/textproto"
	"net/url"
	"strings"

	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/other"
	"github.com/cowstore/cowstore/snapshot/view"
)

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Uses,Meta,Buffer,Texts,Sums,Heads,Big

// Uses has fields of other packages' types.
type Uses struct {
	Config  other.Config
	Pointer *other.Config
	List    []other.Config
	Map     map[string]*other.Config
	Box     other.Box[[]int]
	Boxes   []other.Box[string]
	Bare    other.Bare
	Bares   []*other.Bare
	Names   []other.Names
	ByHand  ByHand
	Hands   []ByHand
}

// Meta embeds.
type Meta struct {
	other.Bare
	*other.Config
	Own []string
}

// Buffer has fields that only another package can name.
type Buffer bytes.Buffer

// Texts has one piece of memory.
type Texts struct {
	Buffer bytes.Buffer
	Name   string
}

// Sums is of another package's type, with names that this package cannot say.
type Sums other.Hidden

// Heads has types of one name.
type Heads struct {
	A []http.Header
	B []http2.MIMEHeader
}

// Big has known types.
type Big struct {
	N    *big.Int
	Home url.URL
	All  []*big.Int
	Text *strings.Replacer
}

// ByHand has a view that is written by hand.
type ByHand struct{ S []int }

// ByHandView is written by hand.
type ByHandView struct{ r view.Ref[ByHand] }

// ViewOf returns a view of what r points to.
func (ByHandView) ViewOf(r view.Ref[ByHand]) ByHandView { return ByHandView{r} }

// Len returns how many there are.
func (v ByHandView) Len() int { return len(view.Shared(v.r).S) }

// HttpHeader is called as the view of another type would be.
type HttpHeader struct{ S []string }
