package web

import (
	"net"
	"sync"

	"golang.org/x/time/rate"
)

// limits say how many requests each address may make.
type limits struct {
	each rate.Limit

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

const (
	defaultRate  = 100
	burst        = 10   // times the rate
	maxAddresses = 4096 // that are known; of more, all begin anew
)

func newLimits(each float64) *limits {
	if each <= 0 {
		each = defaultRate
	}
	return &limits{each: rate.Limit(each), buckets: make(map[string]*rate.Limiter)}
}

// allow reports whether an address may make one more request now.
func (l *limits) allow(address string) bool {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	l.mu.Lock()
	b := l.buckets[address]
	if b == nil {
		if len(l.buckets) >= maxAddresses {
			clear(l.buckets)
		}
		b = rate.NewLimiter(l.each, max(1, int(burst*l.each)))
		l.buckets[address] = b
	}
	l.mu.Unlock()
	return b.Allow()
}
