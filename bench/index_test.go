package main_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// person is a row with three keys: its own, a unique one and an ordered one.
type person struct {
	ID, Email string
	Age       int
	Score     float64
}

func newPerson(i, age int) person {
	return person{ID: key(i), Email: fmt.Sprintf("u%d.%x@example.com", i, uint32(i)*2654435761), Age: age}
}

// people are size("100k") rows.
func people(yield func(string, person) bool) {
	for i, n := 0, size("100k"); i < n; i++ {
		if p := newPerson(i, i*7919%n); !yield(p.ID, p) {
			return
		}
	}
}

// A directory has people, with an index by Email and one by Age.
type directory struct {
	set  func(p person) error
	age  func(email string) int
	sum  func(from, n int) int // of the first n ages from that on
	ages []int                 // of person 0 and so on
}

// eachDirectory calls f with directories in which one in five has been set to another age.
func eachDirectory(b *testing.B, f func(b *testing.B, d directory)) {
	moved := func(b *testing.B, d directory) {
		n, r := size("100k"), rand.New(rand.NewPCG(3, 3))
		for i := range n {
			d.ages = append(d.ages, i*7919%n)
		}
		for range n / 5 {
			i, age := r.IntN(n), r.IntN(n)
			require.NoError(b, d.set(newPerson(i, age)))
			d.ages[i] = age
		}
		f(b, d)
	}
	b.Run("keys=100k/indexes=2/store=cowstore", func(b *testing.B) { _, d := newCowPeople(b, 2); moved(b, d) })
	b.Run("keys=100k/indexes=2/store=memdb", func(b *testing.B) { moved(b, newMemPeople(b)) })
}

func newCowPeople(b *testing.B, indexes int) (*cow.Table[string, person], directory) {
	var db cow.DB
	t := cow.NewTable[string](&db, "people", cow.Options[person]{})
	defer func() { require.NoError(b, t.Replace(people)) }()
	if indexes == 0 {
		return t, directory{}
	}
	byAge, err := cow.NewIndex(t, "age", func(r cow.Row[string, person]) int { return r.Value().Age }, cow.IndexOptions[string]{})
	require.NoError(b, err)
	if indexes == 1 {
		return t, directory{}
	}
	byEmail, err := cow.NewIndex(t, "email", func(r cow.Row[string, person]) string { return r.Value().Email }, cow.IndexOptions[string]{Unique: true})
	require.NoError(b, err)
	return t, directory{
		set: func(p person) error {
			return db.Update(func(tx *cow.Tx) error { t.Edit(tx).Set(p.ID, p); return nil })
		},
		age: func(email string) int {
			row, _ := byEmail.In(t.In(db.Load())).Get(email)
			return row.Value().Age
		},
		sum: func(from, n int) (sum int) {
			for _, row := range byAge.In(t.In(db.Load())).From(from).All() {
				sum += row.Value().Age
				if n--; n == 0 {
					break
				}
			}
			return sum
		},
	}
}

func newMemPeople(b *testing.B) directory {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
		"people": {Name: "people", Indexes: map[string]*memdb.IndexSchema{
			"id":    {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "ID"}},
			"email": {Name: "email", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "Email"}},
			"age":   {Name: "age", Indexer: &memdb.IntFieldIndex{Field: "Age"}},
		}},
	}})
	require.NoError(b, err)
	tx := db.Txn(true)
	for _, p := range people {
		require.NoError(b, tx.Insert("people", &p))
	}
	tx.Commit()
	return directory{
		set: func(p person) error {
			tx := db.Txn(true)
			defer tx.Commit()
			return tx.Insert("people", &p) // which is kept
		},
		age: func(email string) int {
			row, _ := db.Txn(false).First("people", "email", email)
			return row.(*person).Age
		},
		sum: func(from, n int) (sum int) {
			it, err := db.Txn(false).LowerBound("people", "age", from)
			for ; n > 0 && err == nil; n-- {
				sum += it.Next().(*person).Age
			}
			return sum
		},
	}
}

