//go:build unix

package peer

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

func TestWhereTheSocketIs(t *testing.T) {
	path := place(t)
	t.Setenv("TMPDIR", filepath.Dir(path))
	s, err := socketOf(path)
	require.NoError(t, err)
	require.Equal(t, path+".sock", s, "beside the file")

	deep := filepath.Join(filepath.Dir(path), strings.Repeat("d", 200), "m")
	require.NoError(t, os.Mkdir(filepath.Dir(deep), 0o700))
	shared := filepath.Join(filepath.Dir(path), "shared", "m")
	require.NoError(t, os.Mkdir(filepath.Dir(shared), 0o700))
	require.NoError(t, os.Chmod(filepath.Dir(shared), 0o777))
	seen := map[string]bool{}
	for _, path := range []string{deep, shared, deep + "2"} {
		s, err := socketOf(path)
		require.NoError(t, err)
		require.Equal(t, filepath.Join(os.TempDir(), fmt.Sprint("cowmemory-", os.Getuid())), filepath.Dir(s))
		require.LessOrEqual(t, len(s), maxSocket)
		require.False(t, seen[s])
		seen[s] = true
	}

	// The folder is not the user's alone.
	temp := filepath.Join(os.TempDir(), fmt.Sprint("cowmemory-", os.Getuid()))
	require.NoError(t, os.Chmod(temp, 0o770))
	_, err = socketOf(deep)
	require.ErrorIs(t, err, ErrForeign)
	require.NoError(t, os.Remove(temp))
	require.NoError(t, os.Symlink(filepath.Dir(path), temp))
	_, err = socketOf(deep)
	require.ErrorIs(t, err, ErrForeign)

	t.Setenv("TMPDIR", filepath.Dir(deep))
	_, err = socketOf(deep)
	require.ErrorContains(t, err, "TMPDIR")
}

// Every path that leads to the file leads to its socket.
func TestOtherPaths(t *testing.T) {
	path, d := place(t), newDisk()
	first := peerOn(t, path, d, nil)
	info, err := os.Stat(first.socket)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(filepath.Dir(path), link))
	t.Chdir(filepath.Dir(path))
	for _, other := range []string{filepath.Join(link, filepath.Base(path)), filepath.Base(path), "./../" + filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path)} {
		p := peerOn(t, other, d, nil)
		_, err := p.Do(soon(t), store.Request{Op: "echo"})
		require.NoError(t, err)
		require.False(t, p.owns())
	}

	long := filepath.Join(filepath.Dir(path), strings.Repeat("d", 200), "m")
	d = newDisk()
	peerOn(t, long, d, nil) // which makes the folder
	_, err = peerOn(t, long, d, nil).Do(soon(t), store.Request{Op: "echo"})
	require.NoError(t, err)
}

// What a killed owner has left, or who tidies up has removed.
// A link that leads to where no file is yet is followed, so that the next one finds the same.
func TestALinkToNothingYet(t *testing.T) {
	path, err := resolve(place(t))
	require.NoError(t, err)
	link, further, loop := path+".link", path+".further", path+".loop"
	require.NoError(t, os.Symlink(filepath.Base(path), link))
	require.NoError(t, os.Symlink(link, further))
	require.NoError(t, os.Symlink(loop, loop))
	for _, p := range []string{link, further} {
		before, err := resolve(p)
		require.NoError(t, err)
		require.Equal(t, path, before)
	}
	_, err = resolve(loop)
	require.Error(t, err)
}

func TestTheSocketsFile(t *testing.T) {
	path, d := place(t), newDisk()
	l, err := listen(path + ".sock")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.FileExists(t, path+".sock")
	first := peerOn(t, path, d, nil)
	require.True(t, first.owns())
	old := peerOn(t, path, d, nil)
	require.NoError(t, os.Remove(first.socket))
	_, err = peerOn(t, path, d, nil).Do(soon(t), store.Request{Op: "echo"})
	require.NoError(t, err, "it is made again")
	_, err = old.Do(soon(t), store.Request{Op: "echo"})
	require.NoError(t, err)
	require.Equal(t, 1, d.opens)
}

