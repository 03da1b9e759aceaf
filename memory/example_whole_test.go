package memory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// A Snapshot is one version of all spaces. It is valid forever.
func ExampleMemory_Load() {
	m := memory.New(memory.Options{})
	_, err := m.Space("ada").Put("drinks", "coffee")
	now := m.Load()
	_, err2 := m.Space("ada").Put("drinks", "tea")
	_, err3 := m.Space("bob").Put("drinks", "milk")
	fmt.Println(now.Space("ada").Get("drinks"))
	for _, s := range []memory.Snapshot{now, m.Load()} {
		fmt.Println("version:", s.Version(), "entries:", s.Len())
	}
	fmt.Println(errors.Join(err, err2, err3))
	// Output:
	// coffee true
	// version: 1 entries: 1
	// version: 3 entries: 2
	// <nil>
}

// At finds what Retain keeps. A version that is gone, or to come, is an error.
func ExampleMemory_At() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 1}) // and the current version
	plan := m.Space("plan")
	for _, v := range []string{"rest", "work", "swim"} {
		if _, err := plan.Put("monday", v); err != nil {
			fmt.Println(err)
		}
	}
	was, err := m.At(2)
	fmt.Println(plan.In(was).Get("monday"))
	_, err2 := m.At(1)
	_, err3 := m.At(4)
	fmt.Println(err)
	fmt.Println("ErrCompacted:", errors.Is(err2, cow.ErrCompacted))
	fmt.Println("ErrUnpublished:", errors.Is(err3, cow.ErrUnpublished))
	// Output:
	// work true
	// <nil>
	// ErrCompacted: true
	// ErrUnpublished: true
}

// Without Retain there is no past: neither At nor Since nor History has any.
func ExampleMemory_DB() {
	m := memory.New(memory.Options{})
	_, err := m.Space("plan").Put("monday", "rest")
	// From now on, within both limits.
	m.DB().Retain(cow.Retention{Versions: 100, Age: time.Hour})
	_, err2 := m.Space("plan").Put("monday", "work")
	was, err3 := m.At(1)
	fmt.Println(was.Space("plan").Get("monday"))
	_, err4 := m.At(0) // before Retain
	fmt.Println(errors.Join(err, err2, err3), errors.Is(err4, cow.ErrCompacted))
	// Output:
	// rest true
	// <nil> true
}

// A Memory in the DB of an application is written to in one update with other tables.
func ExampleMemory_BatchIn() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[int]{})
	m := memory.On(&db, memory.Options{})
	err := db.Update(func(tx *cow.Tx) error {
		users.Edit(tx).Set("ada", 36)
		return m.BatchIn(tx, func(b *memory.Batch) error {
			return b.Space("ada").Put("drinks", "tea")
		})
	})
	now := db.Load() // of both
	fmt.Println(users.In(now).Get("ada"))
	fmt.Println(m.In(now).Space("ada").Get("drinks"))
	fmt.Println(now.Version(), err)
	// Output:
	// 36 true
	// tea true
	// 1 <nil>
}

// A user who has gone needs no answer, and nothing that was on its way to be written.
func ExampleMemory_BatchContext() {
	m := memory.New(memory.Options{})
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := errors.New("the user has gone")
	err := m.BatchContext(ctx, func(b *memory.Batch) error {
		err := b.Space("ada").Put("asked", "when is the train?")
		cancel(gone) // meanwhile, from a handler of the connection
		return err
	})
	fmt.Println(err, m.Load().Len())
	err = m.BatchContext(ctx, func(*memory.Batch) error { panic("never") })
	fmt.Println(err)
	// Output:
	// the user has gone 0
	// the user has gone
}

// A whole application is tried out in a fork of its DB. Of is its memory there.
func ExampleMemory_Of() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[int]{})
	m := memory.On(&db, memory.Options{})
	_, err := m.Space("ada").Put("drinks", "coffee")

	trial := db.Fork(db.Load())
	err2 := trial.Update(func(tx *cow.Tx) error {
		users.Edit(tx).Set("ada", 36)
		return m.Of(trial).BatchIn(tx, func(b *memory.Batch) error {
			return b.Space("ada").Put("drinks", "tea")
		})
	})
	fmt.Println(m.Of(trial).Space("ada").Get("drinks"))
	fmt.Println(m.Space("ada").Get("drinks"))
	fmt.Println(users.In(trial.Load()).Len(), users.Len(), errors.Join(err, err2))
	// Output:
	// tea true
	// coffee true
	// 1 0 <nil>
}

// In shows the Memory in a snapshot of its DB.
func ExampleMemory_In() {
	var db cow.DB
	m := memory.On(&db, memory.Options{})
	_, err := m.Space("ada").Put("drinks", "coffee")
	before := db.Load()
	_, err2 := m.Space("ada").Put("drinks", "tea")
	fmt.Println(m.In(before).Space("ada").Get("drinks"))
	fmt.Println(m.In(before).Version(), errors.Join(err, err2))
	// Output:
	// coffee true
	// 1 <nil>
}

