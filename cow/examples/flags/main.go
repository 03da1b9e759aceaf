// Flags is a service of feature flags in a cow.Table.
//
// It shows lookups that take no lock and copy nothing, a hot reload that wakes
// nobody for what did not change, server-sent events that resume where a client
// left off, and changes over HTTP that fail if somebody else was faster.
//
//	go run ./cow/examples/flags
//	curl -i localhost:8080/flags/dark-mode
//	curl -N localhost:8080/events
//	curl -X PUT -H 'If-Match: "<the ETag>"' -d '{"on":false}' localhost:8080/flags/dark-mode
//
// An edit of cow/examples/flags/flags.json, while it runs, reloads the flags.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"time"

	"github.com/cowstore/cowstore/cow"
)

// A Flag says for whom a feature is on. It has a slice in it, and needs nothing
// for that: the store clones what comes in and what goes out.
type Flag struct {
	On      bool     `json:"on"`
	Percent int      `json:"percent,omitempty"` // of all users
	Users   []string `json:"users,omitempty"`   // these in any case
}

// A Service is the flags and their HTTP interface.
type Service struct {
	flags *cow.Table[string, Flag]
}

// NewService returns a Service without flags.
func NewService() *Service {
	s := &Service{cow.New[string](cow.Options[Flag]{})}
	s.flags.DB().Retain(cow.Retention{Versions: 1000}) // how far back an event stream can resume
	return s
}

// Enabled reports whether a feature is on for a user. It is for the path of every
// request: one atomic load and one lookup. Shared saves the clone of the slice, which
// is right where nobody writes to what it returns.
func (s *Service) Enabled(name, user string) bool {
	f, ok := s.flags.Load().Shared().Get(name)
	if !ok || !f.On {
		return false
	}
	if slices.Contains(f.Users, user) {
		return true
	}
	h := fnv.New32a()
	fmt.Fprint(h, name, "/", user)
	return int(h.Sum32()%100) < f.Percent
}

// Reload makes the content of a file the flags, all of them or, if it makes no
// sense, none. Flags that are the same in the file keep their revision, and who
// watches them sleeps on.
func (s *Service) Reload(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var flags map[string]Flag
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(&flags)
	if err == nil && flags == nil {
		err = errors.New("null instead of an object")
	}
	if _, more := d.Token(); err == nil && more != io.EOF {
		err = errors.New("more than one object")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return s.flags.Sync(maps.All(flags), func(a, b Flag) bool { return reflect.DeepEqual(a, b) })
}

// ReloadEvery looks every d whether the file was written, and then calls Reload, until
// ctx ends. What was changed over HTTP stays until then.
func (s *Service) ReloadEvery(ctx context.Context, d time.Duration, file string) {
	var last time.Time
	for ; ctx.Err() == nil; time.Sleep(d) {
		info, err := os.Stat(file)
		if err == nil && info.ModTime().Equal(last) {
			continue
		}
		if err == nil {
			last = info.ModTime()
			err = s.Reload(file)
		}
		if err != nil {
			log.Print("flags stay as they are: ", err)
		}
	}
}

// Follow calls f with a flag, and again whenever it was written, until ctx ends.
// Writes of other flags do not wake it, and it never misses the last of several.
func (s *Service) Follow(ctx context.Context, name string, f func(v Flag, found bool)) error {
	seen := s.flags.DB().Load()
	for {
		f(s.flags.In(seen).Get(name))
		var err error
		if seen, err = s.flags.DB().Watch(ctx, seen, s.flags.OnKeys(name)); err != nil {
			return err
		}
	}
}

// ServeMux returns the HTTP interface.
func (s *Service) ServeMux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /flags", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.flags.Load()) })
	mux.HandleFunc("GET /flags/{name}", s.get)
	mux.HandleFunc("PUT /flags/{name}", s.change)
	mux.HandleFunc("GET /events", s.events)
	return mux
}

// etag names a revision of a flag. A cursor says of which line of versions it is, so
// that no ETag from before a restart matches by accident.
func (s *Service) etag(rev uint64) string { return `"` + s.flags.DB().Cursor(rev) + `"` }

func (s *Service) get(w http.ResponseWriter, r *http.Request) {
	row, ok := s.flags.Load().Row(r.PathValue("name"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", s.etag(row.Revision())) // value and revision of one moment
	writeJSON(w, row.Value())
}

// change stores a flag that is still as the client has seen it: If-Match has its
// ETag, or If-None-Match is * for one that must be new.
func (s *Service) change(w http.ResponseWriter, r *http.Request) {
	name, tag := r.PathValue("name"), r.Header.Get("If-Match")
	rev := s.flags.Load().Revision(name) // 0: there is none
	switch {
	case tag == "" && r.Header.Get("If-None-Match") != "*":
		http.Error(w, "If-Match is required, or If-None-Match: * for a new flag", http.StatusPreconditionRequired)
		return
	case tag == "":
		rev = 0
	case rev == 0 || tag != s.etag(rev):
		http.Error(w, "the flag has changed", http.StatusPreconditionFailed)
		return
	}
	var f Flag
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&f); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rev, err := s.flags.SetIf(name, rev, f) // somebody may have been faster
	switch {
	case errors.Is(err, cow.ErrRevision):
		http.Error(w, "the flag has changed", http.StatusPreconditionFailed)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("ETag", s.etag(rev))
		w.WriteHeader(http.StatusNoContent)
	}
}

// events sends one event for each commit, with what it changed. A client that
// reconnects gets what it missed. One that is new, or was away for too long, gets an
// event with all flags first.
func (s *Service) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	send := func(event, id string, data any) error {
		text, err := json.Marshal(data)
		if err == nil {
			fmt.Fprintf(w, "event: %s\nid: %s\ndata: %s\n\n", event, id, text)
			err = http.NewResponseController(w).Flush()
		}
		return err
	}
	cursor := r.Header.Get("Last-Event-ID")
	for {
		for c, err := range s.flags.DB().Resume(r.Context(), cursor) {
			switch {
			case r.Context().Err() != nil: // the client has gone
				return
			case err != nil: // no cursor, one of another process, or too old: begin anew
				all := s.flags.Load()
				cursor = s.flags.DB().Cursor(all.Version())
				err = send("flags", cursor, all)
			default:
				cursor = c.Cursor()
				err = send("change", cursor, slices.Collect(s.flags.Rows(c)))
			}
			if err != nil {
				return
			}
		}
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print(err)
	}
}

func main() {
	file := flag.String("file", "cow/examples/flags/flags.json", "flags, as JSON")
	addr := flag.String("addr", "localhost:8080", "address to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	s := NewService()
	if err := s.Reload(*file); err != nil {
		log.Fatal(err)
	}
	go s.ReloadEvery(ctx, time.Second, *file)
	go s.Follow(ctx, "maintenance", func(f Flag, _ bool) { log.Print("maintenance: ", f.On) })

	server := &http.Server{Addr: *addr, Handler: s.ServeMux()}
	context.AfterFunc(ctx, func() { server.Close() })
	log.Print("listening on ", *addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
