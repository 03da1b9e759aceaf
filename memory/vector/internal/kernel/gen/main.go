// Command gen writes the kernels for amd64.
package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	dotsAVX2()
	dotsVNNI()
	bothVNNI()
	sumsAVX2()
	roundAVX2()
	Generate()
}

// A scan is the loop over codes that all kernels of dots have: bytes for one
// chunk of 64 and at most one of 32 bytes of each code, then their sums, one for each query.
type scan struct {
	code, stride, n reg.GPVirtual
	queries, outs   []reg.GPVirtual
	at              reg.GPVirtual // the offset in a code
}

// ahead is how many bytes before their use codes are fetched.
const ahead = 2048

const (
	dotsSignature = "func(codes *byte, stride, n int, query *int8, out *int32)"
	bothSignature = "func(codes *byte, stride, n int, query, fine *int8, out, fineOut *int32)"
)

// newScan begins a scan for queries, and where their sums go.
func newScan(queries, outs []string) scan {
	load := func(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }
	s := scan{code: load("codes"), stride: load("stride"), n: load("n"), at: GP64()}
	for i := range queries {
		s.queries = append(s.queries, load(queries[i]))
		s.outs = append(s.outs, load(outs[i]))
	}
	return s
}

func (s scan) codeAt(disp int) operand.Mem {
	return operand.Mem{Base: s.code, Index: s.at, Scale: 1, Disp: disp}
}

func (s scan) queryAt(i, disp int) operand.Mem {
	return operand.Mem{Base: s.queries[i], Index: s.at, Scale: 1, Disp: disp}
}

// rows emits the loop. The sum for each query, of what begin, wide and narrow emit, is that of
// the elements of the vector of 32 bytes that sum returns.
func (s scan) rows(begin, wide, narrow func(), sum func(i int) reg.VecVirtual) {
	whole := GP64()
	MOVQ(s.stride, whole)
	ANDQ(operand.I8(-64), whole)

	Label("row")
	begin()
	XORQ(s.at, s.at)
	TESTQ(whole, whole)
	JZ(operand.LabelRef("rest"))
	Label("column")
	PREFETCHT0(s.codeAt(ahead)) // as far as the processor does not look by itself
	wide()
	ADDQ(operand.Imm(64), s.at)
	CMPQ(s.at, whole)
	JLT(operand.LabelRef("column"))
	Label("rest")
	CMPQ(s.at, s.stride)
	JGE(operand.LabelRef("sum"))
	narrow()

	Label("sum")
	for i, out := range s.outs {
		all := sum(i)
		half := XMM()
		VEXTRACTI128(operand.Imm(1), all, half)
		low := all.AsX()
		VPADDD(half, low, low)
		VPSHUFD(operand.Imm(0x4e), low, half)
		VPADDD(half, low, low)
		VPSHUFD(operand.Imm(0xb1), low, half)
		VPADDD(half, low, low)
		VMOVD(low, operand.Mem{Base: out})
		ADDQ(operand.Imm(4), out)
	}
	ADDQ(s.stride, s.code)
	DECQ(s.n)
	JNZ(operand.LabelRef("row"))
	VZEROUPPER()
	RET()
}

func dotsAVX2() {
	TEXT("dotsAVX2", NOSPLIT, dotsSignature)
	Pragma("noescape")
	Doc("dotsAVX2 needs AVX2.")
	s := newScan([]string{"query"}, []string{"out"})
	ones, a, b := YMM(), YMM(), YMM()
	VPCMPEQW(ones, ones, ones)
	VPSRLW(operand.Imm(15), ones, ones)
	part := func(disp int, sum reg.VecVirtual) {
		c := YMM()
		VMOVDQU(s.codeAt(disp), c)
		VPMADDUBSW(s.queryAt(0, disp), c, c) // unsigned by signed
		VPMADDWD(ones, c, c)
		VPADDD(c, sum, sum)
	}
	s.rows(
		func() { VPXOR(a, a, a); VPXOR(b, b, b) },
		func() { part(0, a); part(32, b) },
		func() { part(0, a) },
		func(int) reg.VecVirtual { VPADDD(b, a, a); return a },
	)
}

func dotsVNNI() {
	TEXT("dotsVNNI", NOSPLIT, dotsSignature)
	Pragma("noescape")
	Doc("dotsVNNI needs AVX-512 F, VL and VNNI.")
	newScan([]string{"query"}, []string{"out"}).vnni()
}

func bothVNNI() {
	TEXT("bothVNNI", NOSPLIT, bothSignature)
	Pragma("noescape")
	Doc("bothVNNI needs AVX-512 F, VL and VNNI.")
	newScan([]string{"query", "fine"}, []string{"out", "fineOut"}).vnni()
}

