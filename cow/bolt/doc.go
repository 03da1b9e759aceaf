// Package bolt keeps a cow.DB in a file.
package bolt
