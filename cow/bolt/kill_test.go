//go:build linux

package bolt_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// These tests start this program again, as a child that writes a file until it is killed
// or cannot go on, and tells on its standard output what was acknowledged.
const childEnv = "COWSTORE_BOLT_CHILD"

func TestMain(m *testing.M) {
	args := strings.Split(os.Getenv(childEnv), " ")
	switch args[0] {
	case "bank":
		every, _ := time.ParseDuration(args[2])
		limit, _ := strconv.Atoi(args[3])
		child(args[1], bolt.Sync(every), uint64(limit))
	case "agents":
		agentsChild(args[1])
	case "pins":
		pinsChild(args[1])
	case "erase":
		eraseChild(args[1])
	case "create":
		createChild(args[1])
	case "rewrite": // as a user who owns nothing
		err := syscall.Setgroups(nil)
		if err == nil {
			err = syscall.Setgid(4000)
		}
		if err == nil {
			err = syscall.Setuid(4000)
		}
		if err == nil {
			_, err = rewrites[args[2]](args[1])
		}
		fmt.Println(err)
	case "check":
		_, err := bolt.Check(args[1])
		fmt.Println(err)
	default:
		os.Exit(m.Run())
	}
}

const (
	bankWriters  = 64
	bankAccounts = 10
	bankPast     = 20_000 // versions; less than some machines commit in one round
)

// A bank moves money between two tables, whose sum is 0.
type bank struct {
	db       cow.DB
	from, to *cow.Table[int, int]
	last     *cow.Table[string, int] // the number of the last move of each writer
}

func openBank(path string, sync bolt.Sync) (*bank, error) {
	b := new(bank)
	number := cow.Options[int]{Codec: cow.Versioned[int]{}}
	b.from = cow.NewTable[int](&b.db, "from", number)
	b.to = cow.NewTable[int](&b.db, "to", number)
	b.last = cow.NewTable[string](&b.db, "last", number)
	b.db.Retain(cow.Retention{Versions: bankPast})
	if sync != bolt.Always {
		b.db.Retain(forever) // its child follows the feed, however late that comes
	}
	_, err := bolt.Open(path, &b.db, bolt.Options{Sync: sync})
	return b, err
}

// move moves an amount, and returns the version that did.
func (b *bank) move(writer string, n int) (version uint64, err error) {
	err = b.db.Update(func(tx *cow.Tx) error {
		version = tx.Version()
		amount := rand.IntN(100)
		_ = b.from.Edit(tx).Upsert(rand.IntN(bankAccounts), func(v *int, _ bool) error { *v -= amount; return nil })
		_ = b.to.Edit(tx).Upsert(rand.IntN(bankAccounts), func(v *int, _ bool) error { *v += amount; return nil })
		b.last.Edit(tx).Set(writer, n)
		return nil
	})
	return version, err
}

// failSync makes a sync of a child fail that is asked to, and returns what tells how many
// there were.
var failSync = func() (told func(), err error) { return func() {}, nil }

func child(path string, sync bolt.Sync, limit uint64) {
	signal.Ignore(syscall.SIGXFSZ)
	b, err := openBank(path, sync)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	if sync != bolt.Always { // tell when each was proposed
		go func() {
			for c, err := range b.db.Changes(context.Background(), b.db.Load().Version()) {
				if err != nil {
					fmt.Println("error", err)
					return
				}
				fmt.Println("seen", c.Version(), c.Time().UnixNano())
			}
		}()
	}
	if limit > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			fmt.Println("error", err)
			return
		}
	}
	told, err := failSync()
	if err != nil {
		fmt.Println("error", err)
		return
	}
	together(bankWriters, func(w int) {
		writer := fmt.Sprint("w", w)
		n, _ := b.last.Get(writer)
		for limit == 0 || n < 1e6 {
			n++
			name := writer
			if limit > 0 { // ever more rows
				name = fmt.Sprint(writer, ".", n)
			}
			version, err := b.move(name, n)
			if err != nil {
				fmt.Println("failed", version, writer, n, err)
				break
			}
			fmt.Println("acked", version, name, n)
		}
	})
	// Only a failure leads here: reads go on, and writes do not.
	first, err := b.move("again", 1)
	fmt.Println("again", first, b.db.Load().Version(), err)
	fmt.Println("closed", 0, b.db.Close())
	told()
}

// run runs a child until it is killed, after a while from its first line on, or ends
// by itself, and returns the lines that it wrote, in words.
func run(t *testing.T, path string, sync time.Duration, limit int, kill time.Duration) (lines [][]string) {
	t.Helper()
	return runChild(t, fmt.Sprintf("bank %s %s %d", path, sync, limit), kill)
}

func runChild(t *testing.T, args string, kill time.Duration) (lines [][]string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+args)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	text := bufio.NewScanner(out)
	text.Buffer(nil, 1<<20)
	for text.Scan() {
		if len(lines) == 0 && kill > 0 {
			time.AfterFunc(kill, func() { _ = cmd.Process.Kill() })
		}
		lines = append(lines, strings.Fields(text.Text()))
	}
	require.NoError(t, text.Err())
	if err := cmd.Wait(); kill == 0 {
		require.NoError(t, err)
	}
	for _, line := range lines {
		require.NotEqual(t, "error", line[0], "%v", line)
	}
	return lines
}

func init() {
	requireFree = func(t *testing.T, path string) {
		t.Helper()
		require.Equal(t, [][]string{{"<nil>"}}, runChild(t, "check "+path, 0), "in another process")
	}
}