// vnni emits the loop for any number of queries: a code is loaded once for all of them.
func (s scan) vnni() {
	wide, narrow := make([]reg.VecVirtual, len(s.queries)), make([]reg.VecVirtual, len(s.queries))
	for i := range s.queries {
		wide[i], narrow[i] = ZMM(), YMM()
	}
	s.rows(
		func() {
			for i := range s.queries {
				VPXORD(wide[i], wide[i], wide[i])
				VPXORD(narrow[i], narrow[i], narrow[i])
			}
		},
		func() {
			c := ZMM()
			VMOVDQU64(s.codeAt(0), c)
			for i := range s.queries {
				VPDPBUSD(s.queryAt(i, 0), c, wide[i])
			}
		},
		func() {
			c := YMM()
			VMOVDQU32(s.codeAt(0), c)
			for i := range s.queries {
				VPDPBUSD(s.queryAt(i, 0), c, narrow[i])
			}
		},
		func(i int) reg.VecVirtual {
			half := YMM()
			VEXTRACTI64X4(operand.Imm(1), wide[i], half)
			VPADDD(half, narrow[i], narrow[i])
			VPADDD(wide[i].AsY(), narrow[i], narrow[i])
			return narrow[i]
		},
	)
}

// sumsAVX2 adds up products in sixteen lanes of float64, so that no addition waits for the
// one before. A product of two float32 is exact there, so that this rounds as portable
// code does.
func sumsAVX2() {
	TEXT("sumsAVX2", NOSPLIT, "func(x, y *float32, n int, sums *[16]float64)")
	Pragma("noescape")
	Doc("sumsAVX2 needs AVX2, and n to be a multiple of 16 above 0.")
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	n, sums := Load(Param("n"), GP64()), Load(Param("sums"), GP64())
	lanes := [4]reg.VecVirtual{YMM(), YMM(), YMM(), YMM()}
	for _, sum := range lanes {
		VXORPD(sum, sum, sum)
	}
	Label("next")
	for i, sum := range lanes {
		p, q := YMM(), YMM()
		VCVTPS2PD(operand.Mem{Base: x, Disp: 16 * i}, p)
		VCVTPS2PD(operand.Mem{Base: y, Disp: 16 * i}, q)
		VMULPD(q, p, p)
		VADDPD(p, sum, sum)
	}
	ADDQ(operand.Imm(64), x)
	ADDQ(operand.Imm(64), y)
	SUBQ(operand.Imm(16), n)
	JNZ(operand.LabelRef("next"))
	for i, sum := range lanes {
		VMOVUPD(sum, operand.Mem{Base: sums, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

// roundAVX2 rounds four elements at a time, as portable code does.
func roundAVX2() {
	TEXT("roundAVX2", NOSPLIT, "func(r *byte, coarse, fine *int8, x *float32, n int)")
	Pragma("noescape")
	Doc("roundAVX2 needs AVX2, and n to be a multiple of 4 above 0.")
	r := Load(Param("r"), GP64())
	coarse, fine := Load(Param("coarse"), GP64()), Load(Param("fine"), GP64())
	x, n := Load(Param("x"), GP64()), Load(Param("n"), GP64())
	const lanes, ints = 32, 96 // where they lie in a Rounding
	whole, bits := YMM(), GP64()
	MOVQ(operand.U64(math.Float64bits(3<<51)), bits)
	VMOVQ(bits, whole.AsX())
	VPBROADCASTQ(whole.AsX(), whole)
	type part struct{ step, inverse, lack, sum reg.VecVirtual }
	parts := [2]part{}
	for i := range parts {
		p := part{YMM(), YMM(), YMM(), XMM()}
		VBROADCASTSD(operand.Mem{Base: r, Disp: 16 * i}, p.step)
		VBROADCASTSD(operand.Mem{Base: r, Disp: 16*i + 8}, p.inverse)
		VMOVUPD(operand.Mem{Base: r, Disp: lanes + 32*i}, p.lack)
		VMOVDQU(operand.Mem{Base: r, Disp: ints + 16*i}, p.sum)
		parts[i] = p
	}
	Label("next")
	left := YMM()
	VCVTPS2PD(operand.Mem{Base: x}, left)
	for i, to := range []reg.Register{coarse, fine} {
		p, is, k := parts[i], YMM(), XMM()
		VMULPD(p.inverse, left, is)
		VADDPD(whole, is, is)
		VSUBPD(whole, is, is)
		VCVTPD2DQY(is, k)
		VPADDD(k, p.sum, p.sum)
		VPACKSSDW(k, k, k)
		VPACKSSWB(k, k, k)
		VMOVD(k, operand.Mem{Base: to})
		VMULPD(p.step, is, is)
		VSUBPD(is, left, left)
		VMULPD(left, left, is)
		VADDPD(is, p.lack, p.lack)
	}
	ADDQ(operand.Imm(16), x)
	ADDQ(operand.Imm(4), coarse)
	ADDQ(operand.Imm(4), fine)
	SUBQ(operand.Imm(4), n)
	JNZ(operand.LabelRef("next"))
	for i, p := range parts {
		VMOVUPD(p.lack, operand.Mem{Base: r, Disp: lanes + 32*i})
		VMOVDQU(p.sum, operand.Mem{Base: r, Disp: ints + 16*i})
	}
	VZEROUPPER()
	RET()
}
