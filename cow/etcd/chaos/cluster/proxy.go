package cluster

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// A Proxy passes connections on to a member. It is safe for concurrent use.
type Proxy struct {
	listener net.Listener
	running  sync.WaitGroup

	mu      sync.Mutex
	to      string
	cut     bool
	mute    bool
	delay   time.Duration
	open    map[net.Conn]bool
	changed chan struct{} // closed at the next change of the above
	closed  bool
}

func newProxy(to string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, to: to, open: make(map[net.Conn]bool), changed: make(chan struct{})}
	p.running.Go(p.accept)
	return p, nil
}

// Endpoint is where clients connect, with TLS or without.
func (p *Proxy) Endpoint() string { return p.listener.Addr().String() }

// Cut ends all connections, and each new one, until Mend.
func (p *Proxy) Cut() {
	p.set(func() {
		p.cut = true
		for c := range p.open {
			_ = c.Close()
		}
	})
}

// Mute keeps back what the member answers, until Mend or Cut, which loses it.
func (p *Proxy) Mute() { p.set(func() { p.mute = true }) }

// Delay delays what passes, in both directions.
func (p *Proxy) Delay(d time.Duration) { p.set(func() { p.delay = d }) }

// Redirect passes new connections on to where another Proxy does.
func (p *Proxy) Redirect(to *Proxy) {
	to.mu.Lock()
	target := to.to
	to.mu.Unlock()
	p.set(func() { p.to = target })
}

// Mend ends Cut, Mute and Delay.
func (p *Proxy) Mend() { p.set(func() { p.cut, p.mute, p.delay = false, false, 0 }) }

// Close ends all connections for good.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.set(func() { p.closed = true })
	p.Cut()
	p.running.Wait()
	return err
}

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			p.running.Go(func() { p.pass(from) })
		}
	}
}

func (p *Proxy) target() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.to
}

// add adds a connection, or closes it and returns false.
func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut || p.closed {
		_ = c.Close()
		return false
	}
	p.open[c] = true
	return true
}

func (p *Proxy) remove(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

func (p *Proxy) pass(from net.Conn) {
	if !p.add(from) {
		return
	}
	defer p.remove(from)
	to, err := net.Dial("tcp", p.target())
	if err != nil || !p.add(to) {
		return
	}
	defer p.remove(to)
	ended := make(chan struct{}, 2)
	p.running.Go(func() { p.copy(to, from, false); ended <- struct{}{} })
	p.running.Go(func() { p.copy(from, to, true); ended <- struct{}{} })
	<-ended
}

// copy copies until either connection is closed.
func (p *Proxy) copy(to io.Writer, from io.Reader, answers bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && p.hold(answers) {
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// hold waits until what was read may pass, and returns false if it is lost.
func (p *Proxy) hold(answers bool) bool {
	for {
		p.mu.Lock()
		cut, mute, delay, changed := p.cut, p.mute && answers, p.delay, p.changed
		p.mu.Unlock()
		switch {
		case cut:
			return false
		case !mute:
			time.Sleep(delay)
			return true
		}
		<-changed
	}
}
