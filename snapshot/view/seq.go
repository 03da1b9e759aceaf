package view

import "iter"

func all[W any](n int, at func(int) W) iter.Seq2[int, W] {
	return func(yield func(int, W) bool) {
		for i := range n {
			if !yield(i, at(i)) {
				return
			}
		}
	}
}

func values[W any](n int, at func(int) W) iter.Seq[W] {
	return func(yield func(W) bool) {
		for i := range n {
			if !yield(at(i)) {
				return
			}
		}
	}
}

func second[K, W any](seq iter.Seq2[K, W]) iter.Seq[W] {
	return func(yield func(W) bool) {
		seq(func(_ K, w W) bool { return yield(w) })
	}
}
