package main

import (
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// large returns a demo of a million jobs and 10,000 versions, beside which somebody writes.
func large(b *testing.B) *demo {
	d, err := newDemo(1_000_000, 10_000)
	require.NoError(b, err)
	go d.write(b.Context(), 10*time.Millisecond)
	return d
}

var link = regexp.MustCompile(`href="([^"#]+)"`)

// page returns a page, and how long it took.
func page(b *testing.B, h http.Handler, address string) (body string, took time.Duration) {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, address, nil)
	r.Header.Set("Accept", "text/html")
	begun := time.Now()
	h.ServeHTTP(w, r)
	took = time.Since(begun)
	if w.Code != http.StatusGone { // it was retained when the link to it was written
		require.Equal(b, http.StatusOK, w.Code, address)
	}
	return w.Body.String(), took
}

// BenchmarkPages walks from page to page, by any link of each, beside a writer: p99-ms is of all.
func BenchmarkPages(b *testing.B) {
	d := large(b)
	h, r := d.pages(), rand.New(rand.NewPCG(1, 1))
	var all []time.Duration
	at := "/"
	for b.Loop() {
		body, took := page(b, h, at)
		all = append(all, took)
		links := link.FindAllStringSubmatch(body, -1)
		if len(links) == 0 || r.IntN(20) == 0 {
			at = "/"
			continue
		}
		here, err := url.Parse(at)
		require.NoError(b, err)
		next, err := here.Parse(html.UnescapeString(links[r.IntN(len(links))][1]))
		require.NoError(b, err)
		at = next.RequestURI()
	}
	slices.Sort(all)
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	b.ReportMetric(ms(all[len(all)/2]), "p50-ms")
	b.ReportMetric(ms(all[(len(all)-1)*99/100]), "p99-ms")
	b.ReportMetric(ms(all[len(all)-1]), "max-ms")
}

// BenchmarkGetBesidePages gets rows while nobody, or somebody, asks for ten pages a second.
func BenchmarkGetBesidePages(b *testing.B) {
	d := large(b)
	h := d.pages()
	keys := make([]string, 100_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("job-%07d", i*10)
	}
	for _, requests := range []int{0, 10} {
		b.Run(fmt.Sprint("requests=", requests), func(b *testing.B) {
			if requests > 0 {
				tick := time.NewTicker(time.Second / time.Duration(requests))
				defer tick.Stop()
				go func() {
					for {
						select {
						case <-b.Context().Done():
							return
						case <-tick.C:
							page(b, h, fmt.Sprintf("/l/%s/v/%d/tables/jobs", d.db.Lineage().ID, d.db.Load().Version()))
						}
					}
				}()
			}
			i := 0
			for b.Loop() {
				if _, ok := d.jobs.Get(keys[i]); !ok {
					b.Fatal("not there")
				}
				i = (i + 7919) % len(keys)
			}
		})
	}
}
