package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

func TestWrongFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-wat"}, "-wat"},
		{[]string{"-duration=0"}, "-duration"},
		{[]string{"-duration=soon"}, "-duration"},
		{[]string{"-readers=0"}, "-readers"},
		{[]string{"-rounds=0"}, "-rounds"},
		{[]string{"-writes=-1"}, "-writes"},
		{[]string{"-n=-5"}, "-n -5"},
		{[]string{"-seed=x"}, "-seed"},
		{[]string{"-stores=nope"}, `unknown store "nope"`},
		{[]string{"-stores="}, `unknown store ""`},
		{[]string{"-stores=mutex,mutex"}, "twice"},
		{[]string{"-stores=chromem"}, "none of the stores"},
		{[]string{"-workloads=nope"}, `unknown workload "nope"`},
		{[]string{"-matrix=some"}, "quick or full"},
		{[]string{"-matrix="}, "quick or full"},
		{[]string{"-matrix=quick", "-stores=mutex"}, "-matrix"},
		{[]string{"-only=reads"}, "-bars"},
		{[]string{"-bars", "-only=x"}, `unknown group "x"`},
		{[]string{"-records=x"}, "-queries"},
		{[]string{"-records=x", "-queries=y", "-workloads=docs"}, "-records"},
		{[]string{"-readme=x"}, "-out"},
		{[]string{"-update"}, "-out"},
		{[]string{"now"}, `unexpected argument "now"`},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(context.Background(), c.args, &stdout, &stderr), c.args)
		require.Empty(t, stdout.String())
		require.Contains(t, stderr.String(), c.want)
		require.Equal(t, 1, bytes.Count(stderr.Bytes(), []byte("\n")), "one line says it: %s", stderr.String())
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitOK, run(context.Background(), []string{"-h"}, &stdout, &stderr))
	for _, want := range []string{"-duration", "rwmutex-copy", "agent-turn", "-matrix", "vectors"} {
		require.Contains(t, stderr.String(), want)
	}
}

func TestDefaults(t *testing.T) {
	o, err := parse(nil, nil)
	require.NoError(t, err)
	require.Len(t, o.kinds, len(stores.Kinds()))
	require.Equal(t, "docs", idsOf(o.workloads, func(w workload) string { return w.id }))

	o, err = parse([]string{"-matrix=quick"}, nil)
	require.NoError(t, err)
	require.Len(t, o.workloads, 3)
	require.False(t, o.full)

	o, err = parse([]string{"-matrix=full", "-bars"}, nil)
	require.NoError(t, err)
	require.Len(t, o.workloads, len(workloads()))
	require.Len(t, o.kinds, len(stores.Kinds())+len(stores.More()))
	require.True(t, o.full)

	o, err = parse([]string{"-bars"}, nil)
	require.NoError(t, err)
	require.Empty(t, o.workloads)

	o, err = parse([]string{"-records=a", "-queries=b"}, nil)
	require.NoError(t, err)
	require.Equal(t, "records", idsOf(o.workloads, func(w workload) string { return w.id }))
}

func TestNothingToRunOn(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
		return name
	}
	good := write("good.jsonl", `{"space":["a"],"key":"k","value":1}`)
	asks := write("good.queries", `{"space":["a"],"key":"k"}`)
	t.Setenv("GOROOT", t.TempDir())
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "no source"},
		{[]string{"-records=" + filepath.Join(dir, "absent"), "-queries=" + asks}, "absent"},
		{[]string{"-records=" + write("broken.jsonl", "{\"space\":[\"a\"],\"key\":\"k\",\"value\":1}\nnonsense"), "-queries=" + asks}, "line 2"},
		{[]string{"-records=" + good, "-queries=" + write("broken.queries", `{"space":["a"],"kee":"k"}`)}, "line 1"},
		{[]string{"-out=" + good}, "-out"},
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(context.Background(), c.args, &stdout, &stderr), c.args)
		require.Contains(t, stderr.String(), "bench: ")
		require.Contains(t, stderr.String(), c.want)
	}
}

