package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Options say which endpoint to ask, and how. URL and Model must be set.
type Options struct {
	URL   string // such as https://api.openai.com/v1, without /embeddings
	Model string
	Key   string // sent as a bearer token; "" for none

	// Insecure allows http to another machine: the key and the texts can be read on the
	// way.
	Insecure bool

	// Client, if not nil, is used in the place of one with a timeout of a minute. A
	// redirect it gets is not followed in either case.
	Client *http.Client

	BatchTexts int           // at most so many texts in a batch; 0 is 64
	BatchBytes int           // and so many bytes, unless it is one text; 0 is 256 KiB
	Tries      int           // of a batch; 0 is 5
	Pause      time.Duration // after the first failure, and then twice as long each time; 0 is 500 ms
	MaxPause   time.Duration // and at most; 0 is 30 s
}

// The errors of this package, to be tested with errors.Is.
var (
	// ErrInsecure says that the URL would show the key and the texts to the network.
	ErrInsecure = errors.New("http to another machine would show the key and the texts: use https, or allow it")

	// ErrAnswer says that what the endpoint has answered is not what it should be.
	ErrAnswer = errors.New("the endpoint's answer is wrong")
)

// A StatusError says that the endpoint has refused a request, or that it still failed the
// last time that it was tried.
type StatusError struct {
	Status int
	Text   string // what the endpoint says, shortened, without the key
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the endpoint says %d %s: %s", e.Status, http.StatusText(e.Status), e.Text)
}

// A Client asks an endpoint. It is made by New, and safe for concurrent use.
type Client struct {
	o    Options
	url  string
	http *http.Client
}

// New returns a Client. It does not connect. Its error wraps ErrInsecure, or says what is
// wrong with the options.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil:
		// What url.Parse says has the URL, which may have a password.
		return nil, errors.New("embed: the URL is not one")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("embed: the URL must begin with https:// or http:// and a host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("embed: the URL must have no user, query or fragment: the key is given apart")
	case u.Scheme == "http" && !o.Insecure && !loopback(u.Hostname()):
		return nil, fmt.Errorf("embed: %w", ErrInsecure)
	case o.Model == "":
		return nil, errors.New("embed: there is no model")
	case strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("embed: the key has a space, or a character that is not ASCII")
	}
	set(&o.BatchTexts, 64)
	set(&o.BatchBytes, 256<<10)
	set(&o.Tries, 5)
	set(&o.Pause, 500*time.Millisecond)
	set(&o.MaxPause, 30*time.Second)
	c := &Client{o: o, url: u.JoinPath("embeddings").String()}
	if o.Client != nil {
		own := *o.Client
		c.http = &own
	} else {
		c.http = &http.Client{Timeout: time.Minute}
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

func set[T int | time.Duration](v *T, to T) {
	if *v <= 0 {
		*v = to
	}
}

// loopback reports whether a host is this machine, without asking anybody.
func loopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

// Embed returns the vectors of texts, in their order. On an error there are none. One that
// wraps a *StatusError of 400 or 413 may be about a single text, empty or too long for the
// model: ask for each alone to find out which.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n, size := 0, 0
		for n < len(texts) && n < c.o.BatchTexts && (n == 0 || size+len(texts[n]) <= c.o.BatchBytes) {
			size += len(texts[n])
			n++
		}
		batch, err := c.patiently(ctx, texts[:n])
		if err != nil {
			return nil, fmt.Errorf("embed: %w", err)
		}
		if len(vectors) > 0 && len(batch[0]) != len(vectors[0]) {
			return nil, fmt.Errorf("embed: %w: vectors of %d and %d numbers", ErrAnswer, len(vectors[0]), len(batch[0]))
		}
		vectors, texts = append(vectors, batch...), texts[n:]
	}
	return vectors, nil
}

// patiently asks for a batch until there is an answer that is not only for now.
func (c *Client) patiently(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(struct {
		Model    string   `json:"model"`
		Input    []string `json:"input"`
		Encoding string   `json:"encoding_format"`
	}{c.o.Model, texts, "float"})
	if err != nil {
		return nil, err
	}
	pause := c.o.Pause
	for try := 1; ; try++ {
		vectors, after, err := c.ask(ctx, body, len(texts))
		switch {
		case err == nil:
			return vectors, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case after < 0 || try == c.o.Tries:
			return nil, err
		}
		// At random, so that those who failed together do not come back together.
		wait := max(pause/2+rand.N(pause/2+1), after)
		pause = min(2*pause, c.o.MaxPause)
		t := time.NewTimer(min(wait, c.o.MaxPause))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, fmt.Errorf("%w, while waiting after: %w", context.Cause(ctx), err)
		}
	}
}

// ask asks once. After an error it returns when to ask again at the earliest, or -1 if
// that is of no use.
func (c *Client) ask(ctx context.Context, body []byte, n int) (_ [][]float32, after time.Duration, _ error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, -1, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if c.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, c.clean(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		err := &StatusError{resp.StatusCode, c.shorten(string(text))}
		switch s := resp.StatusCode; {
		case s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s >= 500:
			return nil, retryAfter(resp.Header.Get("Retry-After"), time.Now()), err
		}
		return nil, -1, err
	}
	// A number takes some 25 bytes at most, and no vector has more than maxDim.
	most := int64(n)*maxDim*25 + 1<<20
	b, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, 0, c.clean(err)
	case int64(len(b)) > most:
		return nil, -1, fmt.Errorf("%w: it has more than %d bytes", ErrAnswer, most)
	}
	vectors, err := parse(b, n)
	return vectors, -1, err
}

// clean returns an error without the key, which a proxy or a transport may have put there.
func (c *Client) clean(err error) error {
	if c.o.Key == "" || !strings.Contains(err.Error(), c.o.Key) {
		return err
	}
	return errors.New(c.shorten(err.Error()))
}

// shorten returns what a line of an error can have of a text.
func (c *Client) shorten(text string) string {
	if c.o.Key != "" {
		text = strings.ReplaceAll(text, c.o.Key, "…")
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "…"
	}
	return text
}

// retryAfter returns how long a header asks to wait: seconds, or a time.
func retryAfter(header string, now time.Time) time.Duration {
	if s, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(max(s, 0), 1<<20)) * time.Second
	}
	if t, err := http.ParseTime(header); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}
