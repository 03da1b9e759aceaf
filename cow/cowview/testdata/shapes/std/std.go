// Package std has types of the standard library.
package std

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Times,Netips,Nets,URLs,Bigs,Raws,Nulls,Others

// Times has times.
type Times struct {
	At     time.Time
	P      *time.Time
	For    time.Duration
	ForP   *time.Duration
	Zone   *time.Location `json:"-"`
	List   []time.Time
	Ptrs   []*time.Time
	By     map[string]time.Time
	ByDay  map[time.Weekday][]time.Time
	Months [2]time.Month
}

// Netips has types of package netip.
type Netips struct {
	Addr   netip.Addr
	P      *netip.Addr
	Prefix netip.Prefix
	Port   netip.AddrPort
	List   []netip.Prefix
	Ptrs   []*netip.Prefix
	By     map[netip.Addr]netip.Prefix
	Lists  map[netip.Prefix][]netip.Addr
}

// Nets has types of package net.
type Nets struct {
	IP   net.IP
	IPs  []net.IP
	Mask net.IPMask
	Net  net.IPNet
	NetP *net.IPNet
	MAC  net.HardwareAddr
	TCP  *net.TCPAddr
}

// URLs has types of package url.
type URLs struct {
	URL    url.URL
	P      *url.URL
	List   []url.URL
	Ptrs   []*url.URL
	By     map[string]*url.URL
	Values url.Values
	User   *url.Userinfo `json:"-"`
}

// Bigs has numbers that can be modified.
type Bigs struct {
	Int  big.Int
	P    *big.Int
	List []big.Int
	Ptrs []*big.Int
	By   map[string]*big.Int
}

// Raws has JSON.
type Raws struct {
	Raw    json.RawMessage
	P      *json.RawMessage
	List   []json.RawMessage
	By     map[string]json.RawMessage
	Number json.Number
}

// Nulls has types of package sql.
type Nulls struct {
	Text  sql.NullString
	P     *sql.NullString
	At    sql.NullTime
	Ints  []sql.NullInt64
	Bytes sql.Null[[]byte]
	By    map[string]sql.Null[int]
	Raw   sql.RawBytes
}

// Others has types that nobody knows anything about.
type Others struct {
	Buffer  bytes.Buffer
	BufferP *bytes.Buffer
	Header  http.Header
	Cookies []*http.Cookie
}
