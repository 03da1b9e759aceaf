// Package url is named like one of the standard library.
package url

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type URL

// A URL is not that of the standard library.
type URL struct {
	Parts []string
	Query map[string][]string
}
