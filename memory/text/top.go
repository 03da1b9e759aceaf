package text

// A top is the best hits so far, at most k: a heap, of which the first is the
// worst.
type top struct {
	x      *Index
	k      int
	accept func(key string) bool
	least  float64 // what a score must reach now
	hits   []Hit
}

func newTop(x *Index, o Options) top {
	return top{x: x, k: min(o.K, x.Len()), accept: o.Accept, least: o.MinScore}
}

// offer takes a document with a score of at least t.least, if it is better than
// the worst and accepted.
func (t *top) offer(doc uint32, score float64) {
	h := Hit{t.x.docs.at(doc).key.Key(), score}
	full := len(t.hits) == t.k
	if full && h.compare(t.hits[0]) > 0 || t.accept != nil && !t.accept(h.Key) {
		return
	}
	if full {
		t.hits[0] = h
		t.down()
	} else {
		t.hits = append(t.hits, h)
		t.up()
	}
	if len(t.hits) == t.k {
		t.least = max(t.least, t.hits[0].Score)
	}
}

// up puts the last hit in its place.
func (t *top) up() {
	hs := t.hits
	for i := len(hs) - 1; i > 0; {
		p := (i - 1) / 2
		if hs[p].compare(hs[i]) >= 0 {
			return
		}
		hs[p], hs[i] = hs[i], hs[p]
		i = p
	}
}

// down puts the first hit in its place.
func (t *top) down() {
	hs := t.hits
	for i := 0; ; {
		kid := 2*i + 1
		if kid >= len(hs) {
			return
		}
		if kid+1 < len(hs) && hs[kid+1].compare(hs[kid]) > 0 {
			kid++
		}
		if hs[i].compare(hs[kid]) >= 0 {
			return
		}
		hs[i], hs[kid] = hs[kid], hs[i]
		i = kid
	}
}
