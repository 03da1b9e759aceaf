package memorytest

// vectorChecks hold that vectors and their metadata are as separate from their callers
// as values are.
func vectorChecks() []check {
	all := []check{
		{"basic/vectors", func(p *probe) {
			v := need[Vectors](p)
			for key, at := range map[string][]float32{"near": {1, 0}, "middle": {0.6, 0.8}, "far": {0, 1}} {
				must.NoError(p, v.PutVector(space, key, at, map[string]any{"key": key}))
			}
			at, metadata, found, err := v.GetVector(space, "middle")
			must.NoError(p, err)
			must.True(p, found)
			must.Equal(p, []float32{0.6, 0.8}, at)
			p.same(map[string]any{"key": "middle"}, metadata, "metadata")
			_, _, found, err = v.GetVector(space, "absent")
			must.NoError(p, err)
			must.False(p, found)
			for k, want := range [][]string{{}, {"near"}, {"near", "middle"}, {"near", "middle", "far"}, {"near", "middle", "far"}} {
				if k == 0 {
					continue
				}
				hits, err := v.SearchVector(space, []float32{1, 0}, k)
				must.NoError(p, err)
				got := []string{}
				for _, h := range hits {
					got = append(got, h.Key)
					p.same(map[string]any{"key": h.Key}, h.Metadata, "metadata of a hit")
				}
				must.Equal(p, want, got, "the nearest first")
			}
			must.NoError(p, v.PutVector(space, "near", []float32{0, 1}, map[string]any{"key": "no longer"}))
			hits, err := v.SearchVector(space, []float32{1, 0}, 1)
			must.NoError(p, err)
			must.Len(p, hits, 1)
			must.Equal(p, "middle", hits[0].Key, "after the nearest was replaced")
		}},
		{"caller mutation/PutVector/vector", func(p *probe) {
			v := need[Vectors](p)
			at := []float32{3, 4}
			must.NoError(p, v.PutVector(space, "k", at, nil))
			must.Equal(p, []float32{3, 4}, at, "the backend modified the caller's vector")
			spoil(at)
			p.holdsVector(v, []float32{3, 4}, nil, "the caller modified what it had stored")
		}},
		{"caller mutation/SearchVector/query", func(p *probe) {
			v := need[Vectors](p)
			must.NoError(p, v.PutVector(space, "k", []float32{3, 4}, nil))
			query := []float32{6, 8}
			_, err := v.SearchVector(space, query, 1)
			must.NoError(p, err)
			must.Equal(p, []float32{6, 8}, query, "the backend modified the query")
			spoil(query)
			p.holdsVector(v, []float32{3, 4}, nil, "the caller modified the query")
		}},
		{"reader mutation/GetVector/vector", func(p *probe) {
			v := need[Vectors](p)
			must.NoError(p, v.PutVector(space, "k", []float32{3, 4}, nil))
			for range 2 {
				at, _, _, err := v.GetVector(space, "k")
				must.NoError(p, err)
				must.Equal(p, []float32{3, 4}, at, "a reader modified what is stored")
				spoil(at)
			}
			p.holdsVector(v, []float32{3, 4}, nil, "a reader modified what is stored")
		}},
		{"reader mutation/SearchVector/hits", func(p *probe) {
			v := need[Vectors](p)
			must.NoError(p, v.PutVector(space, "k", []float32{3, 4}, map[string]any{"a": "x"}))
			for range 2 {
				hits, err := v.SearchVector(space, []float32{3, 4}, 1)
				must.NoError(p, err)
				must.Len(p, hits, 1)
				must.Equal(p, "k", hits[0].Key)
				p.same(map[string]any{"a": "x"}, hits[0].Metadata, "a reader modified what is stored")
				if hits[0].Vector != nil {
					must.Equal(p, []float32{3, 4}, hits[0].Vector, "a reader modified what is stored")
				}
				spoil(hits)
			}
			p.holdsVector(v, []float32{3, 4}, map[string]any{"a": "x"}, "a reader modified what is stored")
		}},
	}
	for _, k := range kinds() {
		metadata := func() map[string]any { return map[string]any{"k": k.fresh(), "s": "x"} }
		stored := func(p *probe) (Vectors, map[string]any) {
			p.Helper()
			v := need[Vectors](p)
			k.allowed(p)
			m := metadata()
			p.accepted(k.name, k.must, v.PutVector(space, "k", []float32{1, 0}, m))
			return v, m
		}
		all = append(all, check{"caller mutation/PutVector/metadata/" + k.name, func(p *probe) {
			v, m := stored(p)
			p.same(metadata(), m, "the backend modified the caller's metadata")
			spoil(m)
			p.holdsVector(v, []float32{1, 0}, metadata(), "the caller modified what it had stored")
		}}, check{"reader mutation/GetVector/metadata/" + k.name, func(p *probe) {
			v, _ := stored(p)
			_, m, _, err := v.GetVector(space, "k")
			must.NoError(p, err)
			spoil(m)
			p.holdsVector(v, []float32{1, 0}, metadata(), "a reader modified what is stored")
		}}, check{"reader mutation/SearchVector/metadata/" + k.name, func(p *probe) {
			v, _ := stored(p)
			hits, err := v.SearchVector(space, []float32{1, 0}, 1)
			must.NoError(p, err)
			must.Len(p, hits, 1)
			spoil(hits[0].Metadata)
			p.holdsVector(v, []float32{1, 0}, metadata(), "a reader modified what is stored")
		}})
	}
	return all
}

// holdsVector checks the vector "k" and its metadata, however they are read. Metadata
// of no keys may be nil.
func (p *probe) holdsVector(v VectorReader, vector []float32, metadata map[string]any, message string) {
	p.Helper()
	got, m, found, err := v.GetVector(space, "k")
	must.NoError(p, err)
	must.True(p, found)
	must.Equal(p, vector, got, message)
	hits, err := v.SearchVector(space, vector, 1)
	must.NoError(p, err)
	must.Len(p, hits, 1, message)
	must.Equal(p, "k", hits[0].Key, message)
	if hits[0].Vector != nil {
		must.Equal(p, vector, hits[0].Vector, message)
	}
	if len(metadata)+len(m)+len(hits[0].Metadata) > 0 {
		p.same(metadata, m, message)
		p.same(metadata, hits[0].Metadata, message)
	}
}
