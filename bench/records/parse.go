package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// parse returns the query in a line. Unlike encoding/json it tells upper and lower
// case apart and refuses a member that is there twice.
func parse(line []byte) (q Query, err error) {
	if !utf8.Valid(line) {
		return q, errors.New("not UTF-8")
	}
	if err := json.Unmarshal(line, new(json.RawMessage)); err != nil {
		return q, err
	}
	d := json.NewDecoder(bytes.NewReader(line))
	if t, _ := d.Token(); t != json.Delim('{') {
		return q, errors.New("no object")
	}
	has := make(map[string]bool)
	for d.More() {
		t, _ := d.Token() // no error, for it is JSON
		name, _ := t.(string)
		var err error
		switch {
		case has[name]:
			return q, fmt.Errorf("two members %q", name)
		case name == "space":
			q.Space, err = list(d)
		case name == "key":
			q.Key, err = text(d)
		case name == "text":
			q.Text, err = text(d)
		case name == "relevant":
			q.Relevant, err = list(d)
		default:
			return q, fmt.Errorf("unknown member %q", name)
		}
		if err != nil {
			return q, fmt.Errorf("%s: %w", name, err)
		}
		has[name] = true
	}
	switch {
	case !has["space"]:
		err = errors.New("no space")
	case has["key"] && has["text"]:
		err = errors.New("both key and text")
	case !has["key"] && !has["text"]:
		err = errors.New("neither key nor text")
	case has["key"] && has["relevant"]:
		err = errors.New("relevant without text")
	case has["text"] && strings.TrimSpace(q.Text) == "":
		err = errors.New("text is empty")
	case has["text"] && len(q.Relevant) == 0:
		err = errors.New("nothing is relevant to text")
	}
	return q, err
}

// text decodes a string.
func text(d *json.Decoder) (string, error) {
	var s *string
	if err := d.Decode(&s); err != nil || s == nil {
		return "", errors.New("no string")
	}
	return *s, nil
}

// list decodes a list of strings.
func list(d *json.Decoder) ([]string, error) {
	var all []*string
	if err := d.Decode(&all); err != nil || all == nil {
		return nil, errors.New("no list of strings")
	}
	texts := make([]string, len(all))
	for i, s := range all {
		if s == nil {
			return nil, errors.New("no list of strings")
		}
		texts[i] = *s
	}
	return texts, nil
}
