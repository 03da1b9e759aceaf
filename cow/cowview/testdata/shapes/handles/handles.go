// Package handles has channels and functions, which stay what they are.
package handles

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Funcs,Chans,Service,Nested

// Handler is a named function.
type Handler func(string) error

// Funcs has functions.
type Funcs struct {
	F     func()
	G     func(int, ...string) (bool, error)
	H     Handler
	List  []func()
	By    map[string]Handler
	P     *func()
	Array [2]Handler
}

// Signal is a named channel.
type Signal chan struct{}

// Chans has channels.
type Chans struct {
	C      chan int
	In     <-chan int
	Out    chan<- []string
	Signal Signal
	List   []chan int
	By     map[string]chan<- int
	P      *chan int
}

// A Service has something of each.
type Service struct {
	Name  string `json:"name"`
	Tags  []string
	Start func() error `json:"-"`
	Done  Signal       `json:"-"`
}

// Nested has structs with handles in slices and maps.
type Nested struct {
	List []Service
	By   map[string]*Service
	Pure []struct{ F func() } `json:"-"`
}
