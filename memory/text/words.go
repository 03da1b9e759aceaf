package text

import (
	"iter"
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// maxToken is the most bytes of a token that count.
const maxToken = 64

// Words are the tokens of one document, each with how often it occurs. They are
// made by [Tokenize], ahead of [Index.Set] and outside any lock.
//
// The zero Words has no tokens. Words are immutable: they may be copied, kept,
// used for any number of indexes and by any number of goroutines. They share
// no memory with the texts.
type Words struct {
	terms  []wordCount // distinct, in the order in which they first occur
	tokens uint64
}

type wordCount struct {
	term  string
	count uint32 // stays at its maximum
}

// Tokenize returns the tokens of one document, which is the strings of texts;
// no token reaches from one string into the next.
//
// A token is a word as Unicode Standard Annex #29 cuts text into words, if there
// is a letter or a number in it: that leaves out spaces, punctuation and most
// emoji. So "can't", "3.14", "go.mod" and "snake_case" are one token each, and so
// is each Chinese character, since the Annex has no dictionary. Tokens are in
// lower case, rune by rune as [unicode.ToLower] has it, and are neither stemmed
// nor normalized: é and e with a combining accent differ. Of a token longer
// than 64 bytes the first 64 count, or fewer so as not to cut a rune, and stand
// for it in documents and queries alike. Invalid UTF-8 parts words as
// punctuation does.
func Tokenize(texts iter.Seq[string]) Words {
	c := counters.Get().(*counter)
	for text := range texts {
		c.add(text)
	}
	return c.finish()
}

// tokenize is Tokenize for one text.
func tokenize(text string) Words {
	c := counters.Get().(*counter)
	c.add(text)
	return c.finish()
}

// A counter counts the tokens of one document.
type counter struct {
	words Words
	place map[string]int // of a term in words
	token [maxToken]byte
}

var counters = sync.Pool{New: func() any { return &counter{place: map[string]int{}} }}

func (c *counter) add(text string) {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	for it := words.FromString(text); it.Next(); {
		if word := it.Value(); isToken(word) {
			c.count(lower(c.token[:0], word))
		}
	}
}

// count counts one token.
func (c *counter) count(token []byte) {
	c.words.tokens++
	i, ok := c.place[string(token)]
	if !ok {
		term := string(token)
		c.place[term] = len(c.words.terms)
		c.words.terms = append(c.words.terms, wordCount{term, 1})
		return
	}
	if w := &c.words.terms[i]; w.count < math.MaxUint32 {
		w.count++
	}
}

// finish returns the words and gives c back.
func (c *counter) finish() Words {
	w := c.words
	c.words = Words{}
	// A map never shrinks: one that was made large is not worth keeping, since
	// each clear would take as long.
	if len(c.place) <= 1024 {
		clear(c.place)
		counters.Put(c)
	}
	return w
}

// isToken reports whether word has a letter or a number.
func isToken(word string) bool {
	for _, r := range word {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return true
		}
	}
	return false
}

// lower appends word in lower case to buf, up to its capacity.
func lower(buf []byte, word string) []byte {
	for i := 0; i < len(word) && len(buf) < cap(buf); {
		c := word[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			buf = append(buf, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(word[i:])
		r = unicode.ToLower(r)
		if len(buf)+utf8.RuneLen(r) > cap(buf) {
			break
		}
		buf = utf8.AppendRune(buf, r)
		i += n
	}
	return buf
}
