package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// follow returns what takes the next event of a feed.
func follow(t *testing.T, p *Peer, cursor string) (next func() (string, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	pull, stop := iter.Pull2(p.Changes(ctx, cursor))
	t.Cleanup(func() { cancel(); stop() })
	return func() (string, error) {
		e, err, ok := pull()
		if !ok {
			return "", errors.New("the feed has ended")
		}
		if err != nil {
			return "", err
		}
		return e.Namespaces[0], nil
	}
}

func TestAFeedGoesOn(t *testing.T) {
	path, d := place(t), newDisk()
	peers := []*Peer{peerOn(t, path, d, nil), peerOn(t, path, d, nil), peerOn(t, path, d, nil)}
	next := follow(t, peers[2], "0")
	n := 0
	some := func(p *Peer, count int) {
		for range count {
			_, err := p.Do(soon(t), write(fmt.Sprint(n), fmt.Sprint(n)))
			require.NoError(t, err)
			n++
		}
	}
	seen := func(from, to int) {
		for i := from; i < to; i++ {
			key, err := next()
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(i), key)
		}
	}
	some(peers[2], 200)
	seen(0, 100) // the consumer is behind
	require.NoError(t, peers[0].Close())
	some(peers[2], 200)
	seen(100, 300)
	require.NoError(t, peers[1].Close())
	some(peers[2], 10)
	require.True(t, peers[2].owns())
	seen(300, 410)
	some(peers[2], 1)
	seen(410, 411)
	require.NoError(t, peers[2].Close())
	_, err := next()
	require.ErrorIs(t, err, store.ErrClosed)
	_, err = next()
	require.ErrorContains(t, err, "has ended")
}

// What the new owner says of the cursor is passed on.
func TestAFeedThatIsTooOld(t *testing.T) {
	path, d := place(t), newDisk()
	first, second := peerOn(t, path, d, nil), peerOn(t, path, d, nil)
	for _, p := range []*Peer{first, second} {
		_, err := follow(t, p, "yesterday")()
		require.ErrorIs(t, err, store.ErrCursor)
		require.ErrorContains(t, err, "yesterday")
		_, err = follow(t, p, string(make([]byte, maxCursor+1)))()
		require.ErrorIs(t, err, store.ErrCursor)
	}
	next := follow(t, second, "0")
	_, err := first.Do(soon(t), write("a", "a"))
	require.NoError(t, err)
	_, err = next()
	require.NoError(t, err)
	d.mu.Lock()
	d.from = 100
	d.mu.Unlock()
	require.NoError(t, first.Close())
	_, err = next()
	require.ErrorIs(t, err, store.ErrCursor)
}

// From now on, and the owner ends before there was anything.
func TestAFeedFromNowOn(t *testing.T) {
	for _, tells := range []bool{false, true} {
		path, d := place(t), newDisk()
		wrap := func(f *fake) store.Store {
			if tells {
				return telling{f}
			}
			return f
		}
		first, second := peerOn(t, path, d, wrap), peerOn(t, path, d, wrap)
		_, err := second.Do(soon(t), write("before", "before"))
		require.NoError(t, err)
		s, _ := second.state()
		j, begun := *s.seat.(*joined), make(chan struct{})
		j.streams = &http.Client{Transport: watched{j.streams.Transport, begun}}
		last, failed := "", make(chan error, 1)
		go func() {
			for _, err := range j.changes(soon(t), &last) { // as Changes calls it
				failed <- err
			}
		}()
		<-begun
		require.NoError(t, first.Close())
		err = <-failed
		if tells {
			require.ErrorIs(t, err, errLost)
			require.Equal(t, "1", last)
		} else {
			require.ErrorIs(t, err, store.ErrCursor)
		}
	}
}

// A watched transport tells when the first line of an answer has been dealt with.
type watched struct {
	http.RoundTripper
	begun chan struct{}
}

func (w watched) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.RoundTripper.RoundTrip(req)
	if err == nil {
		resp.Body = &watchedBody{ReadCloser: resp.Body, begun: w.begun}
	}
	return resp, err
}

type watchedBody struct {
	io.ReadCloser
	begun chan struct{}
	reads int
}

func (b *watchedBody) Read(to []byte) (int, error) {
	if b.reads++; b.reads == 2 { // the owner sends whole lines
		close(b.begun)
	}
	return b.ReadCloser.Read(to)
}

// An owner that says nothing at all any more is asked again.
func TestASilentOwner(t *testing.T) {
	path, d := place(t), newDisk()
	first, second := peerOn(t, path, d, nil), peerOn(t, path, d, nil)
	s, _ := second.state()
	j := *s.seat.(*joined)
	j.silence = time.Nanosecond
	last := "0"
	for _, err := range j.changes(soon(t), &last) {
		require.ErrorIs(t, err, errLost)
	}
	// Signs of life are what it waits for.
	lines := bufio.NewReader(ask(t, first, "GET", "/changes?cursor=0", version, "").Body)
	for _, want := range []string{`{"start":"0"}`, `{}`, `{}`} {
		got, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, want+"\n", got)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*second.o.beat)
	defer cancel()
	for _, err := range second.Changes(ctx, "0") {
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

// Its context ends, or the consumer does: nothing is left at the owner.
func TestAFeedEnds(t *testing.T) {
	path, d := place(t), newDisk()
	first, second := peerOn(t, path, d, nil), peerOn(t, path, d, nil)
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(20*time.Millisecond, func() { cancel(stop) })
	s, _ := second.state()
	j := *s.seat.(*joined)
	j.silence = time.Hour // or the owner may be given up first, on a busy machine
	last := ""
	for _, err := range j.changes(ctx, &last) {
		require.Equal(t, stop, err)
	}
	_, err := second.Do(soon(t), write("a", "a"))
	require.NoError(t, err)
	for range second.Changes(soon(t), "0") {
		break
	}
	require.Eventually(t, func() bool { return first.feeds() == 0 }, time.Minute, time.Millisecond)
}

// feeds returns how many feeds the owner sends.
func (p *Peer) feeds() int {
	s, _ := p.state()
	return s.seat.(*owner).store.(interface{ following() int }).following()
}
