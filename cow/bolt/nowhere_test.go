//go:build linux

package bolt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory"
)

// A marker is a word that is in memory only where somebody has made it, and kept it. It is too long for
// what the compiler has on stacks to convert strings.
type marker [2]uint64

func newMarker() marker { return marker{rand.Uint64(), rand.Uint64()} }

func (m marker) String() string { return fmt.Sprintf("x%016x%016x7", m[0], m[1]) }

// Notes are a Memory in a file: others, each written by every tenth commit, and two with a marker,
// written by most, one of which is to be erased.
type notes struct {
	*memory.Memory
	db           *cow.DB
	file         *bolt.File
	secret, kept marker
}

const noteCommits = 60

// eachCommit is how many of the others a commit writes.
func eachCommit() int { return times(12, 100) }

func otherNotes() int { return 10 * eachCommit() }

func (n *notes) open(t *testing.T, path string) {
	n.db = new(cow.DB)
	n.Memory = memory.On(n.db, memory.Options{})
	n.db.Retain(forever)
	var err error
	n.file, err = bolt.Open(path, n.db, bolt.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.db.Close() })
}

func (n *notes) write(t *testing.T, commit int) {
	require.NoError(t, n.Batch(func(b *memory.Batch) error {
		s := b.Space("notes")
		for i := range eachCommit() {
			i += commit * eachCommit() % otherNotes()
			require.NoError(t, s.Put(fmt.Sprint(i), fmt.Sprintf("note %d of commit %d", i, commit)))
		}
		for key, m := range map[string]marker{"secret": n.secret, "kept": n.kept} {
			if commit%7 == 0 {
				s.Delete(key)
				continue
			}
			require.NoError(t, s.PutItem(key, memory.Item{
				Value: fmt.Sprintf("commit %d has %s", commit, m), Metadata: map[string]any{"of": m.String()}, Vector: []float32{float32(commit), 1},
			}))
		}
		return nil
	}))
}

// requireOthers demands that all other notes have their whole past.
func (n *notes) requireOthers(t *testing.T) {
	t.Helper()
	versions := 0
	for v := range n.db.Versions() {
		at, err := n.At(v)
		require.NoError(t, err)
		last := min(int(v), noteCommits)
		for i := range otherNotes() {
			e, ok := at.Space("notes").Entry(fmt.Sprint(i))
			commit := last - (last-i/eachCommit()+10)%10
			if commit < 1 {
				require.False(t, ok)
			} else if e.Revision != uint64(commit) || e.Value.String() != fmt.Sprintf("note %d of commit %d", i, commit) {
				t.Fatalf("version %d, note %d: %v of commit %d", v, i, e.Value, e.Revision)
			}
		}
		versions++
	}
	require.Equal(t, noteCommits+2, versions)
}

func tell(t *testing.T, w io.Writer, changes iter.Seq2[memory.Change, error]) {
	for c, err := range changes {
		require.NoError(t, err)
		fmt.Fprintln(w, c.Version, c.Kind, c.Key, c.Old.Value, c.Old.Metadata, c.New.Value, c.New.Metadata)
	}
}

// where returns the ways to find a marker by which it is found.
func (n *notes) where(t *testing.T, m marker, key string) (found []string) {
	for _, way := range []struct {
		name string
		show func(w io.Writer)
	}{
		{"the versions", func(w io.Writer) {
			for v := range n.db.Versions() {
				s, err := n.db.At(v)
				require.NoError(t, err)
				require.NoError(t, json.NewEncoder(w).Encode(s))
			}
		}},
		{"a search in each", func(w io.Writer) {
			for v := range n.db.Versions() {
				s, err := n.At(v)
				require.NoError(t, err)
				hits, err := s.Space("notes").Search(memory.Query{Text: m.String(), Vector: []float32{30, 1}, K: 1})
				require.NoError(t, err)
				for _, h := range hits {
					fmt.Fprintln(w, h.Value, h.Metadata)
				}
			}
		}},
		{"the pins", func(w io.Writer) {
			for _, s := range n.db.Pins() {
				require.NoError(t, n.In(s).Export(w))
			}
		}},
		{"a fork of the past", func(w io.Writer) {
			s, err := n.At(noteCommits / 2)
			require.NoError(t, err)
			require.NoError(t, n.Fork(s).Load().Export(w))
		}},
		{"the feed", func(w io.Writer) { tell(t, w, n.Since(0)) }},
		{"the history of its key", func(w io.Writer) { tell(t, w, n.Space("notes").History(key)) }},
		{"a backup", func(w io.Writer) { require.NoError(t, n.Backup(w)) }},
		{"a backup of the file", func(w io.Writer) {
			_, err := n.file.Backup(w)
			require.NoError(t, err)
		}},
	} {
		var b bytes.Buffer
		if way.show(&b); bytes.Contains(b.Bytes(), []byte(m.String())) {
			found = append(found, way.name)
		}
	}
	return found
}

