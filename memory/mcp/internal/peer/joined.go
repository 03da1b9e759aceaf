package peer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// A joined one sends its requests to the owner.
type joined struct {
	ctx     context.Context // ends with the owner: then nothing begins
	peer    context.Context // ends with the Peer: then nothing goes on
	pid     int             // of the owner
	silence time.Duration   // of a feed, after which its owner is asked again
	client  *http.Client
	streams *http.Client // whose connections are not used again
}

// join joins the owner, and returns nil when that has ended. Its error says why there is
// none.
func (p *Peer) join() error {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dial(ctx, p.socket)
		},
		MaxConnsPerHost:     64,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     30 * time.Second, // less than the owner's
		DisableCompression:  true,
	}
	streams := transport.Clone()
	streams.DisableKeepAlives = true
	streams.MaxConnsPerHost = 0
	j := &joined{
		ctx:     ctx,
		peer:    p.ctx,
		silence: 3 * p.o.beat,
		client:  &http.Client{Transport: transport},
		streams: &http.Client{Transport: streams},
	}
	// An owner that is stopped has the file all the same: so there is no limit of time.
	p.set(state{wait: fmt.Errorf("waiting for the process that has the file, at %s", p.socket)})
	resp, err := j.open(ctx, j.streams, "/join")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	var h hello
	text, err := lines.ReadSlice('\n')
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil {
		return fmt.Errorf("the process that has the file says no hello: %w", err)
	}
	j.pid = h.PID
	p.log.Info("this process has joined the one that owns the memory", "file", p.path, "pid", j.pid)
	p.set(state{seat: j})
	_, _ = io.Copy(io.Discard, lines)
	cancel()
	transport.CloseIdleConnections()
	p.set(state{wait: fmt.Errorf("process %d, which had the file, has ended", j.pid)})
	return nil
}

// open begins to read from the owner.
func (j *joined) open(ctx context.Context, c *http.Client, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://memory"+path, nil)
	if err != nil {
		return nil, err
	}
	return roundTrip(c, req)
}

// roundTrip returns an answer that is of this version.
func roundTrip(c *http.Client, req *http.Request) (*http.Response, error) {
	req.Header.Set(versionHeader, version)
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	if v := resp.Header.Get(versionHeader); v != version {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%w: its protocol is %.20q, and this one's %q: end it, or use the same release", ErrVersion, v, version)
	}
	return resp, nil
}

func (j *joined) do(ctx context.Context, r store.Request) (json.RawMessage, error) {
	body, err := encode(r)
	if err != nil {
		return nil, err
	}
	if j.ctx.Err() != nil {
		return nil, j.lost(ctx, j.ctx.Err())
	}
	defer func() {
		if j.ctx.Err() != nil {
			j.client.CloseIdleConnections() // nobody else does any more
		}
	}()
	// Not until the owner ends: what it has answered before that is still to be read, and
	// there is an end to read if it has not.
	under, cancel := both(ctx, j.peer)
	defer cancel()
	req, err := http.NewRequestWithContext(under, http.MethodPost, "http://memory/do", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := roundTrip(j.client, req)
	if err != nil {
		return nil, j.lost(ctx, err)
	}
	defer resp.Body.Close()
	if resp.ContentLength > maxAnswer {
		return nil, fmt.Errorf("peer: a result of %d bytes is too large", resp.ContentLength)
	}
	result, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, j.lost(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errorOf(resp.StatusCode, result)
	}
	return result, nil
}

// lost says that there was no answer: since ctx has ended, or so that the request is to
// be sent again.
func (j *joined) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx, fmt.Errorf("process %d has the file", j.pid))
	}
	return fmt.Errorf("process %d, which has the file: %w: %w", j.pid, errLost, err)
}

func (j *joined) changes(ctx context.Context, last *string) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		under, cancel := both(ctx, j.peer)
		defer cancel()
		// A timer while it waits for the owner, and not while it is the consumer who takes
		// his time.
		silence := time.AfterFunc(j.silence, cancel)
		defer silence.Stop()
		begun := false
		fail := func(err error) {
			switch {
			case ctx.Err() != nil:
				err = context.Cause(ctx)
			case begun && *last == "":
				err = fmt.Errorf("peer: the owner has ended before the first event: %w", store.ErrCursor)
			default:
				err = j.lost(ctx, err)
			}
			yield(store.Event{}, err)
		}
		resp, err := j.open(under, j.streams, "/changes?cursor="+url.QueryEscape(*last))
		if err != nil {
			fail(err)
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
			if err != nil {
				fail(err)
				return
			}
			yield(store.Event{}, errorOf(resp.StatusCode, text))
			return
		}
		begun = true
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, maxRequest)
		for {
			silence.Reset(j.silence)
			ok := lines.Scan()
			silence.Stop()
			if !ok {
				switch err := lines.Err(); err {
				case bufio.ErrTooLong:
					yield(store.Event{}, fmt.Errorf("peer: an event of more than %d bytes", maxRequest))
				case nil:
					fail(io.ErrUnexpectedEOF)
				default:
					fail(err)
				}
				return
			}
			var l line
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				yield(store.Event{}, fmt.Errorf("peer: an event: %w", err))
				return
			}
			switch {
			case l.Event != nil:
				if *last = l.Event.Cursor; !yield(*l.Event, nil) {
					return
				}
			case l.End == statusClosing:
				fail(errLost)
				return
			case l.End != 0:
				yield(store.Event{}, errorOf(l.End, []byte(l.Text)))
				return
			case l.Start != "":
				*last = l.Start
			}
		}
	}
}
