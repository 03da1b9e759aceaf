package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const key = "sk-very-secret"

// endpoint returns a Client of an endpoint that f answers, and the number of requests.
func endpoint(t *testing.T, o Options, f http.HandlerFunc) (*Client, *atomic.Int32) {
	asked := new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		f(w, r)
	}))
	t.Cleanup(s.Close)
	o.URL, o.Model, o.Key, o.Client = s.URL+"/v1", "small", key, s.Client()
	if o.Pause == 0 {
		o.Pause = time.Millisecond
	}
	if o.MaxPause == 0 {
		o.MaxPause = 2 * time.Millisecond
	}
	c, err := New(o)
	require.NoError(t, err)
	return c, asked
}

func says(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }
}

// measure answers with vectors of the length of each text, the last one first.
func measure(t *testing.T, check func(texts []string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model    string   `json:"model"`
			Input    []string `json:"input"`
			Encoding string   `json:"encoding_format"`
		}
		if r.Method != http.MethodPost || r.URL.Path != "/v1/embeddings" ||
			r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("Content-Type") != "application/json" ||
			json.NewDecoder(r.Body).Decode(&in) != nil || in.Model != "small" || in.Encoding != "float" {
			t.Error("not a request as it should be")
		}
		check(in.Input)
		var parts []string
		for i, text := range in.Input {
			parts = append(parts, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%d,-0.5]}`, i, len(text)))
		}
		slices.Reverse(parts)
		says(`{"object":"list","data":[`+strings.Join(parts, ",")+`],"usage":{}}`)(w, r)
	}
}

func TestEmbed(t *testing.T) {
	var batches [][]string
	c, _ := endpoint(t, Options{BatchTexts: 3, BatchBytes: 10}, measure(t, func(texts []string) { batches = append(batches, texts) }))
	texts := []string{"a", "bb", "ccc", "dddd", "eeeeeee", strings.Repeat("f", 20), "", "<ü>"}
	got, err := c.Embed(t.Context(), texts)
	require.NoError(t, err)
	require.Len(t, got, len(texts))
	for i, v := range got {
		require.Equal(t, []float32{float32(len(texts[i])), -0.5}, v)
	}
	require.Equal(t, [][]string{texts[:3], texts[3:4], texts[4:5], texts[5:6], texts[6:]}, batches)

	got, err = c.Embed(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestItIsTriedAgain(t *testing.T) {
	good := measure(t, func([]string) {})
	for name, bad := range map[string]http.HandlerFunc{
		"429":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) },
		"500":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"503":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"cuts off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"data":[`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			c, asked := endpoint(t, Options{Tries: 3}, func(w http.ResponseWriter, r *http.Request) {
				if n++; n%3 != 0 {
					bad(w, r)
				} else {
					good(w, r)
				}
			})
			got, err := c.Embed(t.Context(), []string{"a"})
			require.NoError(t, err)
			require.Equal(t, [][]float32{{1, -0.5}}, got)
			require.EqualValues(t, 3, asked.Load())

			c, asked = endpoint(t, Options{Tries: 4}, bad)
			_, err = c.Embed(t.Context(), []string{"a"})
			require.Error(t, err)
			require.EqualValues(t, 4, asked.Load())
		})
	}
}

func TestRetryAfter(t *testing.T) {
	n, first := 0, time.Time{}
	c, _ := endpoint(t, Options{MaxPause: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		if n++; n == 1 {
			first = time.Now()
			w.Header().Set("Retry-After", "100000") // bounded
			w.WriteHeader(429)
			return
		}
		measure(t, func([]string) {})(w, r)
	})
	_, err := c.Embed(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(first), 50*time.Millisecond)

	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "soon": 0, "999999999999999999999": 0,
		now.Add(time.Hour).Format(http.TimeFormat):  time.Hour,
		now.Add(-time.Hour).Format(http.TimeFormat): 0,
	} {
		require.Equal(t, want, retryAfter(header, now), header)
	}
}

