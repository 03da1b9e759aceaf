package stores

import (
	"encoding/binary"
	"slices"
)

// stampSize is the least size of a payload's half.
const stampSize = 8

// NewPayload returns a record of the first generation under package and name
// that has size bytes of payload, at least 16.
func NewPayload(pkg, name string, size int) Record {
	r := Record{Package: pkg, Name: name, Payload: make([]byte, max(size, 2*stampSize))}
	for i := range r.Payload {
		r.Payload[i] = byte('a' + i%26)
	}
	return r.refilled(0)
}

// refilled returns r in another generation, with a payload in new memory.
func (r *Record) refilled(generation uint32) Record {
	n := *r
	n.Payload = slices.Clone(r.Payload)
	stamp := uint64(generation)
	binary.LittleEndian.PutUint64(n.Payload, stamp)
	binary.LittleEndian.PutUint64(n.Payload[len(n.Payload)-stampSize:], stamp)
	n.Check = n.payloadSum(stamp)
	return n
}

// filled is Intact for a record with a payload.
func (r *Record) filled(key string) bool {
	if len(r.Payload) < 2*stampSize {
		return false
	}
	stamp, n := binary.LittleEndian.Uint64(r.Payload), len(r.Package)
	return binary.LittleEndian.Uint64(r.Payload[len(r.Payload)-stampSize:]) == stamp &&
		r.Check == r.payloadSum(stamp) &&
		len(key) == n+1+len(r.Name) && key[:n] == r.Package && key[n] == '.' && key[n+1:] == r.Name
}

func (r *Record) payloadSum(stamp uint64) uint64 {
	return stamp*0x9e3779b97f4a7c15 + uint64(len(r.Payload))*0xbf58476d1ce4e5b9 +
		uint64(len(r.Package))*0x94d049bb133111eb + uint64(len(r.Name))*0xd6e8feb86659fd93
}

// Generation returns the generation of a record with a payload.
func (r *Record) Generation() uint32 {
	return uint32(binary.LittleEndian.Uint64(r.Payload))
}
