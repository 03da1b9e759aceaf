// Command cowview generates read-only views and deep clones of struct types.
//
// For a type Profile it writes a type ProfileView with an accessor for each field, and a
// method Clone of Profile. A view is a pointer that cannot be written through: reading
// by it clones and allocates nothing, and what it shows can only change if somebody
// writes to the value behind it, which nobody does to a value in a snapshot. Package
// github.com/cowstore/cowstore/snapshot/view has what views are made of.
//
// Add the command to your module, and a line to a file of your package:
//
//	go get -tool github.com/cowstore/cowstore/cow/cowview@main    (@latest, once a version is tagged)
//
//	//go:generate go tool cowview -type Profile,Team
//
// Then run go generate, once: it does not matter whether the file that it writes is
// missing, broken or of other types. Struct types of the package that the named ones lead
// to get views too. The same types give the same file, unless types of the standard library
// differ between Go releases.
//
//	-type    the struct types, with commas between them
//	-output  the file to write: cow_view.go
//	-check   write nothing, and fail if the file is not what would be written
//	-tests   look into test files too, and write cow_view_test.go
//
// A table whose values are slices or maps of plain elements, such as []string, needs no
// command: cow.NewViews[view.Slice[string]] shows them.
//
// # With a checkout
//
// The command is a module of its own, and go get does not find what is on your disk. With a
// checkout of the repository in DIR, in place of the network, replace both modules:
//
//	go mod edit -replace github.com/cowstore/cowstore=DIR \
//		-replace github.com/cowstore/cowstore/cow/cowview=DIR/cow/cowview \
//		-require github.com/cowstore/cowstore/cow/cowview@v0.0.0 \
//		-tool github.com/cowstore/cowstore/cow/cowview
//	go mod tidy
//	go generate ./...
//	go mod tidy    # again: the generated file imports the library
//
// # What cannot go wrong
//
// No accessor hands out memory of the value, and none panics because its type is not
// supported. For a type that is not, cowview writes nothing, and reports the file, the line
// and the path of the field. A field that has no view is handed out as a clone of that field
// alone: the comment of the accessor and a line on stderr say so. The generated file does not
// compile when a struct has other fields than it had when the file was generated.
//
// An accessor of a view that is not Valid panics, as a field of a nil pointer does.
//
// # What becomes of a field
//
//	type of the field                     accessor returns
//
//	number, string, bool                  the value
//	function, channel                     the value: a handle
//	struct or array of nothing mutable    the value
//	time.Time, *time.Location, netip,     the value: nobody can modify what it shows, or it
//	  unique.Handle, weak.Pointer         is a handle; see package clone
//	struct T of the package               TView, in place
//	*T                                    TView, not Valid for nil
//	struct T of another package, *T       its TView, if that package has one; else a clone
//	[]byte                                view.Bytes
//	[]E of nothing mutable                view.Slice[E]
//	[]T, []*T                             view.SliceViews[T, TView], view.SlicePointers[T, TView]
//	[]E of slices, maps, pointers         view.SliceViews[E, W]: W is the view of an E
//	[N]E of anything mutable              view.SliceViews[E, W]
//	map[K]E                               view.Map, view.MapViews, view.MapPointers, as slices
//	map whose keys reach what is mutable  a clone
//	*E of nothing mutable                 view.Pointer[E]
//	pointer to a slice, map or pointer    view.PointerViews[E, W]
//	defined slice, map or pointer type    as the type under it
//	  the same as an element              its own view, such as TagsView, generated beside
//	type parameter                        the value, if its constraint allows nothing mutable; else a clone
//	interface, struct without a name      a clone; as elements view.Cloned
//	big.Int, big.Float, big.Rat, url.URL  a copy
//	lock, atomic, unsafe.Pointer          an error, unless T has a Clone of its own: then no accessor
//	embedded                              as other fields, by the name of the type; its fields are promoted
//	  behind a nil pointer                promoted fields are zero
//	unexported                            as other fields, by an unexported accessor
//
// A view has the methods that are listed here and no others of the type that it shows: that
// of a json.RawMessage is a view.Bytes, whose own JSON is that of bytes. The JSON of the
// whole struct is that of the value all the same.
//
// An accessor whose name the view has for itself (Valid, Clone, Equal, String, LogValue,
// MarshalJSON, ViewOf) gets the suffix Field.
//
// Clones are those of package snapshot: they keep dynamic types, nil and empty, and what
// refers to the same memory.
//
// # Methods
//
// A method with the line
//
//	//cowview:readonly
//
// in its comment is offered on the view too. It is called on the stored value, and must
// not write to it, nor store what can be modified in memory of its caller. Results that
// reach what can be modified are handed out as clones. A method that takes or returns
// functions or channels by which such memory would get out is an error.
//
// # Clone
//
// Clone copies by statements, as one would by hand. A type that has a Clone of its own
// keeps it, and package snapshot trusts it.
//
// If two fields may refer to the same memory (two slices of one type, two maps, a pointer
// and a slice that it may lead into), Clone compares them first; only if they do, it
// leaves the clone to package snapshot, which keeps the shape. If there may be any number of
// such references, as in [][]string or a list, it always does.
//
// Package cow calls a generated Clone where it copies values of the type as a whole. Where
// such a value is a part of another, or behind a pointer, the clone of the whole looks
// into it, to see what its parts share: a generated Clone is known by the method
// ClonedByCowview beside it, which does nothing.
//
// # Packages that lead to each other
//
// A view of a struct of another package is used if it is there when cowview runs: run go
// generate in the imported package first.
package main
