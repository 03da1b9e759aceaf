package tested

//go:generate go tool cowview -tests -type Whole

// Whole is a type of the tests.
type Whole struct{ Parts []Part }

var _ WholeView
