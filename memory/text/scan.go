package text

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"
)

// maxToken is the most bytes of a token that count.
const maxToken = 64

// A token is a term and where in a text it stands: the bytes from one place up to
// another.
type token struct {
	term     string
	stop     bool
	from, to int
}

// stopMark begins the term of a stop word, so that no stem is the same: what "beings"
// becomes is not "be".
const stopMark = "\x00"

// A scanner makes tokens of texts. The zero scanner is ready to begin.
//
// It remembers what becomes of words, from one document to the next, since stems
// take far longer to make than to look up and most words come again.
type scanner struct {
	*Analyzer
	terms map[string]string // of words: in lower case if they are ASCII, as they are otherwise
	chars map[string]string // of characters without words
	env   *snowballstem.Env
	buf   [maxToken]byte
}

// maxTerms is how many words a scanner remembers.
const maxTerms = 4096

func (s *scanner) begin(a *Analyzer) {
	if s.Analyzer == a && len(s.terms) < maxTerms && len(s.chars) < maxTerms {
		return
	}
	*s = scanner{Analyzer: a, terms: map[string]string{}, chars: map[string]string{}, env: snowballstem.NewEnv("")}
}

// scan calls f with each token of text, in order.
func (s *scanner) scan(text string, f func(token)) {
	if s.split != nil {
		for _, word := range slices.Collect(s.split(text)) { // which lets f stay on the stack
			if word = short(strings.ToValidUTF8(word, ""), maxToken); word != "" {
				f(token{term: strings.Clone(word)})
			}
		}
		return
	}
	if !utf8.ValidString(text) {
		text = spaced(text)
	}
	var run token // the last of characters without words: its term is the one character
	alone := false
	flush := func() {
		if alone {
			f(run)
		}
		run, alone = token{}, false
	}
	single := func(word string, from int) {
		flush()
		if term := s.term(word); term != "" {
			f(token{term, strings.HasPrefix(term, stopMark), from, from + len(word)})
		}
	}
	pairs := func(word string, from int) {
		for word != "" {
			n := charLen(word)
			next := token{s.char(word[:n]), false, from, from + n}
			word, from = word[n:], from+n
			switch {
			case next.term == "":
			case run.term != "" && run.to == next.from:
				f(token{run.term + next.term, false, run.from, next.to})
				run, alone = next, false
			default:
				flush()
				run, alone = next, true
			}
		}
	}
	for it := words.FromString(text); it.Next(); {
		word, from := it.Value(), it.Start()
		switch {
		case !isToken(word):
			flush()
		case s.plain || !hasCJK(word):
			single(word, from)
		default: // Korean goes on in the word that Latin letters or numbers begin
			for word != "" {
				n, cjk := ofOneKind(word)
				if cjk {
					pairs(word[:n], from)
				} else {
					part := strings.TrimLeftFunc(word[:n], isJoint)
					single(strings.TrimRightFunc(part, isJoint), from+n-len(part))
				}
				word, from = word[n:], from+n
			}
		}
	}
	flush()
}

// ofOneKind returns how many bytes at the begin of word are of scripts without words, or,
// as cjk says, are not. Marks, and letters such as "ﾞ", belong to what they are behind.
func ofOneKind(word string) (n int, cjk bool) {
	for i, r := range word {
		if is := isCJK(r); i == 0 {
			cjk = is
		} else if is != cjk && (is || !unicode.In(r, unicode.M, unicode.Lm, unicode.Cf)) {
			return i, cjk
		}
	}
	return len(word), cjk
}

// isJoint reports whether r is what joins parts of a word, as "_" does. An apostrophe is a
// part of what is behind it.
func isJoint(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !strings.ContainsRune("'’＇", r)
}

// spaced returns text with spaces for bytes that are not UTF-8: they part words,
// and places stay the same.
func spaced(text string) string {
	b := []byte(text)
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			b[i] = ' '
		}
		i += n
	}
	return string(b)
}

// short returns the first n bytes of s, or fewer so as not to cut a rune.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// term returns the term of a word, or "" if nothing is left of it.
func (s *scanner) term(word string) string {
	if low, ok := s.lowerASCII(word); ok {
		if t, ok := s.terms[string(low)]; ok {
			return t
		}
		word = string(low)
		return remember(s.terms, word, s.reduce(low))
	}
	if t, ok := s.terms[word]; ok {
		return t
	}
	return remember(s.terms, word, s.reduce(s.lowerRunes(word)))
}

// char returns the term of a character.
func (s *scanner) char(c string) string {
	if t, ok := s.chars[c]; ok {
		return t
	}
	return remember(s.chars, c, string(s.lowerRunes(c)))
}

// charLen returns how many bytes at the begin of word are one character, with what cannot be
// seen behind it.
func charLen(word string) int {
	_, n := utf8.DecodeRuneInString(word)
	next, _ := utf8.DecodeRuneInString(word[n:])
	switch {
	case n == len(word), 0x4e00 <= next && next <= 0x9fff, 0xac00 <= next && next <= 0xd7a3: // ideographs, syllables
		return n
	}
	n = norm.NFKC.NextBoundaryInString(word, true)
	for n < len(word) {
		r, size := utf8.DecodeRuneInString(word[n:])
		if !isHidden(r) {
			break
		}
		n += size
	}
	return n
}

