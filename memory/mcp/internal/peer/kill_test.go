//go:build unix

package peer

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// These tests start this program again, as processes that write one file until they are
// killed, or their standard input ends, and tell on their standard output what was
// acknowledged and what they have seen in the feed.
const (
	childEnv = "COWMEMORY_PEER_CHILD"
	writers  = 6
)

func init() {
	if args := strings.Fields(os.Getenv(childEnv)); len(args) == 2 {
		child(args[0], args[1])
		os.Exit(0)
	}
}

func openPeer(ctx context.Context, path string) (*Peer, error) {
	return Open(ctx, Options{Path: path, Open: func() (store.Store, error) {
		s, err := openReal(path)
		if err != nil {
			return nil, err
		}
		return s, nil
	}})
}

func child(name, path string) {
	var mu sync.Mutex
	say := func(words ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(words...)
	}
	ctx := context.Background()
	p, err := openPeer(ctx, path)
	if err != nil {
		say("error", err)
		return
	}
	result, err := p.Do(ctx, store.Request{Op: "cursor"})
	var cursor string
	if err == nil {
		err = json.Unmarshal(result, &cursor)
	}
	if err != nil {
		say("error", err)
		return
	}
	var feed, all sync.WaitGroup
	following, stop := context.WithCancel(ctx)
	seen := make(chan string, 1)
	last := "last." + name
	feed.Go(func() {
		for e, err := range p.Changes(following, cursor) {
			if err != nil {
				if following.Err() == nil {
					say("error", "feed", err)
				}
				return
			}
			for _, key := range e.Namespaces {
				say("seen", key)
				if key == last {
					seen <- key
				}
			}
		}
	})
	feed.Go(func() {
		for was := false; following.Err() == nil; time.Sleep(time.Millisecond) {
			if is := p.owns(); is && !was {
				was = true
				say("owner")
			}
		}
	})
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	do := func(key string) {
		result, err := p.Do(ctx, write(rand.Text(), key))
		if err != nil || string(result) != "1" {
			say("error", key, string(result), err)
		}
		say("acked", key)
	}
	for w := range writers {
		all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-ended:
					return
				default:
					do(fmt.Sprint(name, ".", w, ".", i))
				}
			}
		})
	}
	all.Wait()
	do(last)
	<-seen // the feed has all before it
	stop()
	feed.Wait()
	if err := p.Close(); err != nil {
		say("error", "close", err)
	}
	say("closed")
}

// A process is a child, and what it has told.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	done  chan struct{}

	mu     sync.Mutex
	owner  bool
	acked  []string
	seen   []string
	closed bool
	errs   []string
}

func start(t *testing.T, name, path string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0]), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childEnv+"="+name+" "+path)
	p.cmd.Stderr = os.Stderr
	var err error
	p.stdin, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.done)
		for lines := bufio.NewReader(out); ; {
			text, err := lines.ReadString('\n')
			if err != nil {
				break // what a kill has cut off counts for nothing
			}
			p.mu.Lock()
			switch words := strings.Fields(text); words[0] {
			case "owner":
				p.owner = true
			case "acked":
				p.acked = append(p.acked, words[1])
			case "seen":
				p.seen = append(p.seen, words[1])
			case "closed":
				p.closed = true
			default:
				p.errs = append(p.errs, text)
			}
			p.mu.Unlock()
		}
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

func (p *process) told() (owner bool, acked int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.owner, len(p.acked)
}

// Three processes, of which one is killed at some time, the owner mostly, or ends by
// itself, and is replaced, again and again.
func TestKilled(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 6
	}
	for range times(1, 40) {
		killSome(t, rounds)
	}
}

