// Agent is the memory of an agent over a few turns.
//
// It shows facts that are remembered with their text, a vector and metadata, recall by
// both with filters, turns that happen as a whole and can be undone, a what-if run on a
// fork that is merged or dropped, facts that expire, and a file that keeps them.
//
//	go run ./memory/examples/agent -file /tmp/ada.jsonl    # twice: the second run remembers
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
)

// A Fact is what the agent knows. What it is of is metadata, so that a search for words
// looks at the text alone.
type Fact struct {
	Text string
	Kind string        // "preference", "plan", …
	Turn int           // in which it was learned
	For  time.Duration // how long it holds; 0: for good
}

// An Agent remembers facts about one user. Any number of agents, and goroutines, may
// share a Memory.
type Agent struct {
	memory *memory.Memory
	facts  memory.Space
}

// NewAgent returns an Agent for a user.
func NewAgent(m *memory.Memory, user string) *Agent {
	m.DB().Retain(cow.Retention{Versions: 100}) // what can be undone
	return &Agent{m, m.Space("user", user, "facts")}
}

// A Turn is what the agent learns in one turn of a conversation.
type Turn struct {
	editor *memory.Editor
	had    map[string]bool // keys that it wrote, and whether they were there before
}

func (t *Turn) touch(key string) {
	if _, ok := t.had[key]; !ok {
		_, t.had[key] = t.editor.Entry(key)
	}
}

// changed reports whether there is a change on the whole: a fact that was remembered
// and forgotten in one turn is none.
func (t *Turn) changed() bool {
	for key, had := range t.had {
		if e, has := t.editor.Entry(key); has != had || e.Revision == memory.Pending {
			return true
		}
	}
	return false
}

// Remember stores a fact in place of what had its key.
func (t *Turn) Remember(key string, f Fact) error {
	t.touch(key)
	return t.editor.PutItem(key, memory.Item{
		Value:    f.Text,
		Vector:   embed(f.Text),
		Metadata: map[string]any{"kind": f.Kind, "turn": f.Turn},
		TTL:      f.For,
	})
}

// Forget removes a fact, and reports whether there was one.
func (t *Turn) Forget(key string) bool {
	t.touch(key)
	return t.editor.Delete(key)
}

// Turn calls f, and makes all that it did one version, whose number Undo takes, or 0
// if it did nothing. If f fails, nothing happened.
func (a *Agent) Turn(f func(t *Turn) error) (version uint64, err error) {
	err = a.memory.Batch(func(b *memory.Batch) error {
		t := &Turn{b.Space(a.facts.Path()...), map[string]bool{}}
		if err := f(t); err != nil {
			return err
		}
		if t.changed() { // a batch that changes nothing leaves its number to the next
			version = b.Version()
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// Undo takes back what one version did, and nothing that came before or after it. If
// that has been written again since, it fails with cow.ErrConflict.
func (a *Agent) Undo(ctx context.Context, version uint64) error {
	if version == 0 {
		return nil
	}
	return a.memory.Undo(ctx, version)
}

// Recall returns the facts that fit a question best, by words and by vector, of those
// that all filters want. A question without a word is vector.ErrZero.
func (a *Agent) Recall(question string, filters ...filter.Filter) ([]memory.Hit, error) {
	return a.facts.Search(memory.Query{Text: question, Vector: embed(question), K: 3, Filter: filter.And(filters...)})
}

// WhatIf calls try with a draft of the agent, that knows the same, and merges what the
// draft has learned if try says so. If both have written the same fact meanwhile,
// the draft's wins.
func (a *Agent) WhatIf(ctx context.Context, try func(draft *Agent) (keep bool, err error)) error {
	base := a.memory.Load()
	fork := a.memory.Fork(base)
	draft := NewAgent(fork, a.facts.Path()[1])
	if keep, err := try(draft); err != nil || !keep {
		return err // nothing to clean up: the fork is garbage
	}
	_, err := a.memory.Merge(ctx, base, fork.Load(), func(c memory.Conflict) (memory.Entry, error) { return c.Theirs, nil })
	return err
}

// Save writes all of a memory to a file, as it is now, whatever is written meanwhile.
// The file has its old content or the new one, nothing in between.
func Save(m *memory.Memory, file string) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(m.Load().Export(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// Load reads what Save has written into a memory, all of it or nothing.
func Load(ctx context.Context, m *memory.Memory, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = m.Import(ctx, f)
	return err
}

// embed stands for a model: texts that share words have vectors that are alike.
func embed(text string) []float32 {
	v := make([]float32, 32)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		h := fnv.New32a()
		h.Write([]byte(word))
		v[h.Sum32()%32]++
	}
	return v
}

func run(ctx context.Context, file string) error {
	m := memory.New(memory.Options{})
	if err := Load(ctx, m, file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fmt.Println("I know", m.Load().Len(), "facts already.")
	ada := NewAgent(m, "ada")

	_, err := ada.Turn(func(t *Turn) error {
		return errors.Join(
			t.Remember("language", Fact{Text: "Prefers short answers, in French.", Kind: "preference", Turn: 1}),
			t.Remember("trip", Fact{Text: "Takes a train to Lyon in May.", Kind: "plan", Turn: 1}),
			t.Remember("mood", Fact{Text: "Is in a hurry.", Kind: "mood", Turn: 1, For: time.Hour}))
	})
	if err != nil {
		return err
	}
	show := func(question string, filters ...filter.Filter) error {
		hits, err := ada.Recall(question, filters...)
		fmt.Println("—", question)
		for _, h := range hits {
			fmt.Printf("  %s: %v (%v, turn %v)\n", h.Key, h.Value, h.Metadata.Key("kind"), h.Metadata.Key("turn"))
		}
		return err
	}
	if err := show("Which train to Lyon?", filter.Meta("kind").In("plan", "preference")); err != nil {
		return err
	}

	for _, keep := range []bool{false, true} { // drop the first draft, merge the second
		err := ada.WhatIf(ctx, func(draft *Agent) (bool, error) {
			text := fmt.Sprint("Flies to Lyon instead. Decided: ", keep)
			_, err := draft.Turn(func(t *Turn) error {
				return t.Remember("trip", Fact{Text: text, Kind: "plan", Turn: 2})
			})
			return keep, err
		})
		if err != nil {
			return err
		}
		if err := show("What is planned for Lyon?", filter.Meta("kind").Eq("plan")); err != nil {
			return err
		}
	}

	version, err := ada.Turn(func(t *Turn) error { t.Forget("trip"); return nil })
	if err == nil {
		err = ada.Undo(ctx, version)
	}
	if err == nil {
		err = show("Is the trip to Lyon forgotten?", filter.Meta("turn").Gte(2))
	}
	if err != nil {
		return err
	}
	return Save(m, file)
}

func main() {
	file := flag.String("file", filepath.Join(os.TempDir(), "ada.jsonl"), "where the memory is kept")
	flag.Parse()
	if err := run(context.Background(), *file); err != nil {
		log.Fatal(err)
	}
}
