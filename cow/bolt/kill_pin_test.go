//go:build linux

package bolt_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// pinsChild writes the number of each version, and pins and lets go of versions, and tells
// what was begun and what was done.
func pinsChild(path string) {
	s := newShop()
	s.db.Retain(cow.Retention{Versions: 5})
	if err := s.open(path, bolt.Options{}); err != nil {
		fmt.Println("error", err)
		return
	}
	go func() {
		for {
			if err := s.db.Update(func(tx *cow.Tx) error {
				n := int(tx.Version())
				s.total.Edit(tx).Set(0, n)
				s.jobs.Edit(tx).Set(fmt.Sprint(n%7), job{N: n})
				return nil
			}); err != nil {
				fmt.Println("error", err)
			}
		}
	}()
	for i := 0; ; i++ {
		name := fmt.Sprint(i % 20)
		version := s.db.Load().Version()
		if i%3 == 1 && version > 2 {
			version -= 2
		}
		fmt.Println("moving", name)
		err := s.db.Pin(name, version)
		switch {
		case err == nil:
			fmt.Println("pinned", name, version)
		default: // it was dropped meanwhile
			fmt.Println("left", name)
		}
		if i%5 == 4 {
			gone := fmt.Sprint(i * 7 % 20)
			fmt.Println("moving", gone)
			if s.db.Unpin(gone) {
				fmt.Println("gone", gone)
			} else {
				fmt.Println("left", gone)
			}
		}
	}
}

// What Pin and Unpin have said is so after a kill, and each pinned version is whole.
func TestKilledWhilePinning(t *testing.T) {
	for round := range times(4, 60) {
		path := temp(t)
		pins, open := map[string]int{}, map[string]bool{}
		for range 2 { // killed, and again
			for _, line := range runChild(t, "pins "+path, time.Duration(20+15*round%150)*time.Millisecond) {
				if len(line) < 2 || line[0] == "pinned" && len(line) < 3 {
					continue // cut off
				}
				open[line[1]] = line[0] == "moving"
				switch line[0] {
				case "pinned":
					pins[line[1]] = number(t, line[2])
				case "gone":
					delete(pins, line[1])
				}
			}
			s := newShop()
			require.NoError(t, s.open(path, bolt.Options{}))
			is := map[string]int{}
			for name, at := range s.db.Pins() {
				n := int(at.Version())
				is[name] = n
				total, _ := s.total.In(at).Get(0)
				require.Equal(t, n, total)
				require.Equal(t, min(n, 7), s.jobs.In(at).Len())
				for key, j := range s.jobs.In(at).All() {
					require.Equal(t, key, fmt.Sprint(j.N%7))
					require.Greater(t, j.N, n-7)
					require.LessOrEqual(t, j.N, n)
				}
			}
			for name := range open {
				if open[name] { // it may have been done or not
					delete(is, name)
					delete(pins, name)
				}
			}
			require.Equal(t, pins, is)
			for name, at := range s.db.Pins() {
				pins[name] = int(at.Version())
			}
			clear(open)
			require.NoError(t, s.db.Close())
			_, err := bolt.Check(path)
			require.NoError(t, err)
		}
	}
}
