// Package tool has the tools of the server: their names, descriptions, schemas, and what
// their arguments must be.
package tool

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cowstore/cowstore/snapshot/depth"
)

// What arguments may be.
const (
	MaxArgs  = 4 << 20 // bytes
	MaxDepth = 64      // levels of objects and arrays
)

// Erase is the name of the tool that servers have only if they are told to.
const Erase = "erase"

//go:embed tools.json
var definitions []byte

// A Tool is one of the tools. It must not be modified.
type Tool struct {
	mcp.Tool
	input *jsonschema.Resolved
}

// All are the tools, in the order in which they are listed.
var All = load()

func load() (tools []*Tool) {
	var list []struct {
		mcp.Tool
		InputSchema  *jsonschema.Schema `json:"inputSchema"`
		OutputSchema json.RawMessage    `json:"outputSchema"`
	}
	if err := json.Unmarshal(definitions, &list); err != nil {
		panic(fmt.Sprintf("tool: tools.json: %v", err))
	}
	for _, d := range list {
		t := &Tool{Tool: d.Tool}
		t.InputSchema, t.OutputSchema = d.InputSchema, d.OutputSchema
		var err error
		if t.input, err = d.InputSchema.Resolve(nil); err != nil {
			panic(fmt.Sprintf("tool: tools.json: %s: %v", d.Name, err))
		}
		tools = append(tools, t)
	}
	return tools
}

// Get returns the tool of that name.
func Get(name string) (*Tool, bool) {
	for _, t := range All {
		if t.Name == name {
			return t, true
		}
	}
	return nil, false
}

// Writes reports whether the tool may change the memory.
func (t *Tool) Writes() bool { return !t.Annotations.ReadOnlyHint }

// Decode checks arguments against limits and the schema of the tool, and decodes them into
// to. No arguments are an empty object. Members that the schema does not know are an error,
// which names them and those that there are; where it allows others, as those of the reference
// server's tools do, they are ignored, but for one that differs from a known one in case alone.
func (t *Tool) Decode(args json.RawMessage, to any) error {
	if args = bytes.TrimSpace(args); len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	var instance any
	if err := Unmarshal(args, MaxArgs, &instance); err != nil {
		return err
	}
	// What is unknown goes first: the name of a required one may be misspelled.
	s := t.InputSchema.(*jsonschema.Schema)
	if err := checkMembers("", s, instance); err != nil {
		return err
	}
	if err := checkFit("", s, instance); err != nil {
		return err
	}
	if err := t.input.Validate(instance); err != nil {
		return fmt.Errorf("the arguments do not fit: %s", short(err))
	}
	if err := json.Unmarshal(args, to); err != nil {
		return unfit(s, err)
	}
	return nil
}

// checkMembers returns an error for members of a value at a place that the schema does not
// know, where it allows no others, and for those that encoding/json would take for one that it
// knows: that takes names whatever their case.
func checkMembers(place string, s *jsonschema.Schema, v any) error {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if s.Items == nil {
				break
			}
			if err := checkMembers(fmt.Sprintf("%s[%d]", place, i), s.Items, item); err != nil {
				return err
			}
		}
	case map[string]any:
		known := slices.Sorted(maps.Keys(s.Properties))
		var unknown []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			of, ok := s.Properties[name]
			if !ok {
				if s.AdditionalProperties != nil || slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
					unknown = append(unknown, name)
				}
				continue
			}
			if err := checkMembers(join(place, name), of, v[name]); err != nil {
				return err
			}
		}
		if len(unknown) > 0 {
			if place != "" {
				place = " in " + place
			}
			return fmt.Errorf("there is no argument %s%s; there are %s", list(unknown), place, list(known))
		}
	}
	return nil
}

// list returns names as a list for people.
func list(names []string) string {
	const most, length = 20, 100
	var quoted []string
	for i, name := range names {
		if i == most {
			quoted = append(quoted, fmt.Sprintf("%d more", len(names)-most))
			break
		}
		quoted = append(quoted, fmt.Sprintf("%.*q", length, name))
	}
	return strings.Join(quoted, ", ")
}

// Unmarshal decodes a text that is not trusted, of at most so many bytes.
func Unmarshal(text []byte, most int, to any) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("%d bytes of JSON, and %d are allowed", len(text), most)
	case !utf8.Valid(text):
		return errors.New("this is not UTF-8")
	case depth.CheckText(text, MaxDepth) != nil: // before all that decodes
		return fmt.Errorf("this is nested more than %d levels", MaxDepth)
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("this does not fit: %w", unfit(nil, err))
	}
	return nil
}

// short returns the text of an error for the model: what matters of a failed validation
// is at its end, and it may quote the whole value.
func short(err error) string {
	const head, tail = 100, 300
	s := strings.ReplaceAll(err.Error(), "validating root: ", "")
	if len(s) <= head+tail {
		return s
	}
	return strings.ToValidUTF8(s[:head], "") + " … " + strings.ToValidUTF8(s[len(s)-tail:], "")
}