func TestARefusalIsFinal(t *testing.T) {
	for _, code := range []int{301, 307, 400, 401, 404, 413, 204} {
		c, asked := endpoint(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(code)
			if code >= 300 {
				_, _ = fmt.Fprintf(w, "no\nto %s \xff\x00%s", r.Header.Get("Authorization"), strings.Repeat("x", 1e6))
			}
		})
		_, err := c.Embed(t.Context(), []string{"a"})
		var status *StatusError
		require.ErrorAs(t, err, &status)
		require.Equal(t, code, status.Status)
		require.EqualValues(t, 1, asked.Load())
		require.NotContains(t, err.Error(), key)
		require.Less(t, len(err.Error()), 1000)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestAWrongAnswer(t *testing.T) {
	for name, data := range map[string]string{
		"no JSON":       `oops`,
		"cut off":       `{"data":[{"index":0,"embedding":[1,2]},`,
		"another form":  `[]`,
		"none":          `{}`,
		"too few":       `{"data":[{"index":0,"embedding":[1,2]}]}`,
		"too many":      `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]},{"index":2,"embedding":[1]}]}`,
		"twice":         `{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`,
		"beyond":        `{"data":[{"index":0,"embedding":[1,2]},{"index":2,"embedding":[1,2]}]}`,
		"below":         `{"data":[{"index":0,"embedding":[1,2]},{"index":-1,"embedding":[1,2]}]}`,
		"no index":      `{"data":[{"index":0,"embedding":[1,2]},{"embedding":[1,2]}]}`,
		"dimensions":    `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}`,
		"empty":         `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`,
		"no vector":     `{"data":[{"index":0},{"index":1}]}`,
		"null":          `{"data":[{"index":0,"embedding":null},{"index":1,"embedding":null}]}`,
		"a null":        `{"data":[{"index":0,"embedding":[1,null]},{"index":1,"embedding":[1,2]}]}`,
		"NaN":           `{"data":[{"index":0,"embedding":[1,NaN]},{"index":1,"embedding":[1,2]}]}`,
		"infinite":      `{"data":[{"index":0,"embedding":[1,1e39]},{"index":1,"embedding":[1,2]}]}`,
		"zero":          `{"data":[{"index":0,"embedding":[0,-0.0]},{"index":1,"embedding":[1,2]}]}`,
		"text":          `{"data":[{"index":0,"embedding":"AAAA"},{"index":1,"embedding":"AAAA"}]}`,
		"deep":          `{"data":[{"index":0,"embedding":` + strings.Repeat("[", 1e5) + `}]}`,
		"huge":          `{"data":[{"index":0,"embedding":[` + strings.Repeat("1,", 4e6) + `1]}]}`,
		"a long vector": `{"data":[{"index":0,"embedding":[` + strings.Repeat("1,", maxDim) + `1]},{"index":1,"embedding":[1]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			c, asked := endpoint(t, Options{}, says(data))
			got, err := c.Embed(t.Context(), []string{"a", "b"})
			require.ErrorIs(t, err, ErrAnswer)
			require.Nil(t, got)
			require.EqualValues(t, 1, asked.Load())
		})
	}
	// Two batches, of which each is right, but not together.
	n := 0
	c, _ := endpoint(t, Options{BatchTexts: 1}, func(w http.ResponseWriter, r *http.Request) {
		n++
		says(`{"data":[{"index":0,"embedding":[`+strings.Repeat("1,", n)+`1]}]}`)(w, r)
	})
	_, err := c.Embed(t.Context(), []string{"a", "b"})
	require.ErrorIs(t, err, ErrAnswer)
}

func TestAContextEnds(t *testing.T) {
	stop := errors.New("enough")
	asked := make(chan struct{}, 1)
	for name, f := range map[string]http.HandlerFunc{
		"while it is asked": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // so that it is noticed who has gone
			asked <- struct{}{}
			<-r.Context().Done()
		},
		"between two tries": func(w http.ResponseWriter, _ *http.Request) { asked <- struct{}{}; w.WriteHeader(500) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			c, _ := endpoint(t, Options{Pause: time.Hour, MaxPause: time.Hour}, f)
			go func() { <-asked; cancel(stop) }()
			_, err := c.Embed(ctx, []string{"a"})
			require.ErrorIs(t, err, stop)
		})
	}
}

func TestAKeyIsNotShown(t *testing.T) {
	c, err := New(Options{URL: "https://127.0.0.1:1", Model: "m", Key: key, Tries: 1, Client: &http.Client{Transport: telltale{}}})
	require.NoError(t, err)
	_, err = c.Embed(t.Context(), []string{"a"})
	require.ErrorContains(t, err, "cannot send")
	require.NotContains(t, err.Error(), key)
}

type telltale struct{}

func (telltale) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("cannot send %v", r.Header)
}

func TestOptions(t *testing.T) {
	for _, u := range []string{"https://api.example.com/v1", "http://localhost:1", "http://127.0.0.1/v1/", "http://[::1]:80", "https://10.0.0.1"} {
		_, err := New(Options{URL: u, Model: "m", Key: key})
		require.NoError(t, err, u)
	}
	for _, u := range []string{"http://api.example.com/v1", "http://10.0.0.1", "http://localhost.example.com", "http://0.0.0.0"} {
		_, err := New(Options{URL: u, Model: "m"})
		require.ErrorIs(t, err, ErrInsecure, u)
		_, err = New(Options{URL: u, Model: "m", Insecure: true})
		require.NoError(t, err, u)
	}
	for _, o := range []Options{
		{}, {URL: "https://a"}, {Model: "m"}, {URL: "ftp://a", Model: "m"}, {URL: "https://", Model: "m"},
		{URL: "https://u:" + key + "@a", Model: "m"}, {URL: "https://a?key=" + key, Model: "m"},
		{URL: "https://a\x00" + key, Model: "m"}, {URL: "https://a", Model: "m", Key: key + "\n"},
	} {
		_, err := New(o)
		require.Error(t, err)
		require.NotContains(t, err.Error(), key)
	}
}