func number(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// verify requires that every version that is retained is whole, and that the feed goes
// on after a version, or after the oldest where that is not retained: a fast machine
// commits any number of versions before it is killed.
func (b *bank) verify(t *testing.T, cursor string, since uint64) {
	t.Helper()
	for oldest := range b.db.Versions() {
		if oldest > since {
			for _, err := range b.db.Resume(t.Context(), cursor) {
				require.ErrorIs(t, err, cow.ErrCompacted)
			}
			since, cursor = oldest, b.db.Cursor(oldest)
		}
		break
	}
	sum := func(v map[int]int) (sum int) {
		for _, n := range v {
			sum += n
		}
		return sum
	}
	require.Zero(t, sum(mapOf(b.from.In(b.db.Load())))+sum(mapOf(b.to.In(b.db.Load()))))
	if since == b.db.Load().Version() {
		return
	}
	for c, err := range b.db.Resume(t.Context(), cursor) {
		require.NoError(t, err)
		require.Equal(t, since+1, c.Version())
		delta, writers := 0, 0
		for _, table := range []*cow.Table[int, int]{b.from, b.to} {
			for change := range table.Rows(c) {
				was, _ := change.Old()
				is, _ := change.New()
				delta += is - was
			}
		}
		for change := range b.last.Rows(c) {
			was, _ := change.Old()
			is, _ := change.New()
			require.True(t, is == was+1 || was == 0)
			writers++
		}
		require.Zero(t, delta, "version %d is torn", c.Version())
		require.Equal(t, 1, writers, "version %d is torn", c.Version())
		if since++; since == b.db.Load().Version() {
			return
		}
	}
}

func mapOf(m *cow.Map[int, int]) map[int]int {
	all := map[int]int{}
	for k, v := range m.All() {
		all[k] = v
	}
	return all
}

func TestKilled(t *testing.T) {
	path := temp(t)
	var cursor string
	var version uint64
	acked, commits := 0, 0
	for round := range times(10, 300) {
		lines := run(t, path, 0, 0, time.Duration(1+rand.IntN(60))*time.Millisecond)
		b, err := openBank(path, bolt.Always)
		require.NoError(t, err)
		last := map[string]int{}
		for _, line := range lines {
			require.Equal(t, "acked", line[0])
			last[line[2]] = max(last[line[2]], number(t, line[3]))
			require.LessOrEqual(t, number(t, line[1]), int(b.db.Load().Version()))
		}
		for w, n := range last {
			is, _ := b.last.Get(w)
			require.GreaterOrEqual(t, is, n, "an acknowledged commit is lost")
			require.LessOrEqual(t, is, n+1)
		}
		if round == 0 {
			cursor = b.db.Cursor(0)
		}
		b.verify(t, cursor, version)
		acked += len(lines)
		commits += int(b.db.Load().Version() - version)
		version = b.db.Load().Version()
		cursor = b.db.Cursor(version)
		require.NoError(t, b.db.Close())
	}
	require.Positive(t, acked)
	t.Logf("%d acknowledged, %d commits", acked, commits)
}

func TestKilledWithEvery(t *testing.T) {
	const every = 40 * time.Millisecond
	lostAny := 0
	for range times(6, 100) {
		path := filepath.Join(t.TempDir(), "db")
		lines := run(t, path, every, 0, time.Duration(20+rand.IntN(150))*time.Millisecond)
		b, err := openBank(path, bolt.Always)
		require.NoError(t, err)
		b.verify(t, b.db.Cursor(0), 0)
		lost, first, last := 0, 0, 0
		for _, line := range lines {
			if line[0] == "seen" && number(t, line[1]) > int(b.db.Load().Version()) {
				at := number(t, line[2])
				if lost++; lost == 1 {
					first, last = at, at
				}
				first, last = min(first, at), max(last, at)
			}
		}
		require.LessOrEqual(t, time.Duration(last-first), every, "more was lost than it says")
		lostAny += lost
		require.NoError(t, b.db.Close())
	}
	t.Logf("%d were lost", lostAny)
}

func TestAFileThatMayNotGrow(t *testing.T) {
	for _, every := range []time.Duration{0, time.Millisecond} {
		path := temp(t)
		b, err := openBank(path, bolt.Always)
		require.NoError(t, err)
		require.NoError(t, b.db.Close())
		info, err := os.Stat(path)
		require.NoError(t, err)

		lines := run(t, path, every, 4*int(info.Size()), 0)
		b, err = openBank(path, bolt.Always)
		require.NoError(t, err)
		acked, failed := 0, 0
		for _, line := range lines {
			switch line[0] {
			case "acked":
				acked++
				if every == 0 {
					n, ok := b.last.Get(line[2])
					require.True(t, ok, "an acknowledged commit is lost")
					require.Equal(t, number(t, line[3]), n)
				}
			case "failed":
				failed++
				require.Contains(t, strings.Join(line, " "), "writes have failed")
				require.Contains(t, strings.Join(line, " "), "file too large")
			case "again":
				require.Contains(t, strings.Join(line, " "), "writes have failed")
				require.LessOrEqual(t, acked, number(t, line[2]))
			case "closed":
				require.Contains(t, strings.Join(line, " "), "file too large", "Close says it too")
			}
		}
		require.Positive(t, acked)
		require.Equal(t, bankWriters, failed)
		b.verify(t, b.db.Cursor(0), 0)
		require.NoError(t, b.db.Close())
	}
}
