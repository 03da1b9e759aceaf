//go:build !amd64

package vector

// vek has vector instructions for amd64 only, and does not build everywhere.
const simd = false

// dot32 returns the dot product of x and y, which are of one length, in float32.
func dot32(x, y []float32) float32 { return dotPortable(x, y) }
