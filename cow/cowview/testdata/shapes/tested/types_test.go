package tested

//go:generate go run github.com/cowstore/cowstore/cow/cowview -tests -type Whole

// Whole is a type of the tests.
type Whole struct{ Parts []Part }

var _ WholeView
