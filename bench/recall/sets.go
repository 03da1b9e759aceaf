package recall

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Set is a public test collection: texts in one space or several, and queries for each.
type Set struct {
	Name   string
	Spaces []*Collection
}

// Sets reads the test collections whose files, as they are distributed, are in a folder:
// CISI, MED, Cranfield and CACM in the format of SMART, NPL, and LoCoMo, of which each
// conversation is a space, and each turn of it a text. Every second query is held: ranking
// was tuned with the others. What is relevant at all is relevant; of Cranfield, grades of 1
// to 4. A folder with none of them is an error.
func Sets(folder string) (sets []Set, err error) {
	for _, known := range []struct {
		name  string
		files []string
		read  func(files []string) []*Collection
	}{
		{"CISI", []string{"CISI.ALL", "CISI.QRY", "CISI.REL"}, smart},
		{"MED", []string{"MED.ALL", "MED.QRY", "MED.REL"}, smart},
		{"Cranfield", []string{"cran.all.1400", "cran.qry", "cranqrel"}, cranfield},
		{"CACM", []string{"cacm.cacm.all", "cacm.query.text", "cacm.qrels.text"}, smart},
		{"NPL", []string{"npl.doc-text", "npl.query-text", "npl.rlv-ass"}, npl},
		{"LoCoMo", []string{"locomo10.json"}, conversations},
	} {
		var files []string
		for i, name := range known.files {
			b, err := os.ReadFile(filepath.Join(folder, name))
			if i == 0 && errors.Is(err, os.ErrNotExist) {
				break
			}
			if err != nil {
				return nil, err
			}
			files = append(files, strings.ReplaceAll(string(b), "\r", ""))
		}
		if files == nil {
			continue
		}
		s := Set{known.name, known.read(files)}
		if !slices.ContainsFunc(s.Spaces, func(c *Collection) bool { return len(c.Held) > 0 }) {
			return nil, fmt.Errorf("%s: no queries with anything relevant", known.files[0])
		}
		sets = append(sets, s)
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("%s: none of the test collections is there", folder)
	}
	return sets, nil
}

// hold adds every second of the queries, of a set, that have anything relevant.
func (c *Collection) hold(asked *int, text string, relevant []string) {
	if len(relevant) == 0 {
		return
	}
	if *asked++; *asked%2 == 0 {
		c.Held = append(c.Held, Query{Text: text, Relevant: relevant})
	}
}

var field = regexp.MustCompile(`(?m)^\.([A-Z]) *(\d*) *$`)

// smart reads a collection of SMART: titles and texts by number, queries by number, and
// what is relevant to them.
func smart(files []string) []*Collection {
	return collection(numbered(files[0], "TW"), numbered(files[1], "W"), pairs(files[2]))
}

// cranfield is smart of queries that are known by their places.
func cranfield(files []string) []*Collection {
	queries := numbered(files[1], "W")
	for i := range queries {
		queries[i].Key = strconv.Itoa(i + 1)
	}
	return collection(numbered(files[0], "TW"), queries, pairs(files[2]))
}

// numbered returns some fields of the records of a file of SMART.
func numbered(s, fields string) (all []Text) {
	at := field.FindAllStringSubmatchIndex(s, -1)
	for i, m := range at {
		if s[m[2]:m[3]] == "I" {
			all = append(all, Text{Key: number(s[m[4]:m[5]])})
			continue
		}
		end := len(s)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		if len(all) > 0 && strings.Contains(fields, s[m[2]:m[3]]) {
			all[len(all)-1].Text += strings.TrimSpace(s[m[1]:end]) + "\n"
		}
	}
	return all
}

// collection returns one of texts, with the queries to which some of them are relevant.
func collection(texts, queries []Text, relevant map[string][]string) []*Collection {
	c, asked := &Collection{Texts: texts}, 0
	for _, q := range queries {
		c.hold(&asked, q.Text, relevant[q.Key])
	}
	return []*Collection{c}
}

// number returns a number without zeros in front.
func number(s string) string { return strings.TrimLeft(s, "0") }

// pairs returns what is relevant to each query: the first two numbers of each line, if the
// third is not below 0, nor 5, which Cranfield has for what is of no interest. Lines of four
// whose second number is 0 are those of TREC: a query, 0, a text, and how relevant that is.
func pairs(s string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if len(f) == 4 && f[1] == "0" {
			if f[3] == "0" {
				continue
			}
			f = []string{f[0], f[2]}
		}
		if len(f) >= 2 && (len(f) == 2 || f[2] != "-1" && f[2] != "5") && !slices.Contains(all[number(f[0])], number(f[1])) {
			all[number(f[0])] = append(all[number(f[0])], number(f[1]))
		}
	}
	return all
}

// npl reads the collection of NPL, whose parts end with a slash.
func npl(files []string) []*Collection {
	parts := func(s string) (all []Text) {
		for _, p := range slash.Split(s, -1) {
			if key, text, ok := strings.Cut(strings.TrimSpace(p), "\n"); ok {
				all = append(all, Text{strings.TrimSpace(key), text})
			}
		}
		return all
	}
	relevant := map[string][]string{}
	for _, r := range parts(files[2]) {
		relevant[r.Key] = strings.Fields(r.Text)
	}
	return collection(parts(files[0]), parts(files[1]), relevant)
}

var slash = regexp.MustCompile(`(?m)^ *(/ *)+$`)

// conversations reads LoCoMo, without questions that have no answer.
func conversations(files []string) (all []*Collection) {
	var list []struct {
		QA []struct {
			Question string
			Evidence []string
			Category int
		}
		Conversation map[string]json.RawMessage
	}
	if json.Unmarshal([]byte(files[0]), &list) != nil {
		return nil
	}
	asked := 0
	for _, l := range list {
		c, has := new(Collection), map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(l.Conversation)) {
			var turns []struct {
				Speaker, Text string
				ID            string `json:"dia_id"`
			}
			if json.Unmarshal(l.Conversation[name], &turns) != nil {
				continue // a time, or a name
			}
			for _, t := range turns {
				c.Texts, has[t.ID] = append(c.Texts, Text{t.ID, t.Speaker + ": " + t.Text}), true
			}
		}
		for _, q := range l.QA {
			if q.Category != 5 {
				c.hold(&asked, q.Question, slices.DeleteFunc(q.Evidence, func(id string) bool { return !has[id] }))
			}
		}
		all = append(all, c)
	}
	return all
}
