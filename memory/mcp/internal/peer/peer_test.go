package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

func TestTwoShareOne(t *testing.T) {
	path, d := place(t), newDisk()
	first, second := peerOn(t, path, d, nil), peerOn(t, path, d, nil)
	require.True(t, first.owns())
	require.False(t, second.owns())
	for _, p := range []*Peer{first, second} {
		r := store.Request{ID: "id", Namespace: "n\xff\x00/../<&>", Op: "echo", Args: json.RawMessage("no JSON \xfe")}
		got, err := p.Do(soon(t), r)
		require.NoError(t, err)
		want, _ := json.Marshal([]string{r.ID, r.Namespace, r.Op, string(r.Args)})
		require.Equal(t, string(want), string(got), "bytes arrive as they are")

		var client *store.Error
		_, err = p.Do(soon(t), store.Request{Op: "wrong"})
		require.ErrorAs(t, err, &client)
		require.Equal(t, store.Errorf(store.Conflict, "it <has> changed"), client)

		_, err = p.Do(soon(t), store.Request{Op: "failed"})
		require.ErrorContains(t, err, "the disk is full")
		require.False(t, errors.As(err, &client))

		_, err = p.Do(soon(t), store.Request{Op: "cursor"})
		require.ErrorIs(t, err, store.ErrCursor)
		require.EqualError(t, err, "since when: "+store.ErrCursor.Error())

		_, err = p.Do(soon(t), store.Request{Op: "write", Args: make(json.RawMessage, maxRequest)})
		require.ErrorAs(t, err, &client)
		require.Equal(t, store.TooLarge, client.Code)

		got, err = p.Do(soon(t), store.Request{Op: "large", Args: json.RawMessage("20000000")})
		require.NoError(t, err)
		require.Len(t, got, 20_000_000)
	}
	for _, p := range []*Peer{first, second} {
		_, err := p.Do(soon(t), store.Request{Op: "panic"})
		require.ErrorContains(t, err, "panicked")
	}
	_, err := second.Do(soon(t), write("large", strings.Repeat("x", maxRequest-100)))
	require.NoError(t, err, "a request may be as large as it says")
	if !testing.Short() {
		_, err = second.Do(soon(t), store.Request{Op: "large", Args: json.RawMessage(fmt.Sprint(maxAnswer + 1))})
		require.ErrorContains(t, err, "too large")
	}
}

func TestTheNextTakesOver(t *testing.T) {
	path, d := place(t), newDisk()
	peers := []*Peer{peerOn(t, path, d, nil), peerOn(t, path, d, nil), peerOn(t, path, d, nil)}
	for n := range peers {
		for i, p := range peers[n:] {
			_, err := p.Do(soon(t), write(fmt.Sprint(n, i), fmt.Sprint(n, i)))
			require.NoError(t, err)
		}
		owners := 0
		for _, p := range peers[n:] {
			if p.owns() {
				owners++
			}
		}
		require.Equal(t, 1, owners)
		for i, p := range peers[n:] { // the owner ends
			if p.owns() {
				peers[n], peers[n+i] = p, peers[n]
				require.NoError(t, p.Close())
				_, err := p.Do(soon(t), store.Request{Op: "echo"})
				require.ErrorIs(t, err, store.ErrClosed)
				break
			}
		}
	}
	require.Len(t, d.log, 6)
	require.Equal(t, 3, d.opens)
	require.NoFileExists(t, peers[0].socket)
}

// Its answer is lost: it is done, and the connection breaks, or the store is gone.
func TestALostAnswer(t *testing.T) {
	path, d := place(t), newDisk()
	var once sync.Once
	done, cut := make(chan struct{}), make(chan struct{})
	first := peerOn(t, path, d, func(f *fake) store.Store {
		f.after = func(ctx context.Context, r store.Request) error {
			once.Do(func() {
				close(done)
				<-cut
			})
			return ctx.Err()
		}
		return f
	})
	second := peerOn(t, path, d, nil)
	go func() {
		<-done
		s, _ := first.state()
		_ = s.seat.(*owner).server.Close() // all connections break, as if it were killed
		close(cut)
		_ = first.Close()
	}()
	got, err := second.Do(soon(t), write("a", "key"))
	require.NoError(t, err)
	require.Equal(t, "1", string(got))
	require.True(t, second.owns())
	require.Equal(t, []string{"key"}, d.log, "done once")
	require.GreaterOrEqual(t, d.times["a"], 2, "with one ID")
}

// It is under way, and not done, when the owner ends without waiting for it.
func TestARequestUnderWay(t *testing.T) {
	path, d := place(t), newDisk()
	begun := make(chan struct{}, 100)
	first := peerOn(t, path, d, func(f *fake) store.Store {
		f.before = func(ctx context.Context, _ store.Request) error {
			begun <- struct{}{}
			<-ctx.Done() // until Drain is over
			return ctx.Err()
		}
		return f
	})
	second := peerOn(t, path, d, nil)
	own := make(chan error, 1)
	go func() {
		_, err := first.Do(soon(t), write("own", "own"))
		own <- err
	}()
	<-begun
	answers := make(chan error, 1)
	go func() {
		_, err := second.Do(soon(t), write("a", "key"))
		answers <- err
	}()
	<-begun
	require.NoError(t, first.Close())
	require.ErrorIs(t, <-own, store.ErrClosed)
	require.NoError(t, <-answers)
	require.Equal(t, []string{"key"}, d.log)
}

