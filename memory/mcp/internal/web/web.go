// Package web serves over HTTP: it says who may ask, from where, and how often.
//
// From the ground up: rate.go, how often; gate.go, who; serve.go, at which address.
package web
