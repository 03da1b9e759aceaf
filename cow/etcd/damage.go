package etcd

import "fmt"

// Damage says which key is not what a replica has written: it was changed or made by
// others, or got damaged. It wraps [ErrDamaged].
type Damage struct {
	Key string // in etcd, with the prefix
	Err error
}

// Error names the key.
func (d *Damage) Error() string { return fmt.Sprintf("key %q: %v: %v", d.Key, ErrDamaged, d.Err) }

func (d *Damage) Unwrap() []error { return []error{ErrDamaged, d.Err} }
