package cow_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/cow"
)

// A reader keeps what it has loaded, whatever is written later.
func Example() {
	scores := cow.New[string](cow.Options[[]int]{})

	mine := []int{3, 5}
	scores.Set("ada", mine)
	mine[0] = 99 // the store has its own

	before := scores.Load() // a consistent view, for as long as it is wanted
	_, _ = scores.Modify("ada", func(v *[]int) error {
		*v = append(*v, 8)
		return nil
	})

	now, _ := scores.Get("ada")
	then, _ := before.Get("ada")
	fmt.Println("now: ", now)
	fmt.Println("then:", then)
	// Output:
	// now:  [3 5 8]
	// then: [3 5]
}

// Many keys in one call. A key without a row is left out.
func ExampleTable_GetMany() {
	scores := cow.New[string](cow.Options[int]{})
	scores.Set("ada", 8)
	scores.Set("cyd", 5)
	names := []string{"cyd", "bob", "ada"}
	for i, score := range scores.GetMany(names) {
		fmt.Println(names[i], score)
	}
	// Output:
	// cyd 5
	// ada 8
}

// An update of several keys is seen as a whole, or not at all.
func ExampleTable_Update() {
	accounts := cow.New[string](cow.Options[int]{})
	accounts.Set("ada", 100)
	accounts.Set("bob", 0)

	transfer := func(from, to string, amount int) error {
		return accounts.Update(func(e *cow.Editor[string, int]) error {
			_ = e.Modify(to, func(v *int) error { *v += amount; return nil })
			return e.Modify(from, func(v *int) error {
				if *v < amount {
					return errors.New("not enough")
				}
				*v -= amount
				return nil
			})
		})
	}
	show := func() {
		m := accounts.Load()
		ada, _ := m.Get("ada")
		bob, _ := m.Get("bob")
		fmt.Printf("version %d: ada %d, bob %d\n", m.Version(), ada, bob)
	}

	show()
	fmt.Println(transfer("ada", "bob", 70))
	show()
	fmt.Println(transfer("ada", "bob", 70))
	show()
	// Output:
	// version 2: ada 100, bob 0
	// <nil>
	// version 3: ada 30, bob 70
	// not enough
	// version 3: ada 30, bob 70
}

// Two tables of one DB never disagree.
func ExampleDB() {
	type Person struct {
		Name  string
		Email string
		Tags  []string
	}
	var db cow.DB
	people := cow.NewTable[int](&db, "people", cow.Options[Person]{})
	byEmail := cow.NewTable[string](&db, "people by email", cow.Options[int]{})

	add := func(id int, p Person) error {
		return db.Update(func(tx *cow.Tx) error {
			if err := people.Edit(tx).Insert(id, p); err != nil {
				return err
			}
			return byEmail.Edit(tx).Insert(p.Email, id)
		})
	}
	tags := []string{"math", "poetry"}
	fmt.Println(add(1, Person{"Ada", "ada@example.com", tags}))
	fmt.Println(add(2, Person{Name: "Eve", Email: "ada@example.com"}))

	s := db.Load()
	id, _ := byEmail.In(s).Get("ada@example.com")
	p, _ := people.In(s).Get(id)
	fmt.Println(id, p.Tags, "of", people.In(s).Len())
	// Output:
	// <nil>
	// cow: table "people by email": ada@example.com: key exists
	// 1 [math poetry] of 1
}

// A reader that looks at its own pace misses no last state.
func ExampleDB_Wait() {
	config := cow.New[string](cow.Options[string]{})
	go config.Set("level", "debug")

	s, err := config.DB().Wait(context.Background(), 0)
	if err != nil {
		return
	}
	level, _ := config.In(s).Get("level")
	fmt.Println(s.Version(), level)
	// Output: 1 debug
}

// Where the work between reading and writing is long, do it outside an update
// and try again if somebody else was faster.
func ExampleTable_SetIf() {
	docs := cow.New[string](cow.Options[string]{})
	docs.Set("readme", "hello")
	interfere := true

	for {
		m := docs.Load()
		text, _ := m.Get("readme")
		text += ", world" // work
		if interfere {
			docs.Set("readme", "good morning")
			interfere = false
		}
		_, err := docs.SetIf("readme", m.Revision("readme"), text)
		if err == nil {
			break
		}
		fmt.Println(errors.Is(err, cow.ErrRevision), err)
	}
	text, _ := docs.Get("readme")
	fmt.Println(text)
	// Output:
	// true cow: readme: key is not at that revision
	// good morning, world
}

// Handles are shared, not cloned. Take hands each to one caller, who may close
// it without asking anybody.
func ExampleTable_Take() {
	pool := cow.New[string](cow.Options[*socket]{Immutable: true})
	pool.Set("db", &socket{addr: "db"})

	first, ok, _ := pool.Take("db")
	fmt.Println(ok)
	first.close()
	_, ok, _ = pool.Take("db")
	fmt.Println(ok)
	// Output:
	// true
	// closed db
	// false
}

func (s *socket) close() { fmt.Println("closed", s.addr) }
