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
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	mcp "github.com/cowstore/cowstore/memory/mcp"
)

const usage = `Cowmemory serves a memory to agents over the Model Context Protocol.

	cowmemory [flags]                     serve one client on the standard input and output
	cowmemory -http 127.0.0.1:8123        serve any number of clients over HTTP
	cowmemory [flags] inspect             show what the file has
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
	memory, verbose                  bool
	most                             int64

	in       io.Reader
	out, err io.Writer
	log      *slog.Logger
}

func run(ctx context.Context, args []string, in io.Reader, out, stderr io.Writer) error {
	c := config{in: in, out: out, err: stderr}
	f := flag.NewFlagSet("cowmemory", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprint(stderr, usage)
		f.PrintDefaults()
	}
	f.StringVar(&c.file, "file", "", "the `file` of the memory (default in the user's data folder: cowmemory/memory.cow)")
	f.BoolVar(&c.memory, "memory", false, "keep nothing: the memory ends with the process")
	f.StringVar(&c.namespace, "namespace", "", "whose memory it is, of clients that do not `name` one")
	f.StringVar(&c.http, "http", "", "serve over HTTP at this `address`, as 127.0.0.1:8123; "+tokenVariable+" or -token-file has the token that clients must bear")
	f.StringVar(&c.tokenFile, "token-file", "", "a `file` that has the token")
	f.StringVar(&c.embedURL, "embed-url", "", "the `URL` of an endpoint for embeddings in OpenAI's form, as http://localhost:11434/v1, without /embeddings; "+keyVariable+" has its key")
	f.StringVar(&c.embedModel, "embed-model", "", "the `name` of the model there")
	f.Int64Var(&c.most, "most", 1024, "how many `MiB` the memory may take")
	f.BoolVar(&c.verbose, "v", false, "log more")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w; -h shows what there is", err)
	}
	if err := checkEnvironment(os.Environ()); err != nil {
		return err
	}
	if c.most < 1 || c.most > 1<<30 {
		return fmt.Errorf("-most %d: it is from 1 to %d", c.most, 1<<30)
	}
	level := slog.LevelWarn
	if c.verbose {
		level = slog.LevelDebug
	}
	c.log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	command, rest := "serve", []string(nil)
	if f.NArg() > 0 {
		command, rest = f.Arg(0), f.Args()[1:]
	}
	do, ok := map[string]func(context.Context, []string) error{
		"serve": c.serve, "inspect": c.inspect, "export": c.export, "import": c.imports,
		"check": c.check, "compact": c.compact, "version": c.version,
	}[command]
	if !ok {
		return fmt.Errorf("there is no %q; -h shows what there is", command)
	}
	if len(rest) > 0 && command != "export" && command != "import" {
		return fmt.Errorf("%s takes no arguments, and there is %q: flags go before it", command, rest[0])
	}
	return do(ctx, rest)
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
