// Package clone makes deep copies of Go values that have the shape of the original.
//
// [Of] compiles a function once per type. The clone has the dynamic types, nil and empty,
// unexported fields, cycles, shared and interior pointers of its original; it neither
// exhausts the stack nor takes more than n log n time for n objects. [NatureOf] says of
// which types the values stay themselves, and which must not be copied.
//
// # What stays itself
//
// A value stays itself, and is shared by all clones, only where
//
//   - nobody outside of its own package can change what it shows: not by an exported field,
//     a method, or anything that a method returns. So do a time.Time, what reflect.TypeOf
//     returns, handles of package unique for what needs no clone, the curves of crypto/ecdh,
//     the color models and context keys of the standard library, and pointers to what has no
//     size;
//   - it is an error made by errors.New, or by fmt.Errorf without %w or with one %w around
//     an error that stays itself: io.EOF, fs.ErrNotExist, context.Canceled,
//     strconv.ErrRange and nearly all variables of the standard library that are errors.
//     Those that hold an exported field, as http.ErrNotSupported, are cloned, unless the
//     program names them;
//   - the program named it by [Sentinel], before the first clone of its type;
//   - it is a handle: a channel, a function, a weak pointer.
//
// There is one exception. Whoever holds a *time.Location, a *base64.Encoding, a
// *base32.Encoding, a *strings.Replacer or a *types.Basic can assign over the whole struct
// (package reflect can do so to any struct behind a pointer). Their addresses count, as in
// the == of times, so they stay themselves.
//
// Everything else is cloned: trees of errors by errors.Join and by fmt.Errorf with several
// %w, though not their leaves, so that errors.Is goes on to hold for what stays itself;
// pointers to errors of a program's own types; the groups of package slog; the tables of
// unicode, crc32 and crc64; regexps, in copies that share the compiled program. A type with
// a method Clone that returns the type is cloned by that, and trusted: that of *tls.Config,
// say, shares its slices. The standard curves of crypto/elliptic, and handles of package
// unique for what can be modified, are refused: a copy would be no good, and they give out
// what can be written to.
//
// # Reading the source
//
// From the ground up: nature.go, what has to be done about a type, and which types stay
// themselves; ground.go, the memory that was met; memo.go, what became of it; state.go, the
// plan of a type, and one run of it; error.go; fix.go and known.go, which mend a copy of one
// value each; compile.go, from a type to its plan; overlap.go and layout.go, what lies within
// what; sentinel.go; clone.go, from a plan to a function; report.go,
// what a value refers to.
package clone
