package kernel

// portable compares eight elements at a time, in words of 64 bits.
var portable = &Set{Name: "portable", Most: portableBias, bias: portableBias, dots: portableDots}

const (
	portableBias = 32
	evens        = 0x00ff00ff00ff00ff
)

// words are what the even and the odd bytes of the two words of a Pair meet.
type words [4]uint64

// newWords returns the words of a query. Its elements lie in lanes of sixteen bits,
// in reverse, so that the products of all four with those of a code add up in the
// uppermost lane.
func newWords(elements []int8) []words {
	ws := make([]words, len(elements)/16)
	for i, e := range elements {
		ws[i/16][i%16/8*2+i%2] |= uint64(int(e)+portableBias) << (16 * (3 - i%8/2))
	}
	return ws
}

// portableDots multiplies four lanes of sixteen bits by four in reverse order,
// which is four products and their sum, in the uppermost lane. There they amount
// to at most 4·254·64 = 65,024, and the lanes below to less: nothing is carried
// from lane to lane.
func portableDots(out []int32, codes []Pair, q *Query) {
	ws := q.words
	for i := range out {
		code := codes[i*len(ws):][:len(ws)]
		var a, b uint64
		for j := range code {
			c, w := &code[j], &ws[j]
			a += (c[0]&evens)*w[0]>>48 + (c[0]>>8&evens)*w[1]>>48
			b += (c[1]&evens)*w[2]>>48 + (c[1]>>8&evens)*w[3]>>48
		}
		out[i] = int32(a + b)
	}
}

// portableSums adds products to sums, in turn. x and y are of a multiple of sixteen
// elements.
func portableSums(x, y []float32, sums *[16]float64) {
	for half := 0; half < 16; half += 8 { // eight sums are what processors keep at hand
		s := [8]float64(sums[half:])
		for i := half; i+8 <= len(x); i += 16 {
			a, b := (*[8]float32)(x[i:]), (*[8]float32)(y[i:])
			s[0] += float64(a[0]) * float64(b[0])
			s[1] += float64(a[1]) * float64(b[1])
			s[2] += float64(a[2]) * float64(b[2])
			s[3] += float64(a[3]) * float64(b[3])
			s[4] += float64(a[4]) * float64(b[4])
			s[5] += float64(a[5]) * float64(b[5])
			s[6] += float64(a[6]) * float64(b[6])
			s[7] += float64(a[7]) * float64(b[7])
		}
		copy(sums[half:], s[:])
	}
}