func TestWholeRun(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the source a second time")
	}
	out := filepath.Join(t.TempDir(), "report")
	var stdout, stderr bytes.Buffer
	args := []string{"-duration=200ms", "-n=2000", "-json", "-stores=cowstore,rwmutex", "-out=" + out}
	require.Equal(t, exitOK, run(context.Background(), args, &stdout, &stderr), stderr.String())
	r, err := result.Read(&stdout)
	require.NoError(t, err)
	require.Len(t, r.Stores, 2)
	require.Len(t, r.Workloads, 1)
	require.Len(t, r.Workloads[0].Cases[0].Rows, 3)
	require.Contains(t, stderr.String(), "symbols")
	written, err := read(filepath.Join(out, "report.json"), result.Read)
	require.NoError(t, err)
	require.Equal(t, r, written)
	html, err := os.ReadFile(filepath.Join(out, "report.html"))
	require.NoError(t, err)
	require.Contains(t, string(html), "cowstore Get")
	pngs, err := filepath.Glob(filepath.Join(out, "*.png"))
	require.NoError(t, err)
	require.NotEmpty(t, pngs)

	readme := filepath.Join(t.TempDir(), "README.md")
	require.NoError(t, os.WriteFile(readme, []byte("<!-- figures: workload docs -->\n<!-- figures end -->\n"), 0o666))
	stderr.Reset()
	require.Equal(t, exitOK, run(context.Background(), []string{"-out=" + out, "-readme=" + readme}, &stdout, &stderr), stderr.String())
	text, err := os.ReadFile(readme)
	require.NoError(t, err)
	require.Contains(t, string(text), "| **cowstore Get** |")
}

// The last that is read is what follows from the figures.
func TestVerdictIsTheEnd(t *testing.T) {
	row := func(store string, x float64) result.Row {
		return result.Row{Store: store, Figures: map[string]result.Figure{"ops": {Median: x, Low: x, High: x}}}
	}
	r := &result.Report{Stores: summarised(stores.Kinds()), Interrupted: true, Workloads: []result.Workload{{
		ID: "docs", Name: "Docs", Columns: []result.Column{colOps},
		Cases: []result.Case{{Rows: []result.Row{row("cowstore", 3e6), row("rwmutex-copy", 1.5e6), row("shared", 15e6), row("syncmap", 9e6)}}},
	}}}
	require.Len(t, r.Verdict(), 4)
	var want strings.Builder
	for _, text := range r.Verdict() {
		writeWrapped(&want, text)
	}
	for _, name := range []string{"cowstore Shared,", "cowstore Get is 2.00 times as fast as RWMutex map, copies,", "sync.Map,"} {
		require.Contains(t, strings.Join(strings.Fields(want.String()), " "), name)
	}
	require.True(t, strings.HasSuffix(legend(r), "until then.\n\n"+want.String()))
}

func TestIsolatedStoresAreFirst(t *testing.T) {
	o, err := parse([]string{"-stores=rwmutex,rwmutex-copy,shared,cowstore"}, nil)
	require.NoError(t, err)
	require.Equal(t, "rwmutex-copy,cowstore,rwmutex,shared", ids(o.kinds))
	require.Equal(t, "views", stores.Kinds()[0].ID, "which is measured twice")

	row := func(store string) result.Row { return result.Row{Store: store} }
	again := row("cowstore")
	again.Again = true
	c := result.Case{Rows: []result.Row{row("rwmutex"), row("cowstore"), row("shared"), row("rwmutex-copy"), again}}
	var b strings.Builder
	caseTable(&b, &result.Workload{Name: "W"}, &c, summarised(o.kinds))
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimSpace(line))
	}
	require.Equal(t, []string{"W", "", "cowstore Get", "RWMutex map, copies", "cowstore Get again",
		"not isolated:", "RWMutex map †", "cowstore Shared †"}, lines[:8])
}