// BenchmarkCommitMove sets rows one by one, each to another age.
func BenchmarkCommitMove(b *testing.B) {
	eachDirectory(b, func(b *testing.B, d directory) {
		r, moved, n := rand.New(rand.NewPCG(3, 3)), make([]person, 1_000), size("100k")
		per(b, len(moved), "commit", func() {
			b.StopTimer()
			for i := range moved {
				moved[i] = newPerson(r.IntN(n), r.IntN(n))
			}
			b.StartTimer()
			for _, p := range moved {
				must(b, d.set(p))
			}
		})
	})
}

// BenchmarkCommitBeat sets rows that leave what the indexes are of as it was: a unique one and an
// ordered one, the ordered one, or none.
func BenchmarkCommitBeat(b *testing.B) {
	for _, indexes := range []int{2, 1, 0} {
		b.Run(fmt.Sprintf("keys=100k/indexes=%d/store=cowstore", indexes), func(b *testing.B) {
			t, _ := newCowPeople(b, indexes)
			r, rows := rand.New(rand.NewPCG(4, 4)), make([]person, 5_000)
			for i := range rows {
				rows[i], _ = t.Get(key(r.IntN(size("100k"))))
			}
			score := 0.0
			per(b, len(rows), "commit", func() {
				for i := range rows {
					score++
					rows[i].Score = score
					must(b, errOf(t.Set(rows[i].ID, rows[i])))
				}
			})
		})
	}
}

// BenchmarkGetUnique looks up rows by the unique index.
func BenchmarkGetUnique(b *testing.B) {
	get := func(b *testing.B, d directory) {
		r, n, i := rand.New(rand.NewPCG(5, 5)), size("100k"), 0
		emails, ages := make([]string, n), make([]int, n)
		for i := range emails {
			j := r.IntN(n)
			emails[i], ages[i] = newPerson(j, 0).Email, d.ages[j]
		}
		per(b, 1, "get", func() {
			if d.age(emails[i%n]) != ages[i%n] {
				b.Fatal("a lookup misses")
			}
			i++
		})
	}
	eachDirectory(b, get)
	b.Run("keys=100k/indexes=0/store=gomap", func(b *testing.B) { // of which no row can change
		d, m := directory{}, map[string]*person{}
		for i := range size("100k") {
			p := newPerson(i, i)
			d.ages, m[p.Email] = append(d.ages, i), &p
		}
		d.age = func(email string) int { return m[email].Age }
		get(b, d)
	})
}

// BenchmarkRange reads 100 rows in the order of an index.
func BenchmarkRange(b *testing.B) {
	eachDirectory(b, func(b *testing.B, d directory) {
		sorted, i, n := slices.Sorted(slices.Values(d.ages)), 0, size("100k")
		at, _ := slices.BinarySearch(sorted, n/3)
		want := 0
		for _, age := range sorted[at : at+100] {
			want += age
		}
		if d.sum(n/3, 100) != want {
			b.Fatal("other rows")
		}
		per(b, 1, "range", func() {
			sink += uint64(d.sum(i*7919%(n/2), 100))
			i++
		})
	})
}

// BenchmarkPlaces goes to places in the order of an index: to a row by its number, to both ends of
// a range, and to what has changed in one.
func BenchmarkPlaces(b *testing.B) {
	for _, keys := range []string{"100k", "1M"} {
		n := size(keys)
		t := cow.New[int](cow.Options[int]{})
		must(b, t.Replace(func(yield func(int, int) bool) {
			for i := range n {
				if !yield(i, i) {
					return
				}
			}
		}))
		db, order := t.DB(), cow.NewOrder(t, "order")
		all := order.In(t.Load())
		before := db.Load()
		must(b, errOf(t.Set(n, n)))
		for do, f := range map[string]func(i int) int{
			"skip":  func(i int) int { first, _, _ := all.Skip(i).First(); return first },
			"len":   func(i int) int { return all.To(i).Len() },
			"watch": func(i int) int { _, stop := db.Notify(before, order.OnRange(order.In(nil).To(n))); stop(); return i },
		} {
			b.Run("keys="+keys+"/do="+do, func(b *testing.B) {
				for i := 0; b.Loop(); i = (i + 7919) % n {
					if f(i) != i {
						b.Fatal("another place")
					}
				}
			})
		}
	}
}