func TestAForeignSocket(t *testing.T) {
	path, d := place(t), newDisk()
	f, err := d.open()
	require.NoError(t, err)
	open := func() (store.Store, error) {
		f, err := d.open()
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	// Here it is no socket; that of another user is refused by the same line.
	require.NoError(t, os.WriteFile(path+".sock", nil, 0o600))
	_, err = Open(soon(t), Options{Path: path, Open: open})
	require.ErrorIs(t, err, ErrForeign)
	if os.Getuid() == 0 {
		require.NoError(t, os.Remove(path+".sock"))
		l, err := listen(path + ".sock")
		require.NoError(t, err)
		defer l.Close()
		require.NoError(t, os.Chown(path+".sock", 12345, 12345))
		_, err = Open(soon(t), Options{Path: path, Open: open})
		require.ErrorIs(t, err, ErrForeign)
	}
	require.NoError(t, f.Close())
	p, err := Open(soon(t), Options{Path: path, Open: open})
	require.NoError(t, err, "who has the lock makes another")
	require.NoError(t, p.Close())
}

func TestAnotherRelease(t *testing.T) {
	path, d := place(t), newDisk()
	first := peerOn(t, path, d, nil)
	resp := ask(t, first, "GET", "/join", "2", "")
	require.Equal(t, http.StatusHTTPVersionNotSupported, resp.StatusCode)
	require.Equal(t, version, resp.Header.Get(versionHeader))
	require.NoError(t, first.Close())

	f, err := d.open()
	require.NoError(t, err)
	defer f.Close()
	l, err := listen(path + ".sock")
	require.NoError(t, err)
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(versionHeader, "2")
		_, _ = io.WriteString(w, "{}\n")
	})}}
	s.Start()
	defer s.Close()
	_, err = Open(soon(t), Options{Path: path, Open: func() (store.Store, error) {
		f, err := d.open()
		return f, err
	}})
	require.ErrorIs(t, err, ErrVersion)
	require.ErrorContains(t, err, `"2"`)
}

// One that has joined and behaves badly stops nobody.
func TestBadPeers(t *testing.T) {
	path, d := place(t), newDisk()
	first, second := peerOn(t, path, d, nil), peerOn(t, path, d, nil)
	for body, want := range map[string]int{
		"":                       http.StatusBadRequest,
		"{":                      http.StatusBadRequest,
		`{"op":7}`:               http.StatusBadRequest,
		`{"op":"not base64 !"}`:  http.StatusBadRequest,
		strings.Repeat("[", 1e6): http.StatusBadRequest,
	} {
		resp := ask(t, first, "POST", "/do", version, body)
		require.Equal(t, want, resp.StatusCode, "%.20s", body)
	}
	c, err := dial(soon(t), first.socket)
	require.NoError(t, err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "POST /do HTTP/1.1\r\nHost: m\r\n%s: %s\r\nContent-Length: %d\r\n\r\n", versionHeader, version, maxFrame+1)
	require.NoError(t, err)
	text, err := bufio.NewReader(c).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, text, "413", "without its body")
	require.Equal(t, http.StatusNotFound, ask(t, first, "GET", "/", version, "").StatusCode)
	require.Equal(t, http.StatusMethodNotAllowed, ask(t, first, "GET", "/do", version, "").StatusCode)

	// More large requests that never arrive than are read at once, and a crowd that says
	// nothing.
	var conns []net.Conn
	dialOne := func() net.Conn {
		c, err := dial(soon(t), first.socket)
		require.NoError(t, err)
		conns = append(conns, c)
		return c
	}
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for range 2 * maxLarge {
		_, err := fmt.Fprintf(dialOne(), "POST /do HTTP/1.1\r\nHost: m\r\n%s: %s\r\nContent-Length: %d\r\n\r\nx", versionHeader, version, large+1)
		require.NoError(t, err)
	}
	for range 100 {
		dialOne()
	}
	_, err = second.Do(soon(t), write("a", "key"))
	require.NoError(t, err)
	begin := time.Now()
	require.NoError(t, first.Close(), "nor are they waited for")
	require.Less(t, time.Since(begin), arrive)
	_, err = second.Do(soon(t), write("a", "key"))
	require.NoError(t, err)
	require.Equal(t, []string{"key"}, d.log)
}

func TestTooManyConnections(t *testing.T) {
	path, d := place(t), newDisk()
	first := peerOn(t, path, d, nil)
	s, _ := first.state()
	o := s.seat.(*owner)
	o.conns.Store(maxConns)
	c, err := dial(soon(t), first.socket)
	require.NoError(t, err)
	_, err = c.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, c.Close())
	require.Eventually(t, func() bool { return o.conns.Load() == maxConns }, time.Minute, time.Millisecond)
	time.AfterFunc(20*time.Millisecond, func() { o.conns.Store(0) })
	_, err = peerOn(t, path, d, nil).Do(soon(t), store.Request{Op: "echo"})
	require.NoError(t, err, "it comes again")
}
