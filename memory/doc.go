// Package memory is the memory of software agents: entries in spaces, each with a
// JSON-like value, a vector, metadata and its text, at one version in every
// snapshot.
//
// A [Memory] is read several times in each call of a model and written once in a
// while. A read finds a [Value], frozen once when it was put and immutable by type,
// so that it is shared without a copy and without a lock. A write is a batch that
// becomes visible as a whole, in values, vectors and text alike. [Memory.Load]
// returns a [Snapshot] that stays as it is for as long as it is kept, whatever is
// written, expires or is evicted; versions can be retained, compared by Changes,
// forked and merged.
//
//	m := memory.New(memory.Options{})
//	notes := m.Space("user", "42", "notes")
//	_, err := notes.Put("style", map[string]any{"text": "prefers short answers"})
//	v, ok := notes.Get("style")
//
// A [Space] is a namespace, known by a path of strings. It has all writes, each a [Batch] of one,
// and all reads, each of the snapshot that is current then: two in a row may see two versions. A
// [SpaceSnapshot] is a space in one snapshot and has all reads.
//
// There is no embedding model here: to search by vectors, put them, or set Embed of [Options].
//
// # What a value may be, and what it can do
//
// [Freeze] says what a value may be made of. Whatever a caller's value is, storing it
// has one of three ends: it is stored, there is an error, or a method of the value
// itself panics, and its caller gets that panic. After the last two nothing has
// changed.
//
// These are errors, each a *[value.Error] with the place and the type, in a
// [*KeyError] with the space and the key:
//
//	value.ErrUnsupported   channels, functions, complex numbers and unsafe pointers, but for
//	                       value.FreezeHandles
//	value.ErrUnsupported   NaN and infinities, and text of numbers that are too large for a
//	                       float64, as 1e400
//	value.ErrUnsupported   maps by keys that are not strings or integers and do not marshal
//	                       themselves to text, or two of which marshal themselves to the same
//	value.ErrUnsupported   what must not be copied, as a lock, in a type without a method Clone
//	value.ErrUnsupported   what MarshalJSON or MarshalText return an error for
//	value.ErrCycle         a value that contains itself where JSON would show it
//	value.ErrTooDeep       more than 1000 levels of lists and maps, or 10,000 pointers around
//	                       one another, or the same few parts a hundred thousand times
//
// A line to [Memory.Import] that is not an entry is [ErrMalformed]. Other errors are about
// entries, not values: [ErrExists], [ErrNotFound], [ErrRevision], [cow.ErrModified], [ErrFull], and
// those of vectors and of searches. No data of a caller makes this package panic. In a
// [Batch] a verb of its [Editor] returns the error, and the Batch fails only if its
// function returns it.
//
// These panic, as misuse of this package:
//
//	New, Configure   a negative limit
//	SweepEvery       a duration that is not positive
//	EmbedMissing     a Memory without Options.Embed; and EmbedEvery
//	whatever waits   a nil context
//	Batch            a write to the Memory in whose update it is called
//	Fork, Merge      a snapshot of another Memory that is not a fork of the same; and Watch
//	Batch, Editor    a use after its function has returned, or by two goroutines at once
//	Memory, Space    a use of the zero one
//
// A value that is stored can never
//
//   - change, whatever the program writes to what it has put or read;
//   - come back as another type, without its unexported fields, or in another shape: what several
//     pointers, maps or slices in it share is one object again. What is known by its address, and
//     nobody can modify, is itself: a reflect.Type, a time zone or io.EOF;
//   - end the process by its depth, its cycles, or a copy of what must not be copied;
//   - lose digits, keys or elements by an export and an import, or a backup and a restore. These
//     change the Go types alone: Bytes and Times become Strings;
//   - take many times the memory that limits count for it. Maps that a method Clone has made do not
//     count, nor does what is known by its address: errors, time zones, channels and functions;
//   - run code of its own in a reader, but for its method Clone in [value.Value.Any] and [As]. A
//     Clone must not write to its receiver, and must be safe for concurrent use.
//
// # What each verb keeps
//
// A vector describes the value that it was put beside. So it stays beside an equal value, and
// another value removes it: no search by vector finds what the vector does not describe. A vector
// that was put before there was a value stays beside the first value.
//
//	                    value         vector        metadata      expiry
//	Put, Insert, SetIf  set           if the same   kept          set, as the space says
//	Modify, Upsert      set           if the same   kept          kept; set where there was no value
//	PutItem             set           set or gone   set or gone   set, by the TTL or as the space says
//	PutVector           kept          set           set or gone   kept; set where there was no entry
//	DeleteVector        kept          gone          gone          kept
//	Import, Restore     set or gone   set or gone   set or gone   set or gone
//	AppendTo            one more      gone          kept          kept; set where there was no value
//	Keep                kept          kept          kept          kept
//	Supersede           as PutItem; of the old entry all is kept but the vector
//	Merge, Undo         the whole entry becomes that of one side
//
// "If the same" is: kept if the value is equal, or the first; gone if it is another.
//
// The text that a search looks in is always that of the value. The time at which an entry was
// created stays, but for Import; each write sets the time of its update. An entry that a resolver
// of Merge gives another value is as after Modify. An entry stays kept, but for PutItem, which sets
// it anew, and superseded until a value or a vector is put. In a Batch the same holds from verb to
// verb: put a value and its vector by PutItem, or the vector after the value.
//
// # How it is made
//
// A Memory is tables of a [cow.DB]: its own, by [New], or that of an application, by [On].
// The entries are the one truth, with how spaces are configured, and what was cleared.
// What follows from them, how many entries a space has, the index of its vectors
// (package vector) and of its text (package text), lies in the row of the space, as
// an immutable value of its own, and is derived from the entries at the end of each
// update, by comparing versions: see internal/derive. So a commit, a fork, a merge, a replica and
// a read of the past have all of it in step without any mechanism of their own. What is
// decided, by the clock or by a limit, is decided before, in a Batch: see internal/keep.
// Values are a package of their own, [value].
//
// A Put goes this way. The verb of a Space freezes the value and finds its words, before it takes
// the writer's place (space.go, editor.go). The Batch begins with what holds for all updates: the
// clock, and what was cleared (internal/keep/update.go). The verb of its Editor looks the entry up
// and stores the next one. At the end the Batch removes what has expired, was cleared or is too
// much (internal/keep/end.go), for which the counts and indexes must follow what it did
// (internal/derive/derive.go). Package cow then brings up the derived tables, and publishes.
//
// A search goes this way. The snapshot picks the spaces, and makes of each a part of the search:
// its indexes, and who is accepted (search.go). Package internal/search finds the best of all
// parts. The snapshot looks their rows up, all at once, and makes Hits of those that are alive.
//
// # What takes how long
//
// Besides its own work, a write removes at most a few dozen entries that have expired, are too many
// or were cleared, and as many as make room for what it wrote. So Configure with a lower limit,
// Clear, ClearAll and Import leave the rest to later writes, or to [Memory.Sweep]; a space may have
// more than its limit until then. Clear and ClearAll take about no time, however many entries there
// are. A write keeps one sum up to date for each level above its space.
package memory
