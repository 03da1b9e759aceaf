// Durable is a queue in a file: jobs that wait, that a worker has taken, and that are done.
//
// It starts a child that works on the jobs, and kills it, three times. Then it lets one end, and
// shows that no job is lost and that each is done once.
//
//	go run ./examples/durable
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

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// A queue has each job by its number, in one of three tables.
type queue struct {
	db                   cow.DB
	waiting, taken, done *cow.Table[int, string]
	order                *cow.Index[int, string, int]
}

// open opens a queue. What had been taken, by a worker that was killed, waits again.
func open(path string) (*queue, error) {
	q := new(queue)
	o := cow.Options[string]{Codec: cow.Versioned[string]{}}
	q.waiting = cow.NewTable[int](&q.db, "waiting", o)
	q.taken = cow.NewTable[int](&q.db, "taken", o)
	q.done = cow.NewTable[int](&q.db, "done", o)
	q.order = cow.NewOrder(q.waiting, "order")
	if _, err := bolt.Open(path, &q.db, bolt.Options{}); err != nil {
		return nil, err
	}
	return q, q.db.Update(func(tx *cow.Tx) error {
		q.waiting.Edit(tx).SetAll(q.taken.In(tx.Base()).All())
		q.taken.Edit(tx).Clear()
		return nil
	})
}

// take hands out the job that waits for longest. It returns false if none does.
func (q *queue) take() (id int, job string, ok bool, err error) {
	err = q.db.Update(func(tx *cow.Tx) error {
		var row cow.Row[int, string]
		if id, row, ok = q.order.During(q.waiting.Edit(tx)).TakeFirst(); ok {
			job = row.Value()
			q.taken.Edit(tx).Set(id, job)
		}
		return nil
	})
	return id, job, ok, err
}

// finish stores what came of a job. It is on disk when finish returns.
func (q *queue) finish(id int, result string) error {
	return q.db.Update(func(tx *cow.Tx) error {
		q.taken.Edit(tx).Delete(id)
		return q.done.Edit(tx).Insert(id, result) // an error if it is done already
	})
}

// work takes and finishes jobs, four at a time, and prints the number of each that is done.
func work(path string) error {
	q, err := open(path)
	if err != nil {
		return err
	}
	var workers sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		workers.Go(func() {
			for {
				id, job, ok, err := q.take()
				if err == nil && ok {
					err = q.finish(id, job+" is done")
				}
				if errs[i] = err; err != nil || !ok {
					return
				}
				fmt.Println(id)
			}
		})
	}
	workers.Wait()
	return errors.Join(append(errs, q.db.Close())...)
}

const jobs = 1000

// child works on the jobs in a process of its own, and kills it after some are done; 0: never. It
// adds the numbers of those that the process said are done.
func child(path string, after int, told map[string]bool) error {
	cmd := exec.Command(os.Args[0], "work", path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	n := 0
	for lines := bufio.NewScanner(out); lines.Scan(); told[lines.Text()] = true {
		if n++; n == after {
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); after == 0 {
		return err
	}
	return nil
}

func run(path string) error {
	q, err := open(path)
	if err != nil {
		return err
	}
	err = q.waiting.Update(func(e *cow.Editor[int, string]) error {
		for id := range jobs {
			e.Set(id, fmt.Sprint("job ", id))
		}
		return nil
	})
	if err := errors.Join(err, q.db.Close()); err != nil {
		return err
	}
	told := map[string]bool{}
	for _, after := range []int{50, 50, 50, 0} {
		if err := child(path, after, told); err != nil {
			return err
		}
		if q, err = open(path); err != nil {
			return err
		}
		now, lost := q.db.Load(), 0
		for id := range told {
			var n int
			if _, err := fmt.Sscan(id, &n); err == nil && !q.done.In(now).Has(n) {
				lost++
			}
		}
		how := "killed"
		if after == 0 {
			how = "ended"
		}
		fmt.Printf("%s: %d of the jobs that were done are lost, %d are missing from the queue\n",
			how, lost, jobs-q.waiting.In(now).Len()-q.done.In(now).Len())
		if err := q.db.Close(); err != nil {
			return err
		}
	}
	now := q.db.Load() // can be read although it is closed
	fmt.Println(q.waiting.In(now).Len(), "wait,", q.done.In(now).Len(), "are done")
	return nil
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "work" {
		if err := work(os.Args[2]); err != nil {
			log.Fatal(err)
		}
		return
	}
	dir, err := os.MkdirTemp("", "durable")
	if err == nil {
		err = errors.Join(run(filepath.Join(dir, "queue.db")), os.RemoveAll(dir))
	}
	if err != nil {
		log.Fatal(err)
	}
}