// What is under way is answered by an owner that closes, if it does not take too long.
func TestCloseAnswers(t *testing.T) {
	path, d := place(t), newDisk()
	begun, on := make(chan struct{}), make(chan struct{})
	first := peerOn(t, path, d, func(f *fake) store.Store {
		f.before = func(context.Context, store.Request) error {
			close(begun)
			<-on
			return nil
		}
		return f
	})
	first.o.Drain = time.Hour
	s, _ := first.state()
	s.seat.(*owner).drain = time.Hour
	second := peerOn(t, path, d, nil)
	answers := make(chan error, 1)
	go func() {
		_, err := second.Do(soon(t), write("a", "key"))
		answers <- err
	}()
	<-begun
	closed := make(chan error, 1)
	go func() { closed <- first.Close() }()
	<-first.ctx.Done()
	close(on)
	require.NoError(t, <-closed)
	require.NoError(t, <-answers)
	require.Equal(t, 1, d.times["a"], "answered, not sent again")
}

// A request that waits for an owner that does not answer ends with its context, and says
// who it was.
func TestNoAnswer(t *testing.T) {
	path, d := place(t), newDisk()
	peerOn(t, path, d, nil)
	second := peerOn(t, path, d, nil)
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(50*time.Millisecond, func() { cancel(stop) })
	_, err := second.Do(ctx, store.Request{Op: "wait"})
	require.ErrorIs(t, err, stop)
	require.ErrorContains(t, err, fmt.Sprintf("process %d has the file", os.Getpid()))
	_, err = second.Do(soon(t), store.Request{Op: "echo"})
	require.NoError(t, err, "and others go on")
}

// Somebody has the file, but listens nowhere.
func TestNobodyToJoin(t *testing.T) {
	path, d := place(t), newDisk()
	f, err := d.open()
	require.NoError(t, err)
	open := func() (store.Store, error) { return d.open() }
	open2 := func() (store.Store, error) {
		s, err := open()
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err = Open(ctx, Options{Path: path, Open: open2})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	time.AfterFunc(50*time.Millisecond, func() { _ = f.Close() })
	p, err := Open(soon(t), Options{Path: path, Open: open2})
	require.NoError(t, err)
	require.NoError(t, p.Close())
}

func TestAFileThatDoesNotOpen(t *testing.T) {
	path := place(t)
	damaged := errors.New("damaged")
	_, err := Open(soon(t), Options{Path: path, Open: func() (store.Store, error) { return nil, damaged }})
	require.ErrorIs(t, err, damaged)

	// One that takes over says so too, and goes on when it opens again.
	d, broken := newDisk(), true
	first := peerOn(t, path, d, nil)
	var mu sync.Mutex
	second, err := Open(soon(t), Options{Path: path, Open: func() (store.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		f, err := d.open()
		if err == nil && broken {
			_ = f.Close()
			err = damaged
		}
		if err != nil {
			return nil, err
		}
		return f, nil
	}})
	require.NoError(t, err)
	defer second.Close()
	require.NoError(t, first.Close())
	require.Eventually(t, func() bool {
		_, err := second.Do(soon(t), write("a", "key"))
		return errors.Is(err, damaged)
	}, time.Minute, time.Millisecond)
	mu.Lock()
	broken = false
	mu.Unlock()
	require.Eventually(t, func() bool {
		_, err := second.Do(soon(t), write("a", "key"))
		return err == nil
	}, time.Minute, time.Millisecond)
	require.Equal(t, []string{"key"}, d.log)
}

// Many, on a real file, in one process: no request is lost, whoever closes.
func TestManyOnAFile(t *testing.T) {
	path := place(t)
	open := func() *Peer {
		p, err := Open(soon(t), Options{Path: path, Open: func() (store.Store, error) {
			s, err := openReal(path)
			if err != nil {
				return nil, err
			}
			return s, nil
		}})
		require.NoError(t, err)
		return p
	}
	const peers, each = 6, 20
	var wg sync.WaitGroup
	for n := range peers {
		p := open()
		wg.Go(func() {
			var all sync.WaitGroup
			for i := range each {
				all.Go(func() {
					key := fmt.Sprint(n, ".", i)
					got, err := p.Do(soon(t), write(key, key))
					if err != nil || string(got) != "1" {
						t.Errorf("%s: %s, %v", key, got, err)
					}
				})
			}
			all.Wait()
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, err := openReal(path)
	require.NoError(t, err)
	require.Equal(t, peers*each, s.counts.In(s.db.Load()).Len())
	require.NoError(t, s.Close())
}

func TestNothingIsLeft(t *testing.T) {
	path, d := place(t), newDisk()
	before := runtime.NumGoroutine()
	for range 3 {
		first, second := peerOn(t, path, d, nil), peerOn(t, path, d, nil)
		var wg sync.WaitGroup
		for _, p := range []*Peer{first, second, first, second} {
			wg.Go(func() {
				for range p.Changes(context.Background(), "") {
				}
			})
			wg.Go(func() { _, _ = p.Do(context.Background(), store.Request{Op: "wait"}) })
		}
		_, err := second.Do(soon(t), write("a", "key"))
		require.NoError(t, err)
		if d.opens%2 == 0 {
			first, second = second, first
		}
		require.NoError(t, first.Close())
		require.NoError(t, second.Close())
		require.NoError(t, second.Close(), "again")
		wg.Wait() // Do and Changes end with their Peer
	}
	stacks := make([]byte, 1<<20)
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			require.FailNow(t, "goroutines are left", "%s", stacks[:runtime.Stack(stacks, true)])
		}
	}
	require.False(t, d.locked)
}

func TestErrLockedIsBolts(t *testing.T) {
	path := place(t)
	s, err := openReal(path)
	require.NoError(t, err)
	defer s.Close()
	_, err = openReal(path)
	require.ErrorIs(t, err, bolt.ErrLocked)
}
