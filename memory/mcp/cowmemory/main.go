// Cowmemory serves a memory to agents over the Model Context Protocol, on the standard input
// and output, or over HTTP; and it shows, copies and checks the file of a memory. See
// README.md, one level up.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	mcp "github.com/cowstore/cowstore/memory/mcp"
)

const usage = `Cowmemory serves a memory to agents over the Model Context Protocol.

	cowmemory [flags]                     serve one client on the standard input and output
	cowmemory -http 127.0.0.1:8123        serve any number of clients over HTTP; /inspect/ and /metrics show what happens
	cowmemory [flags] inspect             show what the file has; with -http on pages for a browser, from what is only read
	cowmemory [flags] export [-all]       write the graph as JSON Lines, or with -all everything
	cowmemory [flags] import [-all] FILE  take the file of the reference memory server, or what export -all wrote
	cowmemory [flags] check               read and verify the whole file
	cowmemory [flags] compact             write the file anew, without what neither the memory nor its past has
	cowmemory version

Flags:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
		fmt.Fprintln(os.Stderr, "cowmemory:", err)
		os.Exit(1)
	}
}

// A config is what the flags say.
type config struct {
	file, namespace, http, tokenFile string
	embedURL, embedModel             string
	memory, erase, values, verbose   bool
	most                             int64

	in       io.Reader
	out, err io.Writer
	log      *slog.Logger
}

func run(ctx context.Context, args []string, in io.Reader, out, stderr io.Writer) error {
	c := &config{in: in, out: out, err: stderr}
	name, rest, err := c.parse(args)
	if err != nil {
		return err
	}
	return commands[name].do(c, ctx, rest)
}

// A task is what can be done, and the flags that it has a use for, besides -v.
type task struct {
	do    func(c *config, ctx context.Context, args []string) error
	flags string
}

// commands are the tasks by their names; without one, it serves.
var commands = map[string]task{
	"":        {(*config).serve, "file memory namespace http token-file values embed-url embed-model most erase"},
	"inspect": {(*config).inspect, "file memory http token-file values most"},
	"export":  {(*config).export, "file memory namespace most"},
	"import":  {(*config).imports, "file memory namespace most"},
	"check":   {(*config).check, "file memory"},
	"compact": {(*config).compact, "file memory"},
	"version": {(*config).version, ""},
}

// parse parses the command line, and returns the name of the command and its arguments. What
// would have no effect is an error.
func (c *config) parse(args []string) (name string, rest []string, err error) {
	f := flag.NewFlagSet("cowmemory", flag.ContinueOnError)
	f.SetOutput(c.err)
	f.Usage = func() {
		fmt.Fprint(c.err, usage)
		f.PrintDefaults()
	}
	f.StringVar(&c.file, "file", "", "the `file` of the memory (default in the user's data folder: cowmemory/memory.cow)")
	f.BoolVar(&c.memory, "memory", false, "keep nothing: the memory ends with the process")
	f.StringVar(&c.namespace, "namespace", "", "whose memory it is, of clients that do not `name` one")
	f.StringVar(&c.http, "http", "", "serve over HTTP at this `address`, as 127.0.0.1:8123; "+tokenVariable+" or -token-file has the token that clients must bear")
	f.StringVar(&c.tokenFile, "token-file", "", "a `file` that has the token; with -http")
	f.BoolVar(&c.values, "values", false, "show on pages what is stored, and not its keys, types and sizes alone; with -http")
	f.StringVar(&c.embedURL, "embed-url", "", "the `URL` of an endpoint for embeddings in OpenAI's form, as http://localhost:11434/v1, without /embeddings; "+keyVariable+" has its key")
	f.StringVar(&c.embedModel, "embed-model", "", "the `name` of the model there; with -embed-url")
	f.Int64Var(&c.most, "most", 1024, "how many `MiB` the memory may take")
	f.BoolVar(&c.erase, "erase", false, "give clients the tool erase, which takes a note or an entity out of the past too")
	f.BoolVar(&c.verbose, "v", false, "log also what is not a warning; a server with -http does so without")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return "", nil, err
		}
		return "", nil, fmt.Errorf("%w; -h shows what there is", err)
	}
	if err := checkEnvironment(os.Environ()); err != nil {
		return "", nil, err
	}
	if c.most < 1 || c.most > 1<<30 {
		return "", nil, fmt.Errorf("-most %d: it is from 1 to %d", c.most, 1<<30)
	}
	level := slog.LevelWarn
	switch {
	case c.verbose:
		level = slog.LevelDebug
	case c.http != "" && f.NArg() == 0: // an operator wants to know where it serves, and who has the file
		level = slog.LevelInfo
	}
	c.log = slog.New(slog.NewTextHandler(c.err, &slog.HandlerOptions{Level: level}))
	if f.NArg() > 0 {
		name, rest = f.Arg(0), f.Args()[1:]
	}
	do, ok := commands[name]
	switch {
	case f.NArg() > 0 && (name == "" || name == "serve"):
		return "", nil, fmt.Errorf("there is no command %q: leave it out, and cowmemory serves", name)
	case name == "help":
		return "", nil, errors.New(`there is no command "help": cowmemory -h shows what there is`)
	case !ok:
		return "", nil, fmt.Errorf("there is no command %q; -h shows what there is", name)
	case len(rest) > 0 && name != "export" && name != "import":
		return "", nil, fmt.Errorf("%s takes no arguments, and there is %q: flags go before it", name, rest[0])
	}
	given := make(map[string]bool)
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for _, flag := range slices.Sorted(maps.Keys(given)) {
		if flag != "v" && !slices.Contains(strings.Fields(do.flags), flag) {
			return "", nil, fmt.Errorf("-%s is of no use with %s: leave it out", flag, name)
		}
	}
	for _, pair := range [][2]string{{"token-file", "http"}, {"values", "http"}, {"embed-model", "embed-url"}} {
		if given[pair[0]] && !given[pair[1]] {
			return "", nil, fmt.Errorf("-%s is of no use without -%s: give both, or leave it out", pair[0], pair[1])
		}
	}
	return name, rest, nil
}

// checkEnvironment returns an error for a variable that looks like one of cowmemory, and is not:
// a misspelled token would be none.
func checkEnvironment(variables []string) error {
	for _, v := range variables {
		name, _, _ := strings.Cut(v, "=")
		known := func(k string) bool { return name == k || runtime.GOOS == "windows" && strings.EqualFold(name, k) }
		if strings.HasPrefix(strings.ToUpper(name), "COWMEMORY_") && !known(tokenVariable) && !known(keyVariable) {
			return fmt.Errorf("there is no variable %s; there are %s and %s", name, tokenVariable, keyVariable)
		}
	}
	return nil
}

func (c *config) version(context.Context, []string) error {
	_, err := fmt.Fprintln(c.out, "cowmemory", mcp.Version)
	return err
}