// Since has what happened in all spaces, and ends.
func ExampleMemory_Since() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	_, err := m.Space("ada").Put("drinks", "coffee")
	_, err2 := m.Space("bob").Put("drinks", "milk")
	_, err3 := m.Space("ada").Delete("drinks")
	for c, err := range m.Since(1) {
		fmt.Println(c.Version, c.Space, c.Kind, c.Key, err)
	}
	fmt.Println(errors.Join(err, err2, err3))
	// Output:
	// 2 [bob] added drinks <nil>
	// 3 [ada] deleted drinks <nil>
	// <nil>
}

// Changes waits for what is to come. It ends with an error where it cannot go on.
func ExampleMemory_Changes() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _, _ = m.Space("ada").Put("drinks", "tea") }()
	for c, err := range m.Changes(ctx, 0) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(c.Version, c.Space, c.Kind, c.New.Value)
		cancel()
	}
	// Output:
	// 1 [ada] added tea
	// context canceled
}

// EmbedMissing asks for each text once. Another text needs another vector.
func ExampleMemory_EmbedMissing() {
	embed := func(_ context.Context, texts []string) (all [][]float32, err error) {
		for _, text := range texts { // ask a model here
			all = append(all, []float32{float32(len(text)), 1})
		}
		return all, nil
	}
	m := memory.New(memory.Options{Embed: embed})
	notes, ctx := m.Space("notes"), context.Background()
	_, err := notes.Put("style", "short")
	fmt.Println(m.EmbedMissing(ctx))
	fmt.Println(notes.Vector("style"))
	fmt.Println(m.EmbedMissing(ctx))
	_, err2 := notes.Put("style", "very long")
	fmt.Println(m.EmbedMissing(ctx))
	fmt.Println(errors.Join(err, err2))
	// Output:
	// 1 <nil>
	// [5 1] true
	// 0 <nil>
	// 1 <nil>
	// <nil>
}

// EmbedEvery runs beside the program, and embeds what is written.
func ExampleMemory_EmbedEvery() {
	embed := func(_ context.Context, texts []string) (all [][]float32, err error) {
		for _, text := range texts { // ask a model here
			all = append(all, []float32{float32(len(text)), 1})
		}
		return all, nil
	}
	m := memory.New(memory.Options{Embed: embed})
	m.DB().Retain(cow.Retention{Versions: 100})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		failed := func(err error) { fmt.Println(err) }
		ended <- m.EmbedEvery(ctx, failed)
	}()

	notes := m.Space("notes")
	rev, err := notes.Put("style", "short")
	for c, err := range notes.Changes(ctx, rev-1) {
		fmt.Println(c.New.Value, c.New.Dim, c.New.Embedded, err)
		if c.New.Embedded {
			break
		}
	}
	cancel() // the program ends
	fmt.Println(<-ended, err)
	// Output:
	// short 0 false <nil>
	// short 2 true <nil>
	// context canceled <nil>
}

// Import adds to what is there. After a malformed line nothing is imported.
func ExampleMemory_Import() {
	m, ctx := memory.New(memory.Options{}), context.Background()
	_, err := m.Space("ada").Put("drinks", "tea")
	more := strings.NewReader(`{"space":["ada"],"key":"eats","value":["soup"]}
{"space":["bob"],"vector":[0,1],"key":"face"}`)
	fmt.Println(m.Import(ctx, more))
	for path := range m.Load().Spaces(memory.SpacesOptions{}) {
		fmt.Println(path, m.Space(path...).Len())
	}
	wrong := strings.NewReader(`{"space":["eve"],"key":"a","value":1}
{"space":["eve"],"kye":"b","value":2}`)
	n, err2 := m.Import(ctx, wrong)
	fmt.Println(n, errors.Is(err2, memory.ErrMalformed), m.Space("eve").Len(), err)
	// Output:
	// 2 <nil>
	// [ada] 2
	// [bob] 1
	// 0 true 0 <nil>
}

// Restore needs an empty Memory. Versions go on where the backup was made.
func ExampleMemory_Restore() {
	m := memory.New(memory.Options{})
	_, err := m.Space("plan").Put("monday", "rest")
	_, err2 := m.Space("plan").Put("monday", "work")
	var file bytes.Buffer
	fmt.Println(errors.Join(err, err2, m.Backup(&file)))

	again := memory.New(memory.Options{})
	fmt.Println(again.Restore(context.Background(), bytes.NewReader(file.Bytes())))
	fmt.Println(again.Space("plan").Put("monday", "swim"))
	n, err := again.Restore(context.Background(), &file)
	fmt.Println(n, errors.Is(err, cow.ErrNotEmpty))
	// Output:
	// <nil>
	// 1 <nil>
	// 3 <nil>
	// 0 true
}

// Nobody reads what has expired. A feed hears of it once it is swept.
func ExampleMemory_Sweep() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	short := memory.Item{Value: 1, TTL: time.Nanosecond}
	_, err := m.Space("cache").PutItem("k", short)
	time.Sleep(20 * time.Millisecond) // clocks may be coarse
	fmt.Println(m.Space("cache").Contains("k"), m.Load().Version(), err)
	fmt.Println(m.Sweep(context.Background()))
	for c, err := range m.Since(1) {
		fmt.Println(c.Version, c.Kind, c.Key, err)
	}
	// Output:
	// false 1 <nil>
	// 1 <nil>
	// 2 expired k <nil>
}

