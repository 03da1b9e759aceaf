package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/hashicorp/go-memdb"

	"github.com/cowstore/cowstore/cow"
)

// person is a row with three keys: its own, a unique one and an ordered one.
type person struct {
	ID, Email string
	Age       int
	Score     float64
}

func barPerson(i, age int) person {
	return person{ID: barKey(i), Email: fmt.Sprintf("u%d.%x@example.com", i, uint32(i)*2654435761), Age: age}
}

// indexed compares a table with a unique and an ordered index with go-memdb's.
func (b *bars) indexed() {
	const n = 100_000
	people := make([]person, n)
	for i := range people {
		people[i] = barPerson(i, i*7919%n)
	}

	var db cow.DB
	t := cow.NewTable[string](&db, "people", cow.Options[person]{})
	byEmail, err := cow.NewIndex(t, "email", func(p person) string { return p.Email }, cow.IndexOptions[string]{Unique: true})
	if err != nil {
		panic(err)
	}
	byAge, err := cow.NewIndex(t, "age", func(p person) int { return p.Age }, cow.IndexOptions[string]{})
	if err != nil {
		panic(err)
	}
	var plain cow.DB // the same without indexes
	bare := cow.NewTable[string](&plain, "people", cow.Options[person]{})
	for _, t := range []*cow.Table[string, person]{t, bare} {
		must(t.Replace(func(yield func(string, person) bool) {
			for _, p := range people {
				if !yield(p.ID, p) {
					return
				}
			}
		}))
	}

	mem := newMemDB()
	tx := mem.Txn(true)
	for i := range people {
		if err := tx.Insert("people", &people[i]); err != nil {
			panic(err)
		}
	}
	tx.Commit()

	r := rand.New(rand.NewPCG(3, 3))
	const commits, reads, ranges, width = 5_000, 100_000, 2_000, 100
	emails := make([]string, reads)
	for i := range emails {
		emails[i] = barPerson(r.IntN(n), 0).Email
	}
	moved := make([]person, commits)
	draw := func() {
		for i := range moved {
			moved[i] = barPerson(r.IntN(n), r.IntN(n))
		}
	}
	// A heartbeat leaves what the indexes are of as it was.
	score := 0.0
	beat := func(t *cow.Table[string, person]) float64 {
		r := rand.New(rand.NewPCG(4, 4))
		rows := make([]person, commits)
		for i := range rows {
			score++
			rows[i], _ = t.Get(people[r.IntN(n)].ID)
			rows[i].Score = score
		}
		return float64(timed(func() {
			for _, p := range rows {
				_, err := t.Set(p.ID, p)
				must(err)
			}
		})) / commits
	}
	s := interleave(b.rounds,
		func() float64 {
			draw()
			return float64(timed(func() {
				for _, p := range moved {
					_ = db.Update(func(tx *cow.Tx) error { t.Edit(tx).Set(p.ID, p); return nil })
				}
			})) / commits
		},
		func() float64 {
			draw()
			return float64(timed(func() {
				for i := range moved {
					p := moved[i] // go-memdb keeps the pointer
					tx := mem.Txn(true)
					if err := tx.Insert("people", &p); err != nil {
						panic(err)
					}
					tx.Commit()
				}
			})) / commits
		},
		func() float64 {
			return float64(timed(func() {
				for _, email := range emails {
					row, _ := byEmail.In(t.In(db.Load())).Get(email)
					sink += uint64(row.Value().Age)
				}
			})) / reads
		},
		func() float64 {
			return float64(timed(func() {
				for _, email := range emails {
					row, err := mem.Txn(false).First("people", "email", email)
					if err != nil {
						panic(err)
					}
					sink += uint64(row.(*person).Age)
				}
			})) / reads
		},
		func() float64 {
			return float64(timed(func() {
				for i := range ranges {
					left := width
					for _, row := range byAge.In(t.In(db.Load())).From(i * 7919 % (n / 2)).All() {
						sink += uint64(row.Value().Age)
						if left--; left == 0 {
							break
						}
					}
				}
			})) / ranges
		},
		func() float64 {
			return float64(timed(func() {
				for i := range ranges {
					it, err := mem.Txn(false).LowerBound("people", "age", i*7919%(n/2))
					if err != nil {
						panic(err)
					}
					for range width {
						sink += uint64(it.Next().(*person).Age)
					}
				}
			})) / ranges
		},
		func() float64 { return beat(t) },
		func() float64 { return beat(bare) },
	)
	b.add("commit with a unique and an ordered index vs go-memdb at 100k", "ns", s[0], s[1], 1.0/4)
	b.add("point read by a unique index vs go-memdb at 100k", "ns", s[2], s[3], 1.0/5)
	b.add("ordered range of 100 rows vs go-memdb at 100k", "ns", s[4], s[5], 2.0/5)
	b.add("commit that leaves a unique and an ordered key alone vs no index at 100k", "ns", s[6], s[7], 2)
}

func newMemDB() *memdb.MemDB {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
		"people": {Name: "people", Indexes: map[string]*memdb.IndexSchema{
			"id":    {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "ID"}},
			"email": {Name: "email", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "Email"}},
			"age":   {Name: "age", Indexer: &memdb.IntFieldIndex{Field: "Age"}},
		}},
	}})
	if err != nil {
		panic(err)
	}
	return db
}