func killSome(t *testing.T, rounds int) {
	path := place(t)
	const together = 3
	var all, alive []*process
	begin := func() {
		p := start(t, fmt.Sprint("p", len(all)), path)
		all, alive = append(all, p), append(alive, p)
	}
	for range together {
		begin()
	}
	killed := 0
	for round := range rounds {
		// Once each has written something there is something to lose.
		for _, p := range alive {
			require.Eventually(t, func() bool { _, n := p.told(); return n > 0 }, time.Minute, time.Millisecond)
		}
		time.Sleep(mrand.N(60 * time.Millisecond))
		victim := mrand.IntN(together)
		if round%4 != 0 {
			require.Eventually(t, func() bool { // it tells so some time after it is
				victim = slices.IndexFunc(alive, func(p *process) bool { owner, _ := p.told(); return owner })
				return victim >= 0
			}, time.Minute, time.Millisecond)
		}
		p := alive[victim]
		if owner, _ := p.told(); owner {
			killed++
		}
		if round%5 == 4 {
			require.NoError(t, p.stdin.Close()) // it ends by itself
		} else {
			if round%3 == 0 { // and was stopped before
				require.NoError(t, p.cmd.Process.Signal(syscall.SIGSTOP))
				time.Sleep(mrand.N(60 * time.Millisecond))
			}
			require.NoError(t, p.cmd.Process.Kill())
		}
		<-p.done
		alive = append(alive[:victim], alive[victim+1:]...)
		begin()
	}
	for _, p := range alive {
		require.NoError(t, p.stdin.Close())
	}
	for _, p := range alive {
		<-p.done
		require.True(t, p.closed)
	}

	s, err := openReal(path)
	require.NoError(t, err)
	defer s.Close()
	counts := s.counts.In(s.db.Load())
	for key, n := range counts.All() {
		require.Equal(t, 1, n, "%s was done twice", key)
	}
	// The order of all commits, which each feed has a part of.
	place := map[string]int{}
	for c, err := range s.db.Changes(t.Context(), 0) {
		require.NoError(t, err)
		for change := range s.counts.Rows(c) {
			place[change.Key] = len(place)
		}
		if c.Version() == s.db.Load().Version() {
			break
		}
	}
	acked, events := 0, 0
	for _, p := range all {
		require.Empty(t, p.errs)
		for _, key := range p.acked {
			_, ok := counts.Get(key)
			require.True(t, ok, "%s was acknowledged, and is lost", key)
		}
		for i, key := range p.seen {
			at, ok := place[key]
			require.True(t, ok, "%s was seen, and is lost", key)
			require.Equal(t, place[p.seen[0]]+i, at, "a feed has a gap, or goes back")
		}
		acked, events = acked+len(p.acked), events+len(p.seen)
	}
	t.Logf("%d processes, %d owners killed or ended, %d acknowledged, %d writes, %d events", len(all), killed, acked, counts.Len(), events)
	require.Positive(t, killed)
}

// An owner that is stopped keeps the file: who has joined waits, and goes on with it.
func TestStopped(t *testing.T) {
	path := place(t)
	first := start(t, "first", path)
	require.Eventually(t, func() bool { owner, n := first.told(); return owner && n > 0 }, time.Minute, time.Millisecond)
	p, err := openPeer(soon(t), path)
	require.NoError(t, err)
	defer p.Close()
	require.False(t, p.owns())
	require.NoError(t, first.cmd.Process.Signal(syscall.SIGSTOP))
	// A signal takes effect some time later: an owner that still runs would answer.
	var status syscall.WaitStatus
	_, err = syscall.Wait4(first.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped())
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err = p.Do(ctx, write("id", "key"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, fmt.Sprintf("process %d has the file", first.cmd.Process.Pid))
	_, err = openPeer(ctx, path)
	require.ErrorIs(t, err, context.DeadlineExceeded, "nor can it be joined")
	require.NoError(t, first.cmd.Process.Signal(syscall.SIGCONT))
	result, err := p.Do(soon(t), write("id", "key"))
	require.NoError(t, err)
	require.Equal(t, "1", string(result), "done once, though sent twice")
	require.NoError(t, first.cmd.Process.Kill())
	result, err = p.Do(soon(t), write("id", "key"))
	require.NoError(t, err)
	require.Equal(t, "1", string(result))
	require.True(t, p.owns())
}
