package cow

// The compiler inlines a function of package snapshot into code that it
// instantiates for a user of this package only if this package has inlined it
// too, and so passes its body on. This instance of a Table sees to that, for
// writes; reads do without (see lookup in package snapshot).
var _ = (*Table[string, int]).Take
