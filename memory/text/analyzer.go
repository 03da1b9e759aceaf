package text

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// An Analyzer makes tokens of texts and of queries: what is to match must become
// the same token.
//
// [Language] returns those for languages; the nil *Analyzer is the one for English.
// [Plain] and [Func] return others. An Analyzer is immutable: any number of
// goroutines may use one at once. It must not be copied; copy the pointer.
//
// The Analyzer of a language makes tokens by these rules:
//
//   - Unicode Standard Annex #29 says what a word is. Spaces, punctuation and most emoji are left
//     out: a word has a letter or a number in it. "3.14", "go.mod" and "snake_case" are one word
//     each.
//   - Upper case, full width, diacritics and the like do not count: "Café" is "cafe". How
//     characters are composed does not matter: words are brought to the Unicode form NFKC.
//   - In languages other than English, stems are found before diacritics are taken off: "aimées" is
//     "aimés" there, and "aimees" is neither.
//   - Possessives lose their 's. French, Italian and Irish words lose what is elided in front of
//     them. Turkish and Finnish words lose what follows an apostrophe.
//   - Stop words, such as "the", count for less. There are lists of them for English, French,
//     German, Spanish, Italian, Portuguese and Dutch.
//   - Other words are reduced to their stems: "horses" is "horse".
//   - In Chinese, Japanese and Korean words are not told apart: each pair of adjacent characters is
//     a token, and so is a lone character. Latin letters and numbers beside them are words of their
//     own.
//
// Only the first 64 bytes of a token count, or fewer so as not to cut a rune. Invalid UTF-8 parts
// words as punctuation does.
type Analyzer struct {
	name  string
	split func(text string) iter.Seq[string] // own tokens, or nil
	plain bool                               // words in lower case, and that is it
	cases unicode.SpecialCase                // beside those of all languages
	stop  map[string]bool
	stem  func(*snowballstem.Env) bool
	elide map[string]bool // what is cut off in front of an apostrophe

	// suffixes says that what is behind an apostrophe is an ending.
	suffixes bool

	// foldFirst says that stems know no diacritics. In other languages they are a
	// part of the words that the stemmer knows, and are folded after it.
	foldFirst bool
}

// ErrLanguage reports a language that there is no [Analyzer] for.
var ErrLanguage = errors.New("text: no such language")

// Language returns the Analyzer for a language, by its ISO 639-1 code: ar, da, de,
// en, es, fi, fr, ga, hu, it, nb, nl, no, pt, ro, ru, sv, ta or tr. Case does not
// matter. The error for any other code wraps [ErrLanguage].
func Language(code string) (*Analyzer, error) {
	if a := languages[strings.ToLower(code)]; a != nil {
		return a, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrLanguage, code)
}

// Plain returns the Analyzer whose tokens are words as they stand, in lower case and in the
// Unicode form NFC. Stop words count as others do, diacritics and endings stay, and each Chinese
// character is a token.
func Plain() *Analyzer { return plain }

// Func returns an Analyzer whose tokens are those that split returns for a text. Empty tokens, and
// bytes that are not UTF-8, are left out. Any number of goroutines may call split at once; it must
// always return the same for the same text. Func panics if split is nil.
func Func(split func(text string) iter.Seq[string]) *Analyzer {
	if split == nil {
		panic("text: Func needs a function that is not nil")
	}
	return &Analyzer{name: "func", split: split}
}

// String returns the code of the language, "plain" or "func".
func (a *Analyzer) String() string { return a.or().name }

// or returns the Analyzer for English in place of nil.
func (a *Analyzer) or() *Analyzer {
	if a == nil {
		return defaultAnalyzer
	}
	return a
}

var (
	plain           = &Analyzer{name: "plain", plain: true}
	languages       = newLanguages()
	defaultAnalyzer = languages["en"]
)

// russianCase writes ё as most do, before the stemmer, which does not know it.
var russianCase = unicode.SpecialCase{
	{Lo: 'Ё', Hi: 'Ё', Delta: [unicode.MaxCase]rune{unicode.LowerCase: 'е' - 'Ё'}},
	{Lo: 'ё', Hi: 'ё', Delta: [unicode.MaxCase]rune{unicode.LowerCase: 'е' - 'ё'}},
}

func newLanguages() map[string]*Analyzer {
	as := map[string]*Analyzer{
		"ar": {stem: arabic.Stem}, "da": {stem: danish.Stem}, "nl": {stem: dutch.Stem}, "en": {stem: english.Stem, foldFirst: true},
		"fi": {stem: finnish.Stem, suffixes: true}, "fr": {stem: french.Stem}, "de": {stem: german.Stem}, "hu": {stem: hungarian.Stem},
		"ga": {stem: irish.Stem}, "it": {stem: italian.Stem}, "no": {stem: norwegian.Stem}, "pt": {stem: portuguese.Stem},
		"ro": {stem: romanian.Stem}, "ru": {stem: russian.Stem, cases: russianCase}, "es": {stem: spanish.Stem}, "sv": {stem: swedish.Stem},
		"ta": {stem: tamil.Stem}, "tr": {stem: turkish.Stem, cases: unicode.TurkishCase, suffixes: true},
	}
	for code, a := range as {
		a.name, a.stop, a.elide = code, set(stopWords[code]), set(elisions[code])
	}
	as["nb"] = as["no"]
	return as
}

// set returns the words of a list.
func set(list string) map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(list) {
		words[w] = true
	}
	return words
}
