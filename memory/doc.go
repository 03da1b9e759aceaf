// Package memory is going to be the memory of software agents on top of package
// cow. So far it has its values: [Freeze] makes any JSON-like Go value immutable,
// once, so that any number of readers may share it without a copy.
package memory