// remember remembers what becomes of a word, or of a character, and returns it.
func remember(terms map[string]string, word, term string) string {
	if len(terms) < maxTerms && len(word) <= maxWord {
		terms[strings.Clone(word)] = term
	}
	return term
}

// reduce returns the term of a word in lower case.
func (s *scanner) reduce(word []byte) string {
	if s.plain {
		return string(word)
	}
	word = s.bare(word)
	if s.stop[string(word)] {
		return stopMark + string(word)
	}
	word = bytes.TrimSuffix(word, []byte("'s"))
	if s.foldFirst {
		word = fold(word)
	}
	if s.stop[string(word)] {
		return stopMark + string(word)
	}
	if !bytes.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' }) {
		s.env.SetCurrent(string(word))
		s.stem(s.env)
		word = append(word[:0], s.env.Current()...)
	}
	if !s.foldFirst {
		word = fold(word)
	}
	return string(word)
}

// bare returns a word in lower case without what is elided in front of it, and without the
// ending that an apostrophe parts from it.
func (s *scanner) bare(word []byte) []byte {
	switch i := bytes.IndexByte(word, '\''); {
	case i > 0 && s.elide[string(word[:i])]:
		return word[i+1:]
	case i > 0 && s.suffixes:
		return word[:i]
	}
	return word
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

// hasCJK reports whether a rune of word is of such a script.
func hasCJK(word string) bool {
	for _, r := range word {
		if isCJK(r) {
			return true
		}
	}
	return false
}

// isCJK reports whether r is of a script in which words are not told apart, or
// are told apart where endings hide them. Tone marks are not, and "ー" is, beside Hiragana too.
func isCJK(r rune) bool {
	return r >= 0x1100 && (r < 0x302a || r > 0x302f) &&
		(r == 'ー' || r == 'ｰ' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul))
}

// lower returns the first maxToken bytes, or fewer so as not to cut a rune, of word in
// lower case and in its usual form: in NFKC, or in NFC for the plain words, with one kind of
// apostrophe, and without what cannot be seen, such as a soft hyphen. They are in the
// scanner's buffer.
func (s *scanner) lower(word string) []byte {
	if low, ok := s.lowerASCII(word); ok {
		return low
	}
	return s.lowerRunes(word)
}

// lowerASCII is lower where that is as simple as it is for English, and false elsewhere.
func (s *scanner) lowerASCII(word string) (low []byte, ok bool) {
	if len(word) > maxToken {
		return nil, false
	}
	low = s.buf[:len(word)]
	for i := range low {
		c := word[i]
		if c >= utf8.RuneSelf {
			return nil, false
		}
		if 'A' <= c && c <= 'Z' {
			if c == 'I' && s.cases != nil {
				return nil, false
			}
			c += 'a' - 'A'
		}
		low[i] = c
	}
	return low, true
}

// maxWord is how many bytes of a word are looked at: composed, they are more than those of
// a token.
const maxWord = 4 * maxToken

// lowerRunes is lower of any word.
func (s *scanner) lowerRunes(word string) []byte {
	form := s.normal()
	low := strings.Map(func(r rune) rune {
		switch {
		case r == '’':
			return '\''
		case isHidden(r):
			return -1
		}
		return s.cases.ToLower(r)
	}, form.String(short(word, maxWord)))
	return append(s.buf[:0], short(form.String(low), maxToken)...)
}

// isHidden reports whether r cannot be seen.
func isHidden(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Variation_Selector) }

// normal returns the form that words are brought to.
func (a *Analyzer) normal() norm.Form {
	if a.plain {
		return norm.NFC
	}
	return norm.NFKC
}

// simple are letters that Unicode does not take apart, though a reader may.
var simple = map[rune]string{
	'ð': "d", 'đ': "d", 'ħ': "h", 'ı': "i", 'ł': "l", 'ø': "o", 'ŧ': "t", 'ς': "σ", 'ي': "ی", 'ك': "ک",
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'þ': "th",
}

// fold returns word, in lower case, without diacritics.
func fold(word []byte) []byte {
	if isASCII(word) {
		return word
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(string(word)) {
		if isMark(r) {
			continue
		}
		if s, ok := simple[r]; ok {
			b.WriteString(s)
			continue
		}
		b.WriteRune(r)
	}
	return norm.NFC.Bytes([]byte(b.String()))
}

// isASCII reports whether all bytes of word are.
func isASCII(word []byte) bool {
	for _, c := range word {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isMark reports whether r is a mark on a letter that a reader may leave out:
// accents, and vowel points of Hebrew and Arabic.
func isMark(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x591 && r <= 0x5c7 && unicode.Is(unicode.Mn, r) || r >= 0x64b && r <= 0x65f || r == 0x670
}
