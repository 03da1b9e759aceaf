package snapshottest

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"reflect"
)

// What a field of one of these types holds is not any bits: its package keeps it in order.
var (
	addrs    = []netip.Addr{{}, netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("fe80::1%eth0")}
	prefixes = []netip.Prefix{{}, netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	ports    = []netip.AddrPort{{}, netip.MustParseAddrPort("10.1.2.3:80"), netip.MustParseAddrPort("[::1]:443")}
	raws     = []string{"", "null", "1", `"a"`, `{"a":[1,2]}`}
)

// known fills the variable v if it is of a type that is not filled by its parts.
func (m *maker) known(v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *netip.Addr:
		*p = pick(m, addrs)
	case *netip.Prefix:
		*p = pick(m, prefixes)
	case *netip.AddrPort:
		*p = pick(m, ports)
	case *json.RawMessage:
		if text := pick(m, raws); text != "" {
			*p = json.RawMessage(text)
		}
	case *json.Number:
		*p = json.Number(pick(m, raws[2:3]))
	case *big.Int:
		p.SetInt64(m.r.Int64() - m.r.Int64())
	default:
		return false
	}
	m.note(v)
	return true
}
