package memories

import "github.com/viterin/vek/vek32"

// dot returns the dot product of x and y, which must be of one length. It has the
// vector instructions that package vector of this project has.
func dot(x, y []float32) float32 { return vek32.Dot(x, y) }
