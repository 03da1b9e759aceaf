// Durable starts a child that writes to a file, kills it, and shows what the file has:
// everything that the child was told is written, and nothing by halves.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

func main() {
	run := parent
	if len(os.Args) == 3 && os.Args[1] == "child" {
		run = func() error { return child(os.Args[2]) }
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// A ledger has accounts, whose sum is 0, and counts the transfers of each clerk.
type ledger struct {
	db       cow.DB
	accounts *cow.Table[int, int]
	done     *cow.Table[string, int]
}

func open(path string) (*ledger, error) {
	l := new(ledger)
	o := cow.Options[int]{Codec: cow.Versioned[int]{}}
	l.accounts = cow.NewTable[int](&l.db, "accounts", o)
	l.done = cow.NewTable[string](&l.db, "done", o)
	l.db.Retain(cow.Retention{Versions: 100_000})
	_, err := bolt.Open(path, &l.db, bolt.Options{})
	return l, err
}

func (l *ledger) transfer(clerk string, from, to, amount int) (done int, err error) {
	add := func(n int) func(v *int, _ bool) error {
		return func(v *int, _ bool) error { *v += n; return nil }
	}
	err = l.db.Update(func(tx *cow.Tx) error {
		e, d := l.accounts.Edit(tx), l.done.Edit(tx)
		err := errors.Join(e.Upsert(from, add(-amount)), e.Upsert(to, add(amount)), d.Upsert(clerk, add(1)))
		done, _ = d.Get(clerk)
		return err
	})
	return done, err
}

const clerks = 16

// child transfers until it is killed, and says so each time.
func child(path string) error {
	l, err := open(path)
	if err != nil {
		return err
	}
	defer l.db.Close()
	failed := make(chan error)
	for c := range clerks {
		go func() {
			for i := 1; ; i++ {
				n, err := l.transfer(fmt.Sprint("clerk", c), c, (c+i)%clerks, i)
				if err != nil {
					failed <- err
					return
				}
				fmt.Println("clerk"+fmt.Sprint(c), n)
			}
		}()
	}
	return <-failed
}

func parent() error {
	dir, err := os.MkdirTemp("", "durable")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ledger.db")
	told := make(map[string]int) // what the children were told is done
	for round := 1; round <= 3; round++ {
		n, err := kill(path, told)
		if err != nil {
			return err
		}
		if err := show(path, told, round, n); err != nil {
			return err
		}
	}
	fmt.Println("nothing that was acknowledged is lost")
	return nil
}

// kill runs a child for a while, and kills it.
func kill(path string, told map[string]int) (n int, err error) {
	cmd := exec.Command(os.Args[0], "child", path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	var once sync.Once
	for lines := bufio.NewScanner(out); lines.Scan(); n++ {
		once.Do(func() { time.AfterFunc(300*time.Millisecond, func() { _ = cmd.Process.Kill() }) })
		var clerk string
		var done int
		if _, err := fmt.Sscan(lines.Text(), &clerk, &done); err == nil {
			told[clerk] = max(told[clerk], done)
		}
	}
	if err := cmd.Wait(); n == 0 {
		return 0, fmt.Errorf("the child did nothing: %w", err)
	}
	return n, nil
}

// show opens the file, and compares it with what the children were told.
func show(path string, told map[string]int, round, n int) error {
	start := time.Now()
	l, err := open(path)
	if err != nil {
		return err
	}
	defer l.db.Close()
	fmt.Printf("round %d: killed after %d transfers were acknowledged; version %d, opened in %v\n",
		round, n, l.db.Load().Version(), time.Since(start).Round(time.Millisecond))
	for clerk, done := range told {
		if is, _ := l.done.Get(clerk); is < done {
			return fmt.Errorf("%s was told that %d transfers are done, and the file has %d", clerk, done, is)
		}
	}
	for version := range l.db.Versions() {
		if version%50 != 0 {
			continue // a few of them will do
		}
		s, err := l.db.At(version)
		if err != nil {
			return err
		}
		sum := 0
		for _, v := range l.accounts.In(s).All() {
			sum += v
		}
		if sum != 0 {
			return fmt.Errorf("version %d is torn: the accounts sum up to %d", version, sum)
		}
	}
	return nil
}
