package main

import (
	"fmt"
	"strings"
)

// notes returns what belongs below the table, a paragraph each.
func (r *report) notes() []string {
	checked, least, most := 0, 1.0, 0.0
	for _, c := range r.contenders {
		all, _ := c.lookups()
		checked += all
		if all > 0 {
			least = min(least, c.median(lookupShare))
			most = max(most, c.median(cpus))
		}
	}
	notes := []string{
		"isolated: whatever a caller does to a record it stored or was given, the store does not change.",
		"snapshot: several keys can be read as they were at one moment.",
		"-: neither; readers hold the same slices and maps as the store, and one that sorts a slice " +
			"sorts it for all. Nothing tears above because no reader here does.",
		fmt.Sprintf("torn: records read that were not whole. All %s read were checked, in every field.", thousands(checked)),
		fmt.Sprintf("lookups/s: all readers together, by the time they spent in lookups. The checks are not in it; "+
			"they took up to %.0f%% of the readers' time, in which they wanted no lock.", 100*(1-least)),
		fmt.Sprintf("p50, p99, p99.9: one lookup in %d, timed by itself; about %v of each is the clock. "+
			"Waiting for a processor is in it too: with a writer there is one goroutine more than readers.", every, r.clock),
		fmt.Sprintf("Readers and writer choose keys by Zipf's law (s = %v). Figures are medians of %d rounds.", skew, rounds),
	}
	if could := float64(min(r.host.GOMAXPROCS, r.settings.readers)); most > 0 && most < 0.9*could {
		notes = append(notes, fmt.Sprintf("Other programs were at work: the readers had at most %.1f of %.0f processors. "+
			"Threads that do not run do not contend, so this flatters the stores with locks.", most, could))
	}
	if r.settings.rate > 0 {
		notes = append(notes, "commits/s is what was asked for, where a store keeps up; -writes 0 shows what each can do.")
	}
	if noise, ok := r.noise(); ok {
		notes = append(notes, fmt.Sprintf("noise: the two runs of cowstore Get differ by %.1f%% in lookups/s.", 100*noise))
	}
	notes = append(notes, r.losses()...)
	if r.interrupted {
		notes = append(notes, "Interrupted: figures are of what was measured until then.")
	}
	return notes
}

// losses says where cowstore is behind the others by more than the noise.
func (r *report) losses() []string {
	noise, _ := r.noise()
	margin := 1 + max(noise, 0.05)
	var notes []string
	for _, ours := range r.contenders {
		if len(ours.rounds) == 0 || ours.again || ours.ID != "cowstore" && ours.ID != "shared" {
			continue
		}
		lose := func(what string, behind func(ours, peer *contender) float64) {
			var ahead []string
			for _, c := range r.contenders {
				if len(c.rounds) == 0 || c.ID == "cowstore" || c.ID == "shared" {
					continue
				}
				if times := behind(ours, c); times > margin {
					ahead = append(ahead, fmt.Sprintf("%s (%.1fx)", c.Name, times))
				}
			}
			if len(ahead) > 0 {
				notes = append(notes, fmt.Sprintf("%s loses in %s to %s.", ours.Name, what, strings.Join(ahead, ", ")))
			}
		}
		more := func(of func(round) float64) func(ours, peer *contender) float64 {
			return func(ours, peer *contender) float64 { return peer.median(of) / ours.median(of) }
		}
		less := func(of func(round) float64) func(ours, peer *contender) float64 {
			return func(ours, peer *contender) float64 { return ours.median(of) / peer.median(of) }
		}
		lose("lookups/s", more(lookupsPerSecond))
		lose("p99.9", less(p999))
		if r.settings.rate == 0 {
			lose("commits/s", more(commitsPerSecond))
		}
	}
	if len(notes) > 0 {
		notes = append(notes, "Those that win and are not isolated hand out what they hold; cowstore Get clones it.")
	}
	return notes
}
