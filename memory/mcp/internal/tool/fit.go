package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// checkFit returns an error for the first part of a value at a place that does not fit the
// schema: in words for the model, with the name of the argument and what is expected.
func checkFit(place string, s *jsonschema.Schema, v any) error {
	if want, is := s.Type, typeOf(v); want != "" && is != want && (want != "number" || is != "integer") {
		return fmt.Errorf("%s must be %s, and is %s", argument(place), article(want), article(is))
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		var names []string
		for _, e := range s.Enum {
			names = append(names, fmt.Sprint(e))
		}
		return fmt.Errorf("%s must be one of %s, and is %.100q", argument(place), list(names), fmt.Sprint(v))
	}
	switch v := v.(type) {
	case float64:
		if s.Minimum != nil && v < *s.Minimum {
			return fmt.Errorf("%s must be at least %s, and is %s", argument(place), number(*s.Minimum), number(v))
		}
		if s.Maximum != nil && v > *s.Maximum {
			return fmt.Errorf("%s must be at most %s, and is %s", argument(place), number(*s.Maximum), number(v))
		}
	case []any:
		for i, item := range v {
			if s.Items == nil {
				break
			}
			if err := checkFit(fmt.Sprintf("%s[%d]", place, i), s.Items, item); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				return fmt.Errorf("%s is missing: it is %s", argument(join(place, name)), article(s.Properties[name].Type))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if part, ok := v[name]; ok {
				if err := checkFit(join(place, name), s.Properties[name], part); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// unfit returns the error of package json in words for the model, and not in Go's. Where a
// schema allows what Go's types do not, these are numbers.
func unfit(s *jsonschema.Schema, err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return errors.New(short(err))
	}
	what := "the text"
	// From Go 1.27 on, the place of an element has its index: vector.1, and not vector.
	place := strings.Join(slices.DeleteFunc(strings.Split(wrong.Field, "."), func(name string) bool {
		_, err := strconv.Atoi(name)
		return err == nil || name == ""
	}), ".")
	if s != nil {
		for name := range s.Properties {
			if strings.EqualFold(name, place) {
				what = argument(name)
			}
		}
	} else if place != "" {
		what = fmt.Sprintf("member %.200q", place)
	}
	want, is := "a string", wrong.Value
	switch wrong.Type.Kind() {
	case reflect.Float32, reflect.Float64:
		want = "a number that is not out of range"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		want = "a whole number of at most 18 digits, without a point or an exponent"
	case reflect.Slice:
		want = "an array"
	case reflect.Struct, reflect.Map:
		want = "an object"
	}
	if n, ok := strings.CutPrefix(is, "number "); ok {
		is = fmt.Sprintf("%.40s", n)
	} else {
		is = article(is)
	}
	return fmt.Errorf("%s must be %s, and is %s", what, want, is)
}

func argument(place string) string {
	if place == "" {
		return "what holds the arguments"
	}
	return fmt.Sprintf("argument %.200q", place)
}

func join(place, name string) string { return strings.TrimPrefix(place+"."+name, ".") }

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// typeOf returns the type of a value in the words of a schema.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// article returns a type of a schema, or of package json, as text.
func article(typ string) string {
	switch typ {
	case "null":
		return typ
	case "integer", "array", "object":
		return "an " + typ
	case "bool":
		return "a boolean"
	}
	return "a " + typ
}
