package text

import (
	"unicode"
	"unicode/utf8"
)

// letters are what letters with diacritics are folded to: the first of each
// string.
var letters = []string{
	"aàáâãäåāăąǎǟǡǻȁȃȧḁẚạảấầẩẫậắằẳẵặ", "bḃḅḇ", "cçćĉċčḉ", "dďđḋḍḏḑḓð", "eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ", "fḟ", "gĝğġģǧǵḡ",
	"hĥħȟḣḥḧḩḫẖ", "iìíîïĩīĭįıǐȉȋḭḯỉị", "jĵǰ", "kķǩḱḳḵ", "lĺļľŀłḷḹḻḽ", "mḿṁṃ", "nñńņňǹṅṇṉṋ", "oòóôõöøōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ",
	"pṕṗ", "rŕŗřȑȓṙṛṝṟ", "sśŝşšșṡṣṥṧṩſ", "tţťŧțṫṭṯṱẗ", "uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự", "vṽṿ", "wŵẁẃẅẇẉẘ", "xẋẍ", "yýÿŷȳẏẙỳỵỷỹ", "zźżžẑẓẕ",
	"αάἀἁὰᾶ", "εέἐἑὲ", "ηήἠἡὴῆ", "ιίϊΐἰἱὶῖ", "οόὀὁὸ", "υύϋΰὐὑὺῦ", "ωώὠὡὼῶ", "σς", "её", "یي", "کك",
}

// pairs are letters that are folded to two.
var pairs = map[rune]string{'ß': "ss", 'æ': "ae", 'ǽ': "ae", 'œ': "oe", 'þ': "th", 'ĳ': "ij"}

// narrow are the katakana of half width, from U+FF66 on, in full width.
const narrow = "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"

var folds = newFolds()

func newFolds() map[rune]rune {
	m := map[rune]rune{}
	for _, s := range letters {
		base, n := utf8.DecodeRuneInString(s)
		for _, r := range s[n:] {
			m[r] = base
		}
	}
	r := rune(0xff66)
	for _, k := range narrow {
		m[r] = k
		r++
	}
	return m
}

// widen returns r as it is in its usual width.
func widen(r rune) rune {
	switch {
	case r >= 0xff01 && r <= 0xff5e:
		return r - 0xff01 + '!'
	case r >= 0xff66 && r <= 0xff9d:
		return folds[r]
	case r == '’':
		return '\''
	}
	return r
}

// lower appends word in lower case and usual width to buf, up to its capacity.
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
		r = unicode.ToLower(widen(r))
		if len(buf)+utf8.RuneLen(r) > cap(buf) {
			break
		}
		buf = utf8.AppendRune(buf, r)
		i += n
	}
	return buf
}

// fold returns word, in lower case, without diacritics. It writes to word: what
// comes out is never longer, but for the few letters that become two and are as
// long.
func fold(word []byte) []byte {
	i := 0
	for i < len(word) && word[i] < utf8.RuneSelf {
		i++
	}
	out := word[:i]
	for i < len(word) {
		r, n := utf8.DecodeRune(word[i:])
		i += n
		if isMark(r) {
			continue
		}
		if p, ok := pairs[r]; ok {
			out = append(out, p...)
			continue
		}
		if f, ok := folds[r]; ok {
			r = f
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// isMark reports whether r is a mark on a letter that a reader may leave out:
// accents, and vowel points of Hebrew and Arabic.
func isMark(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x591 && r <= 0x5c7 && unicode.Is(unicode.Mn, r) || r >= 0x64b && r <= 0x65f || r == 0x670
}
