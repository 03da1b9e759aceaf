// Package value has the values of package memory: JSON-like, immutable by type, and
// shared without a copy and without a lock.
//
// [Freeze] makes a [Value] of nearly anything, once, when it is stored. The Value shows
// what encoding/json would show of it, and [Value.Any] and [As] give back a copy of
// what came in, with its Go types and its shape. [Equal] and [Compare] go by what is
// shown, whatever the Go types.
//
// A Value has at most a thousand levels of lists and maps: [Freeze], [Parse] and [Decode] return
// [ErrTooDeep] for what has more. That bounds the stack of each function here. What a Value keeps
// and does not show may be of any depth.
//
// # Representation
//
// A Value points to a node of 32 bytes: its kind and Go type, and a number or the place
// of its parts, which lie next to one another. Maps with the same keys share one list of
// them. What a node cannot hold, such as unexported fields, or that several pointers lead
// to one object, is kept in a private clone, the original.
package value
