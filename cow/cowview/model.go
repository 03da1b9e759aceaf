package main

// A model is what is printed: strings only, decided by the analysis.
type model struct {
	Package  string
	Imports  []importLine
	Structs  []structModel
	Adapters []adapterModel
}

type importLine struct {
	Alias string // "" if it is the package's name
	Path  string
}

// A structModel is a struct type with its view.
type structModel struct {
	Name    string // Profile
	View    string // ProfileView
	Params  string // [K comparable, V any], or ""
	Args    string // [K, V], or ""
	Type    string // Profile[K, V]
	ViewOf  string // ProfileView[K, V]
	Pkg     string // the name of package view
	Slog    string // the name of package log/slog
	Literal string // the struct type, "" if it cannot be written

	Accessors []accessor
	Methods   []methodModel
	Clone     []string // the body of its Clone; nil: none is generated
	CloneExpr string   // a clone of *p
	Locked    bool     // only *p can be cloned, to a pointer
}

// An accessor is a method of a view for a field.
type accessor struct {
	Name   string
	Doc    []string
	Result string // its type
	Guard  string // what must hold for p, else the result is zero; or ""
	Expr   string // what it returns
}

// A methodModel is a method of the type that its view offers.
type methodModel struct {
	Name    string
	Doc     []string
	Params  string // with names
	Results string // with parentheses, if there is more than one
	Body    []string
}

// An adapterModel is a view of a defined slice or map type as an element.
type adapterModel struct {
	Pkg    string // the name of package view
	View   string // TagsView
	Params string
	ViewOf string // TagsView[T]
	Type   string // Tags
	Base   string // the embedded view: view.Slice[string]
	Name   string // the name of its field: Slice
	Expr   string // a Base of *p
}
