package recall

import (
	"encoding/json"
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
		name, texts string
		read        func(file func(name string) string) []*Collection
	}{
		{"CISI", "CISI.ALL", func(f func(string) string) []*Collection {
			return smart(f("CISI.ALL"), f("CISI.QRY"), pairs(f("CISI.REL")), false)
		}},
		{"MED", "MED.ALL", func(f func(string) string) []*Collection {
			return smart(f("MED.ALL"), f("MED.QRY"), pairs(f("MED.REL")), false)
		}},
		{"Cranfield", "cran.all.1400", func(f func(string) string) []*Collection {
			return smart(f("cran.all.1400"), f("cran.qry"), pairs(f("cranqrel")), true)
		}},
		{"CACM", "cacm.cacm.all", func(f func(string) string) []*Collection {
			return smart(f("cacm.cacm.all"), f("cacm.query.text"), pairs(f("cacm.qrels.text")), false)
		}},
		{"NPL", "npl.doc-text", func(f func(string) string) []*Collection {
			return npl(f("npl.doc-text"), f("npl.query-text"), f("npl.rlv-ass"))
		}},
		{"LoCoMo", "locomo10.json", func(f func(string) string) []*Collection { return conversations(f("locomo10.json")) }},
	} {
		if _, err := os.Stat(filepath.Join(folder, known.texts)); err != nil {
			continue
		}
		var failed error
		spaces := known.read(func(name string) string {
			b, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				failed = err
			}
			return strings.ReplaceAll(string(b), "\r", "")
		})
		if failed == nil && !slices.ContainsFunc(spaces, func(c *Collection) bool { return len(c.Held) > 0 }) {
			failed = fmt.Errorf("%s: no queries with anything relevant", known.texts)
		}
		if failed != nil {
			return nil, failed
		}
		sets = append(sets, Set{known.name, spaces})
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

// smart reads a collection of SMART: titles and texts by number, and what is relevant to
// queries by their numbers, or by their places, if ordinal.
func smart(texts, queries string, relevant map[string][]string, ordinal bool) []*Collection {
	records := func(s, fields string) (all []Text) {
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
	c, asked := &Collection{Texts: records(texts, "TW")}, 0
	for i, q := range records(queries, "W") {
		if ordinal {
			q.Key = strconv.Itoa(i + 1)
		}
		c.hold(&asked, q.Text, relevant[q.Key])
	}
	return []*Collection{c}
}

// number returns a number without zeros in front.
func number(s string) string { return strings.TrimLeft(s, "0") }

// pairs returns what is relevant to each query: the first two numbers of each line, if the
// third is not below 0, nor 5, which Cranfield has for what is of no interest.
func pairs(s string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if len(f) >= 2 && (len(f) == 2 || f[2] != "-1" && f[2] != "5") && !slices.Contains(all[number(f[0])], number(f[1])) {
			all[number(f[0])] = append(all[number(f[0])], number(f[1]))
		}
	}
	return all
}

// npl reads the collection of NPL, whose parts end with a slash.
func npl(texts, queries, relevant string) []*Collection {
	parts := func(s string) (all []Text) {
		for _, p := range regexp.MustCompile(`(?m)^ *(/ *)+$`).Split(s, -1) {
			if key, text, ok := strings.Cut(strings.TrimSpace(p), "\n"); ok {
				all = append(all, Text{strings.TrimSpace(key), text})
			}
		}
		return all
	}
	c, asked, keys := &Collection{Texts: parts(texts)}, 0, map[string][]string{}
	for _, r := range parts(relevant) {
		keys[r.Key] = strings.Fields(r.Text)
	}
	for _, q := range parts(queries) {
		c.hold(&asked, q.Text, keys[q.Key])
	}
	return []*Collection{c}
}

// conversations reads LoCoMo, without questions that have no answer.
func conversations(s string) (all []*Collection) {
	var list []struct {
		QA []struct {
			Question string
			Evidence []string
			Category int
		}
		Conversation map[string]json.RawMessage
	}
	if json.Unmarshal([]byte(s), &list) != nil {
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
