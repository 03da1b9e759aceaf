package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// A Gate says which requests are answered. It is made by NewGate, and safe for concurrent use.
type Gate struct {
	token  bool // one is needed
	want   [sha256.Size]byte
	limits *limits
}

// NewGate returns a Gate for those who bear a token, or for all, without one; and for so many
// requests a second of each address, 0 for 100.
func NewGate(token string, rate float64) *Gate {
	return &Gate{token: token != "", want: sha256.Sum256([]byte(token)), limits: newLimits(rate)}
}

// Near returns what answers requests that come neither too often nor by way of another site: by a
// page of one, or by a name of one that was bound to this machine's loopback address.
func (g *Gate) Near(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.limits.allow(r.RemoteAddr):
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests", http.StatusTooManyRequests)
		case !sameOrigin(r):
			http.Error(w, "this is not for other sites", http.StatusForbidden)
		case !sameHost(r):
			http.Error(w, fmt.Sprintf("%.100q is not a name of this machine", r.Host), http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// Clients returns what answers requests that bear the token, if one is needed.
func (g *Gate) Clients(next http.Handler) http.Handler {
	return g.ask(next, []string{"Bearer"}, g.bears)
}

// People is Clients, also for browsers, which ask for the token as a password, of any name.
func (g *Gate) People(next http.Handler) http.Handler {
	return g.ask(next, []string{`Basic realm="cowmemory", charset="UTF-8"`, "Bearer"}, func(r *http.Request) bool {
		_, password, ok := r.BasicAuth()
		return ok && g.is(password) || g.bears(r)
	})
}

// ask returns what answers requests that may, and says in which ways others could.
func (g *Gate) ask(next http.Handler, ways []string, may func(r *http.Request) bool) http.Handler {
	if !g.token {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if may(r) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header()["Www-Authenticate"] = ways
		http.Error(w, "a token is needed", http.StatusUnauthorized)
	})
}

// bears reports whether a request bears the token.
func (g *Gate) bears(r *http.Request) bool {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return g.is(strings.TrimSpace(token)) && strings.EqualFold(kind, "Bearer")
}

// is reports whether a text is the token, in constant time.
func (g *Gate) is(text string) bool {
	has := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(has[:], g.want[:]) == 1
}

// sameOrigin reports whether a request is of no browser, or of a page of this very server.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// sameHost reports whether a request has the name of an address that it may have come to: on a
// loopback address, one of this machine.
func sameHost(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return !ok || at == nil || !isLoopback(at.String()) || isLoopback(r.Host)
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil { // without a port
		host = strings.Trim(address, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