// inHeap reports which markers are in the memory of the process.
func inHeap(t *testing.T, all ...marker) (found []bool) {
	f, err := os.CreateTemp(t.TempDir(), "heap")
	require.NoError(t, err)
	for range 3 { // what pools had, and what was to be cleaned up
		runtime.GC()
	}
	debug.WriteHeapDump(f.Fd())
	require.NoError(t, f.Close())
	heap, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	for _, m := range all {
		found = append(found, bytes.Contains(heap, []byte(m.String())))
	}
	return found
}

// What is erased is nowhere: in nothing that is kept of the past, nor what is made of it, in no fork,
// not in the heap, not in the file. All else is there as before.
func TestErasedIsNowhere(t *testing.T) {
	if !strings.Contains(os.Getenv("GODEBUG"), "clobberfree=1") { // what is freed has to be overwritten
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", fmt.Sprint("-long=", *long))
		cmd.Env = append(os.Environ(), "GODEBUG=clobberfree=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	path := temp(t)
	n := &notes{secret: newMarker(), kept: newMarker()}
	n.open(t, path)
	for commit := 1; commit <= noteCommits; commit++ {
		n.write(t, commit)
		if commit%20 == 5 {
			require.NoError(t, n.db.Pin(fmt.Sprint(commit), uint64(commit)))
		}
	}
	middle, err := n.At(noteCommits / 2)
	require.NoError(t, err)
	fork := n.Fork(middle)
	next, stop := iter.Pull2(n.Changes(t.Context(), 0))
	defer stop()
	_, _, _ = next() // which comes with the whole first commit
	all := n.where(t, n.kept, "kept")
	require.Len(t, all, 8)
	require.Equal(t, all, n.where(t, n.secret, "secret"))
	require.Equal(t, []bool{true, true}, inHeap(t, n.secret, n.kept))

	others, err := n.Space("notes").Erase(t.Context(), "secret")
	require.NoError(t, err)
	require.Equal(t, []*cow.DB{fork.DB()}, others)
	for at := uint64(1); at <= noteCommits; { // who follows had the first
		c, err, _ := next()
		require.NoError(t, err)
		require.Equal(t, c.Version > noteCommits, c.Kind == memory.Erased)
		require.True(t, c.Key != "secret" || c.Version == 1 || c.Kind == memory.Erased, c.Version)
		at = c.Version
	}
	require.Empty(t, n.where(t, n.secret, "secret"))
	require.Equal(t, all, n.where(t, n.kept, "kept"))
	n.requireOthers(t)

	others, err = fork.Space("notes").Erase(t.Context(), "secret")
	require.NoError(t, err)
	require.Empty(t, others)
	require.Equal(t, []bool{false, true}, inHeap(t, n.secret, n.kept))
	runtime.KeepAlive(fork)

	for range 2 { // opened again, and compacted
		require.NoError(t, n.db.Close())
		n.open(t, path)
		require.Empty(t, n.where(t, n.secret, "secret"))
		require.Equal(t, all, n.where(t, n.kept, "kept"))
		n.requireOthers(t)
		require.NoError(t, n.db.Close())
		require.NoError(t, bolt.Compact(path))
	}
	require.False(t, fileHas(t, path, n.secret.String()))
	require.True(t, fileHas(t, path, n.kept.String()))
}
