package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	mcp "github.com/cowstore/cowstore/memory/mcp"
	"github.com/cowstore/cowstore/memory/mcp/internal/embed"
)

// The variables of the environment that have secrets.
const (
	tokenVariable = "COWMEMORY_TOKEN"
	keyVariable   = "COWMEMORY_EMBED_KEY"
)

func (c *config) serve(ctx context.Context, _ []string) error {
	path, err := c.path()
	if err != nil {
		return err
	}
	token, err := c.token()
	if err != nil {
		return err
	}
	o := mcp.Options{Namespace: c.namespace, MaxBytes: c.most << 20, Log: c.log, Token: token, Erase: c.erase, Values: c.values}
	if c.embedURL != "" {
		client, err := embed.New(embed.Options{URL: c.embedURL, Model: c.embedModel, Key: os.Getenv(keyVariable)})
		if err != nil {
			return err
		}
		o.Embed = client.Embed
	}
	s, err := mcp.Open(path, o)
	if err != nil {
		return err
	}
	if c.http != "" {
		err = s.ListenAndServe(ctx, c.http)
	} else {
		c.log.Info("serving on the standard input and output", "file", path)
		err = s.ServeStdio(ctx)
	}
	return errors.Join(unlessEnded(ctx, err), s.Close())
}

// unlessEnded returns an error of serving, and nil if that is that somebody ended it.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

// path returns where the file is, "" for none, and makes its folder, for this user alone.
func (c *config) path() (string, error) {
	if c.memory {
		if c.file != "" {
			return "", errors.New("-memory and -file do not go together")
		}
		return "", nil
	}
	path := c.file
	if path == "" {
		folder, err := dataFolder()
		if err != nil {
			return "", fmt.Errorf("where to keep the memory: %w; name a file by -file", err)
		}
		path = filepath.Join(folder, "cowmemory", "memory.cow")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("where to keep the memory: %w", err)
	}
	return path, nil
}

// dataFolder returns where the user's data is.
func dataFolder() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	switch runtime.GOOS {
	case "windows", "darwin", "ios", "plan9":
		return os.UserConfigDir() // %AppData%, Application Support
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "share"), err
}

func (c *config) token() (string, error) {
	token, set := os.LookupEnv(tokenVariable)
	if set && c.tokenFile == "" && c.http != "" && strings.TrimSpace(token) == "" {
		return "", fmt.Errorf("the token: %s is set, and empty", tokenVariable) // as by a file that could not be read
	}
	if c.tokenFile != "" {
		b, err := os.ReadFile(c.tokenFile)
		if err != nil {
			return "", fmt.Errorf("the token: %w", err)
		}
		token = string(b)
		if info, err := os.Stat(c.tokenFile); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			c.log.Warn("other users may read the token, or write it", "file", c.tokenFile, "mode", info.Mode().Perm().String())
		}
		if strings.TrimSpace(token) == "" {
			return "", fmt.Errorf("the token: %s is empty", c.tokenFile)
		}
	}
	return strings.TrimSpace(token), nil
}
