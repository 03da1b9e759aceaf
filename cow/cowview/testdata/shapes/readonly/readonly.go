// Package readonly has types with methods that views offer too.
package readonly

import "strings"

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Account,Team

// An Account has methods.
type Account struct {
	First, Last string
	Roles       []string
	Limits      map[string]int
}

// FullName returns both names.
//
//cowview:readonly
func (a *Account) FullName() string { return a.First + " " + a.Last }

// Is reports whether a has the role.
//
//cowview:readonly
func (a Account) Is(role string) bool {
	for _, r := range a.Roles {
		if strings.EqualFold(r, role) {
			return true
		}
	}
	return false
}

// Limit returns a limit, and whether there is one.
//
//cowview:readonly
func (a *Account) Limit(of string) (n int, ok bool) {
	n, ok = a.Limits[of]
	return n, ok
}

// Copies returns copies of the roles. They belong to the caller.
//
//cowview:readonly
func (a *Account) Copies(n int) [][]string {
	all := make([][]string, n)
	for i := range all {
		all[i] = append([]string(nil), a.Roles...)
	}
	return all
}

// Grant is not marked, as it writes.
func (a *Account) Grant(role string) { a.Roles = append(a.Roles, role) }

// A Team has accounts.
type Team struct {
	Name    string
	Members []*Account
	Lead    Account
}

// Size returns the number of members.
//
//cowview:readonly
func (t *Team) Size() int { return len(t.Members) }

// Sum returns the sum of what f returns for the members' limits.
//
//cowview:readonly
func (t Team) Sum(what string, more ...int) (sum int) {
	for _, m := range t.Members {
		if m != nil {
			sum += m.Limits[what]
		}
	}
	for _, n := range more {
		sum += n
	}
	return sum
}
