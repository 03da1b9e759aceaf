package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

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
