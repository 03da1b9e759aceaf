package memorytest

import (
	"encoding/json"
	"math"
	"time"
)

type (
	level int
	label string
)

// typeChecks hold that values come back with the types that they went in with.
func typeChecks() []check {
	values := []kind{
		{name: "nil", fresh: func() any { return nil }},
		{name: "bool", must: true, fresh: func() any { return true }},
		{name: "string", must: true, fresh: func() any { return "text \x00 é" }},
		{name: "empty string", must: true, fresh: func() any { return "" }},
		{name: "float64", must: true, fresh: func() any { return 1.0 }},
		{name: "int", must: true, fresh: func() any { return 3 }},
		{name: "large int64", fresh: func() any { return int64(1<<53 + 1) }},
		{name: "uint64", fresh: func() any { return uint64(math.MaxUint64) }},
		{name: "int8", fresh: func() any { return int8(-8) }},
		{name: "float32", fresh: func() any { return float32(0.1) }},
		{name: "json.Number", fresh: func() any { return json.Number("1.50") }},
		{name: "named int", fresh: func() any { return level(3) }},
		{name: "named string", fresh: func() any { return label("x") }},
		{name: "duration", fresh: func() any { return time.Minute }},
		{name: "time", fresh: func() any { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) }},
		{name: "array", fresh: func() any { return [2]string{"a", "b"} }},
		{name: "nil map", fresh: func() any { return map[string]any(nil) }},
		{name: "nil slice", fresh: func() any { return []string(nil) }},
		{name: "empty map", must: true, fresh: func() any { return map[string]any{} }},
		{name: "empty slice", must: true, fresh: func() any { return []any{} }},
		{name: "nil pointer", fresh: func() any { return (*profile)(nil) }},
		{name: "map of ints", fresh: func() any { return map[int]string{1: "a", -2: "b"} }},
		{name: "numbers in any", must: true, fresh: func() any { return map[string]any{"int": 1, "float": 1.0, "list": []any{2, 2.0}} }},
	}
	var all []check
	for _, k := range append(values, kinds()...) {
		all = append(all, check{"types/" + k.name, func(p *probe) {
			k.allowed(p)
			p.accepted(k.name, k.must, p.b.Put(space, "k", k.fresh()))
			p.holds(space, "k", k.fresh(), "what was put came back as something else")
		}})
	}
	return all
}
