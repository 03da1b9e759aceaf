package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/mcp/internal/local"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
	"github.com/cowstore/cowstore/memory/mcp/internal/web"
)

// The commands that have a file to themselves: no server may have it.

// existing returns the path of a file that is there.
func (c *config) existing() (string, error) {
	path, err := c.path()
	if err == nil && path == "" {
		err = errors.New("-memory is for a server")
	}
	if err == nil {
		_, err = os.Stat(path)
	}
	return path, err
}

// explain says what to do about a file that a server has.
func explain(err error) error {
	if errors.Is(err, bolt.ErrLocked) {
		return fmt.Errorf("%w: end the server, or the client that runs it, and try again", err)
	}
	return err
}

// browse serves pages about a file that is only read: it is free while they are served.
func (c *config) browse(ctx context.Context, path string) error {
	token, err := c.token()
	if err != nil {
		return err
	}
	m, err := local.Load(path)
	if err != nil {
		return explain(err)
	}
	fmt.Fprintf(c.out, "version %d of %s: http://%s/\n", m.DB().Load().Version(), path, c.http)
	gate := web.NewGate(token, 0)
	pages := gate.Near(gate.People(fromServers(local.Pages(m, c.values))))
	return errors.Join(unlessEnded(ctx, web.Serve(ctx, c.http, token, pages, c.log)), m.DB().Close())
}

// fromServers has the pages also where a server has them.
func fromServers(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, ok := map[string]string{"/inspect": "./", "/inspect/": "../"}[r.URL.Path]
		if !ok {
			pages.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Location", to) // relative to the address that the browser knows
		w.WriteHeader(http.StatusSeeOther)
	})
}

// with calls f with the open file.
func (c *config) with(path string, f func(s *local.Store) error) error {
	s, err := local.Open(path, local.Options{MaxBytes: c.most << 20, Log: c.log})
	if err != nil {
		return explain(err)
	}
	return errors.Join(f(s), s.Close())
}

func (c *config) inspect(ctx context.Context, _ []string) error {
	path, err := c.existing()
	if err != nil {
		return err
	}
	if c.http != "" {
		return c.browse(ctx, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return c.with(path, func(s *local.Store) error {
		list, used, version, stats := s.Inspect()
		fmt.Fprintf(c.out, "file      %s, %d bytes\nversion   %d, and %d before it are kept\nin memory about %d bytes, and %d of the past\n", path, info.Size(), version, stats.Retained, used, stats.HeldBytes)
		for _, n := range list {
			fmt.Fprintf(c.out, "namespace %s: %d entities, %d relations, %d notes; %d with a vector\n", strconv.Quote(n.Namespace), n.Entities, n.Relations, n.Notes, n.Vectors)
		}
		return nil
	})
}

func (c *config) export(_ context.Context, args []string) error {
	all, rest, err := c.allFlag("export", args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return errors.New("export writes to the standard output: send that to a file")
	}
	path, err := c.existing()
	if err != nil {
		return err
	}
	return c.with(path, func(s *local.Store) error {
		if all {
			return s.ExportAll(c.out)
		}
		return s.Export(c.namespace, c.out)
	})
}

func (c *config) imports(ctx context.Context, args []string) error {
	all, rest, err := c.allFlag("import", args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return errors.New("import one file, or - for the standard input; -all goes before it")
	}
	from := c.in
	if rest[0] != "-" {
		f, err := os.Open(rest[0])
		if err != nil {
			return err
		}
		defer f.Close()
		from = f
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return wrongForm(rest[0], store.Errorf(store.Invalid, "this is a directory: name the file in it"))
		}
	}
	// The form goes first: what is of another one makes no file and no folder.
	in := bufio.NewReaderSize(from, 64<<10)
	head, err := in.Peek(64 << 10)
	if err == nil || err == io.EOF {
		err = local.CheckForm(head, all)
	}
	if err != nil {
		return wrongForm(rest[0], err)
	}
	path, err := c.path()
	if err == nil && path == "" {
		err = errors.New("-memory is for a server")
	}
	if err != nil {
		return err
	}
	return c.with(path, func(s *local.Store) error {
		if all {
			n, err := s.ImportAll(ctx, in)
			if err != nil && n > 0 {
				return fmt.Errorf("import %s: after %d lines, which are imported: %w", rest[0], n, err)
			}
			if err != nil {
				return wrongForm(rest[0], err)
			}
			fmt.Fprintf(c.out, "%d lines\n", n)
			return nil
		}
		n, err := s.Import(ctx, c.namespace, in, func(lines int) { c.log.Info("importing", "lines", lines) })
		if err != nil {
			return wrongForm(rest[0], err)
		}
		fmt.Fprintf(c.out, "%d entities and %d relations are new; %d were there already\n", n.Entities, n.Relations, n.Known)
		return nil
	})
}

// wrongForm returns the error of an import with what an import takes, where it may be that the
// file is not of that.
func wrongForm(name string, err error) error {
	var known *store.Error
	if errors.As(err, &known) && known.Code == store.Invalid || errors.Is(err, memory.ErrMalformed) {
		return fmt.Errorf("import %s: %w; import takes a file of the reference server or of `export`, and with -all one of `export -all`", name, err)
	}
	return fmt.Errorf("import %s: %w", name, err)
}

func (c *config) check(context.Context, []string) error {
	path, err := c.existing()
	if err != nil {
		return err
	}
	info, err := bolt.Check(path)
	if err != nil {
		return explain(err)
	}
	if _, err = fmt.Fprintf(c.out, "nothing is damaged; version %d, %d bytes free\n", info.Version, info.Free); err == nil && info.Erased {
		_, err = fmt.Fprintln(c.out, "what is free may have what was erased: compact writes the file without it")
	}
	return err
}

func (c *config) compact(context.Context, []string) error {
	path, err := c.existing()
	if err != nil {
		return err
	}
	before, err := os.Stat(path)
	if err == nil {
		err = bolt.Compact(path)
	}
	if err != nil {
		return explain(err)
	}
	after, err := os.Stat(path)
	if err == nil {
		_, err = fmt.Fprintf(c.out, "%d bytes, %d before\n", after.Size(), before.Size())
	}
	return err
}

// allFlag parses the flags of a command that has -all.
func (c *config) allFlag(command string, args []string) (all bool, rest []string, err error) {
	f := flag.NewFlagSet(command, flag.ContinueOnError)
	f.SetOutput(c.err)
	f.BoolVar(&all, "all", false, "everything, of all namespaces, in the Memory's own format")
	if err := f.Parse(args); err != nil {
		return false, nil, fmt.Errorf("%s: %w; it has the flag -all, and all others go before it", command, err)
	}
	if all && c.namespace != "" {
		return false, nil, fmt.Errorf("%s: -all is of all namespaces, and -namespace of one: leave one of them out", command)
	}
	return all, f.Args(), nil
}
