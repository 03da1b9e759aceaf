package kinds

// Number allows numbers only.
type Number interface{ ~int | ~float64 }

// List is generic.
type List[T any, N Number] struct {
	Items []T
	Nums  []N
	First T
	Num   N
	Next  *List[T, N]
	Pairs map[string]Pair[T]
	Ints  Pair[int]
	Rows  []Rows[T]
	Many  map[N][]Rows[T]
}

// Pair is generic.
type Pair[T any] struct {
	A, B T
	S    []string
}

// Rows is a generic slice.
type Rows[T any] []T

// Sum sums.
//
//cowview:readonly
func (l *List[E, M]) Sum(m M, _ ...E) (M, E) {
	for _, n := range l.Nums {
		m += n
	}
	return m, l.First
}