// SweepEvery runs beside a program that seldom writes. Else feeds would hear late of what expired.
func ExampleMemory_SweepEvery() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- m.SweepEvery(ctx, time.Millisecond) }() // a minute, say

	cache := m.Space("cache")
	rev, err := cache.PutItem("k", memory.Item{Value: 1, TTL: time.Millisecond})
	for c, err := range cache.Changes(ctx, rev-1) {
		fmt.Println(c.Kind, c.Key, err)
		if c.Kind == memory.Expired {
			break
		}
	}
	cancel() // the program ends
	fmt.Println(<-ended, err)
	// Output:
	// added k <nil>
	// expired k <nil>
	// context canceled <nil>
}

// Where nothing resolves them, the conflicts are in the error, and nothing is merged.
func ExampleMergeError() {
	m := memory.New(memory.Options{})
	base := m.Load()
	fork := m.Fork(base)
	_, err := fork.Space("plan").Put("monday", "swim")
	_, err2 := m.Space("plan").Put("monday", "work")
	_, err3 := m.Merge(context.Background(), base, fork.Load(), nil)
	var both *memory.MergeError
	if errors.As(err3, &both) {
		for _, c := range both.Conflicts {
			fmt.Println(c.Space, c.Key, c.Base.Value, c.Ours.Value, c.Theirs.Value)
		}
	}
	fmt.Println(errors.Is(err3, cow.ErrConflict), errors.Join(err, err2))
	// Output:
	// [plan] monday absent work swim
	// true <nil>
}

// Depth cuts the paths: here there is one line for each user.
func ExampleSnapshot_Spaces() {
	m := memory.New(memory.Options{})
	err := m.Batch(func(b *memory.Batch) error {
		return errors.Join(
			b.Space("user", "ann").Put("a", 1),
			b.Space("user", "ann", "notes").Put("b", 2),
			b.Space("user", "bob", "notes").Put("c", 3),
		)
	})
	now := m.Load()
	users := memory.SpacesOptions{Prefix: []string{"user"}, Depth: 2}
	for path := range now.Spaces(users) {
		fmt.Println(path, now.Space(path...).Len(), now.Space(path...).LenAll())
	}
	fmt.Println(err)
	// Output:
	// [user ann] 1 2
	// [user bob] 0 1
	// <nil>
}

// A cursor is the place of a reader as text. Resume goes on after it.
func ExampleMemory_Resume() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	rev, err := m.Space("ada").Put("drinks", "coffee")
	cursor := m.DB().Cursor(rev) // to be stored by the reader
	_, err2 := m.Space("ada").Put("drinks", "tea")
	for c, err := range m.Resume(context.Background(), cursor) {
		fmt.Println(c.Version, c.Key, c.New.Value, err)
		break
	}
	for _, err := range m.Resume(context.Background(), "no cursor") {
		fmt.Println("ErrCursor:", errors.Is(err, cow.ErrCursor))
	}
	fmt.Println(errors.Join(err, err2))
	// Output:
	// 2 drinks tea <nil>
	// ErrCursor: true
	// <nil>
}

// Rows has what a commit did to entries, for a reader of all commits of a DB.
func ExampleMemory_Rows() {
	var db cow.DB
	db.Retain(cow.Retention{Versions: 100})
	users := cow.NewTable[string](&db, "users", cow.Options[int]{})
	m := memory.On(&db, memory.Options{})
	_, err := users.Set("ada", 36)
	_, err2 := m.Space("ada").Put("drinks", "tea")
	for commit, err := range db.Commits(0) {
		if err != nil {
			fmt.Println(err)
			break
		}
		for c := range m.Rows(commit) {
			fmt.Println(c.Version, c.Space, c.Key, c.Kind)
		}
	}
	fmt.Println(errors.Join(err, err2))
	// Output:
	// 2 [ada] drinks added
	// <nil>
}

// A cursor of the Memory that was backed up is good for the one that is restored.
func ExampleMemory_Backup() {
	m := memory.New(memory.Options{})
	notes := m.Space("notes")
	_, _ = notes.Put("style", "short")
	_, _ = notes.Put("language", "French")
	cursor := m.DB().Cursor(m.Load().Version())
	var file bytes.Buffer
	fmt.Println(m.Backup(&file))

	next := memory.New(memory.Options{})
	next.DB().Retain(cow.Retention{Versions: 100})
	n, err := next.Restore(context.Background(), &file)
	fmt.Println(n, err, next.Load().Version())
	_, _ = next.Space("notes").Put("style", "long")
	for c, err := range next.Resume(context.Background(), cursor) {
		fmt.Println(c.Kind, c.Key, err)
		break
	}
	// Output:
	// <nil>
	// 2 <nil> 2
	// changed style <nil>
}
