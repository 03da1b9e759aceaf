package main

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/cowstore/cowstore/bench/result"
)

// thisHost returns what the figures depend on besides the code.
func thisHost() result.Host {
	h := result.Host{
		Go:         runtime.Version(),
		OS:         runtime.GOOS,
		Arch:       runtime.GOARCH,
		CPU:        cpuModel(),
		GOMAXPROCS: runtime.GOMAXPROCS(0),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				h.Commit = s.Value
			case "vcs.modified":
				h.Modified = s.Value == "true"
			}
		}
	}
	if h.Commit == "" {
		h.Commit, h.Modified = revision()
	}
	return h
}

// revision asks git, since the go command need not have. A report is no change of what
// is measured.
func revision() (commit string, modified bool) {
	out, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "", false
	}
	changes, err := exec.Command("git", "status", "--porcelain", ":/", ":(top,exclude)bench/results").Output()
	return strings.TrimSpace(string(out)), err != nil || len(changes) > 0
}

// cpuModel returns what the system calls the processor.
func cpuModel() string {
	switch runtime.GOOS {
	case "linux":
		info, _ := os.ReadFile("/proc/cpuinfo")
		for line := range strings.Lines(string(info)) {
			if key, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(model)
			}
		}
	case "darwin":
		if out, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
			return strings.TrimSpace(string(out))
		}
	case "windows":
		if model := os.Getenv("PROCESSOR_IDENTIFIER"); model != "" {
			return model
		}
	}
	return "unknown CPU"
}

// moduleVersion returns a module with the version that was built in.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok || path == "" {
		return path
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return path + " " + m.Version
		}
	}
	return path
}
