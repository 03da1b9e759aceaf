// Package basic has what most programs have.
package basic

import (
	"math/big"
	"net/netip"
	"net/url"
	"time"
)

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Profile,Team

// Profile is a record.
type Profile struct {
	ID      int `json:"id"`
	Name    string
	Born    time.Time
	From    netip.Addr
	Zone    *time.Location
	Tags    []string
	Roles   []string `json:"roles,omitempty"`
	Labels  map[string]string
	Photo   []byte
	Address Address
	Boss    *Address
	Nick    *string
	Home    url.URL
	Worth   *big.Int
	Spots   map[string]Address
	note    []int
}

// Address is nested.
type Address struct {
	Street string
	Lines  []string
}

// Team has profiles.
type Team struct {
	Lead    *Profile
	Members []Profile
	ByName  map[string]*Profile
	Places  map[string][]*Address
	Grid    [][]string
}

// Title returns name and street.
//
//cowview:readonly
func (p *Profile) Title(sep string) string { return p.Name + sep + p.Address.Street }

// AllTags returns tags and roles.
//
//cowview:readonly
func (p Profile) AllTags() ([]string, error) {
	return append(p.Tags[:len(p.Tags):len(p.Tags)], p.Roles...), nil
}

var _ = Profile{}.note
