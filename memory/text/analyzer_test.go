package text

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

// terms returns the tokens of text, in order.
func terms(a *Analyzer, text string) []string {
	var c counter
	c.begin(a.or())
	var ts []string
	c.scan(text, func(t token) {
		if !t.stop {
			ts = append(ts, t.term)
		}
	})
	return ts
}

func language(t testing.TB, code string) *Analyzer {
	a, err := Language(code)
	require.NoError(t, err)
	return a
}

func TestLanguages(t *testing.T) {
	for _, c := range []struct{ code, text, want string }{
		{"en", "", ""},
		{"en", "The horse and the horses; Caroline's horses'", "hors hors carolin hors"},
		{"en", "She is running, ran and will RUN", "run ran run"},
		{"en", "Caroline’s café, naïve déjà-vu", "carolin cafe naiv deja vu"},
		{"en", "It's what we don't, can't and won’t", ""},
		{"en", "go.mod 3.14 snake_case v2 running2", "go.mod 3.14 snake_case v2 running2"},
		{"en", "ＦＵＬＬ ｗｉｄｔｈ ｶﾀｶﾅ", "full width カタ タカ カナ"},
		{"en", "e\u0301te\u0301 Straße Æther Łódź", "ete strass aether lodz"},
		{"en", "世界 東京都 カタカナ 안녕 中", "世界 東京 京都 カタ タカ カナ 안녕 中"},
		{"en", "日本go語", "日本 go 語"},
		{"EN", "Universities", "univers"},
		{"en", "co\u00adoperate wi\u200dth ﬁne Ⅷ", "cooper fine viii"},
		{"en", "Ἀθῆναι ΑΘΗΝΑΙ Ἀχιλλεύς Й Ǿ ĳ", "αθηναι αθηναι αχιλλευσ и o ij"},
		{"en", "コーヒー ｺｰﾋｰ ｶﾞｷﾞ カ\u3099 \u1112\u1161\u11ab\u1100\u1173\u11af 葛\U000e0100城", "コー ーヒ ヒー コー ーヒ ヒー ガギ ガ 한글 葛城"},
		{"fr", "aime\u0301es aimées e\u0301taient", "aim aim"},
		{"tr", "KIZLAR kızlar İSTANBUL istanbul", "kiz kiz istanbul istanbul"},
		{"fr", "L'avion d’Hélène n'est pas aux chevaux qu'elles aiment", "avion helen cheval aiment"},
		{"de", "Die Häuser und der Fußball der Kinder", "haus fussball kind"},
		{"es", "Los niños están corriendo", "nin corr"},
		{"it", "L'amica dell'uomo; quell'uomo t'amo degl’italiani s'è", "amic uom uom amo italian"},
		{"nl", "De katten lopen", "kat lop"},
		{"pt", "As meninas estavam correndo", "menin corr"},
		{"ru", "Книги и ещё еще книга, чёрная ЧЁРНЫЙ черный ёлки Ёлка", "книг и ещ ещ книг черн черн черн елк елк"},
		{"tr", "İstanbul'da Mehmet'in İSTANBUL’A Türkiye'nin Türkiye", "istanbul mehmet istanbul turki turki"},
		{"fi", "Nokia’n Nokia", "nok nok"},
		{"en", "らーめん すーぱー 東葛\U000e0100", "らー ーめ めん すー ーぱ ぱー 東葛"},
		{"sv", "Flickorna", "flick"},
	} {
		require.Equal(t, c.want, strings.Join(terms(language(t, c.code), c.text), " "), "%s: %s", c.code, c.text)
	}
	require.Equal(t, terms(nil, "Horses"), terms(language(t, "en"), "Horses"))
	_, err := Language("xx")
	require.ErrorIs(t, err, ErrLanguage)
	require.Equal(t, "en plain fr no", strings.Join([]string{(*Analyzer)(nil).String(), Plain().String(), language(t, "fr").String(), language(t, "nb").String()}, " "))
}

func TestFunc(t *testing.T) {
	a := Func(func(text string) iter.Seq[string] { return strings.SplitSeq(text, ",") })
	require.Equal(t, []string{"The One", "two", strings.Repeat("é", 32)}, terms(a, "The One,,two,\xff,"+strings.Repeat("é", 40)))
	require.Panics(t, func() { Func(nil) })
	require.Equal(t, []string{"abcdef"}, terms(a, "abc"+strings.Repeat("\x80", 70)+"def"))
	x := (*Index)(nil).Set("k", a.Tokenize(slices.Values([]string{"The One,two"})))
	hits, err := x.Search("two", Options{})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	hits, err = x.Search("One", Options{})
	require.NoError(t, err)
	require.Empty(t, hits)
}

// An Index is searched as it was made.
func TestIndexHasAnAnalyzer(t *testing.T) {
	require.Nil(t, (*Index)(nil).Analyzer())
	x := (*Index)(nil).Set("k", Tokenize(slices.Values([]string{"Caroline's horses"})))
	require.Same(t, language(t, "en"), x.Analyzer())
	hits, err := x.Search("a horse of Caroline", Options{})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.Panics(t, func() { x.Set("l", tokenize("horses")) })
	require.Equal(t, 1, x.Len())
	require.Nil(t, x.Set("k", Words{}))
}

// Of equal weights, those documents are better that have more words of the query.
func TestMoreWordsAreBetter(t *testing.T) {
	var x *Index
	for key, text := range map[string]string{"both": "alpha beta gamma delta", "one": "alpha alpha alpha alpha", "other": "beta beta beta beta"} {
		x = x.Set(key, tokenize(text))
	}
	hits, err := x.Search("alpha beta", Options{K: 1})
	require.NoError(t, err)
	require.Equal(t, "both", hits[0].Key)
}

func keys(hits []Hit) (ks []string) {
	for _, h := range hits {
		ks = append(ks, h.Key)
	}
	slices.Sort(ks)
	return ks
}

func TestPrefix(t *testing.T) {
	var x *Index
	for key, text := range map[string]string{"a": "the theatre opens", "b": "theaters and horses", "c": "a running horse", "d": "nothing"} {
		x = x.Set(key, Tokenize(slices.Values([]string{text})))
	}
	for query, want := range map[string]string{"the": "a b", "thea": "a b", "theatr": "a", "hor": "b c", "horse": "b c", "horses": "b c", "open the": "a b", "the ": "", "": "", "x": "", "nothing hor": "b c d"} {
		hits, err := x.Search(query, Options{Prefix: true})
		require.NoError(t, err)
		require.Equal(t, want, strings.Join(keys(hits), " "), query)
	}
	hits, err := x.Search("hor", Options{})
	require.NoError(t, err)
	require.Empty(t, hits)
	// Many terms, of which some count.
	var y *Index
	for i := range 3 * maxExpansions {
		y = y.Set(fmt.Sprint(i), tokenize(fmt.Sprintf("a%03d", i)))
	}
	hits, err = y.Search("a", Options{Prefix: true, K: 1000})
	require.NoError(t, err)
	require.Equal(t, maxExpansions, len(hits))
}

func TestPrefixOfTheLastWordOfTheAnalyzer(t *testing.T) {
	french, err := Language("fr")
	require.NoError(t, err)
	fields := Func(func(text string) iter.Seq[string] { return slices.Values(strings.Fields(strings.ToLower(text))) })
	for _, c := range []struct {
		how         *Analyzer
		text, query string
		want        int
	}{
		{nil, "go.mod", "go.mo", 1}, {nil, "go.mod", "go.mod", 1}, {nil, "go.mod", "mo", 0}, {nil, "snake_case", "snake_", 1},
		{nil, "3.14", "3.1", 1}, {nil, "O'Shea", "o's", 1}, {nil, "horses", "the horse's", 1}, {nil, "sea", "horse's", 0},
		{nil, "日本語", "日本語", 1}, {nil, "日本語", "日", 1}, {nil, "日本語", "本", 1}, {nil, "한국어", "한국어", 1}, {nil, "tea", "te\xff", 0}, {nil, "happiness", "happi", 1}, {nil, "happiness", "happiness", 1}, {nil, "happiness", "happine", 0},
		{Plain(), "go.mod", "go.m", 1}, {Plain(), "日本語", "日本", 1}, {Plain(), "horse's", "horse'", 0},
		{french, "l'homme", "l'hom", 1}, {french, "un homme", "l’hom", 1}, {french, "aimés", "aimé", 1},
		{nil, "ガラス", "カ\u3099", 1}, {nil, "ガラス", "ｶﾞ", 1}, {nil, "한국", norm.NFD.String("한"), 1}, {nil, "葛城", "葛\U000e0100", 1}, {nil, "ガラス", "ガラ", 1}, {nil, "ガ", "ガラ", 0},
		{language(t, "tr"), "Ankara", "Ankara'd", 1}, {language(t, "tr"), "Ankara'dan", "Ank", 1},
		{fields, "a-b", "A-", 0}, {fields, "a-bc", "a-b", 1}, {fields, "Tea", "Te", 1}, {fields, "\x00the", "\x00th", 1}, {fields, "\x00", "\x00th", 0},
	} {
		var x *Index
		x = x.Set("a", c.how.Tokenize(slices.Values([]string{c.text})))
		hits, err := x.Search(c.query, Options{Prefix: true})
		require.NoError(t, err)
		require.Len(t, hits, c.want, "%q in %q", c.query, c.text)
		places := c.how.Places(c.query, Options{Prefix: true}, slices.Values([]string{c.text}))
		require.Equal(t, c.want > 0, len(places) > 0, "%q in %q", c.query, c.text)
	}
}

func TestPhrases(t *testing.T) {
	docs := map[string][]string{
		"a": {"The quick brown fox jumps"}, "b": {"brown and quick"}, "c": {"quick", "brown"}, "d": {"a quick, brown foxes' den", "brown quick"},
	}
	var x *Index
	for key, texts := range docs {
		x = x.Set(key, Tokenize(slices.Values(texts)))
	}
	asked := 0
	o := Options{Texts: func(key string) iter.Seq[string] { asked++; return slices.Values(docs[key]) }}
	for query, want := range map[string]string{
		`quick brown`: "a b c d", `"quick brown"`: "a d", `"quick brown`: "a b c d", `"Quick the Brown" fox`: "", `"the quick" the fox`: "a", `"brown quick"`: "d",
		`"quick brown" "brown quick"`: "d", `"the"`: "a", `the`: "", `fox "jumps"`: "a", `""`: "", `"brown fox" quick`: "a d",
	} {
		hits, err := x.Search(query, o)
		require.NoError(t, err)
		require.Equal(t, want, strings.Join(keys(hits), " "), query)
	}
	hits, err := x.Search(`"quick brown"`, Options{})
	require.NoError(t, err)
	require.Len(t, hits, 4)
	o.Accept = func(key string) bool { return key == "a" }
	asked = 0
	hits, err = x.Search(`"quick brown"`, o)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, keys(hits))
	require.Equal(t, 1, asked)
}

func TestPlaces(t *testing.T) {
	texts := []string{"Caroline’s horse \xff and a \ufffd", "HORSES of 東京都"}
	var got []string
	for _, p := range (*Analyzer)(nil).Places(`"horses" Caroline 京都 and`, Options{}, slices.Values(texts)) {
		got = append(got, texts[p.Text][p.From:p.To]+"="+p.Term)
	}
	require.Equal(t, []string{"Caroline’s=carolin", "horse=hors", "HORSES=hors", "京都=京都"}, got)
	require.Empty(t, (*Analyzer)(nil).Places("the and", Options{}, slices.Values(texts)))

	got = nil
	for _, p := range (*Analyzer)(nil).Places(`"a" car`, Options{Prefix: true}, slices.Values(texts)) {
		got = append(got, texts[p.Text][p.From:p.To]+"="+p.Term)
	}
	require.Equal(t, []string{"Caroline’s=carolin", "a=a"}, got, "of a word that is being typed, and of a stop word in quotes")
}

// A word of UAX 29 may be of two scripts.
func TestWordsOfTwoScripts(t *testing.T) {
	const text = "GPU서버를 샀다. K팝스타 2024년 USB_포트 서버GPU iPhoneを買う ＡＢＣ々 서버’s"
	var x *Index
	x = x.Set("a", Tokenize(slices.Values([]string{text})))
	for query, want := range map[string]int{
		"서버": 1, "GPU서버": 1, "gpu": 1, "팝스타": 1, "2024": 1, "년": 1, "usb": 1, "포트": 1, "iphone": 1, "買う": 1, "abc々": 1, "pu서": 0, "버를샀": 1, "를샀": 0,
	} {
		for _, prefix := range []bool{false, true} {
			hits, err := x.Search(query, Options{Prefix: prefix})
			require.NoError(t, err)
			if prefix && query == "pu서" {
				want = 1 // 서 begins 서버
			}
			require.Len(t, hits, want, "%s, %v", query, prefix)
		}
	}
	var got []string
	for _, p := range (*Analyzer)(nil).Places("서버’s 々ＡＢＣ USB", Options{}, slices.Values([]string{text})) {
		got = append(got, text[p.From:p.To])
	}
	require.Equal(t, []string{"서버", "USB", "서버", "ＡＢＣ", "々", "서버"}, got)
}

func TestQuotesInWords(t *testing.T) {
	const doc = `חיילי צה"ל באו`
	texts := func(string) iter.Seq[string] { return slices.Values([]string{doc}) }
	var x *Index
	x = x.Set("a", Tokenize(texts("")))
	for _, o := range []Options{{}, {Texts: texts}} {
		for query, want := range map[string]int{`צה"ל`: 1, `"צה"ל"`: 1, `ל`: 0} {
			hits, err := x.Search(query, o)
			require.NoError(t, err)
			require.Len(t, hits, want, query)
		}
	}
	inches := Func(func(text string) iter.Seq[string] { return slices.Values(strings.Split(text, ",")) })
	x = (*Index)(nil).Set("a", inches.Tokenize(slices.Values([]string{`5" pipe,board`})))
	hits, err := x.Search(`5" pipe`, Options{})
	require.NoError(t, err)
	require.Len(t, hits, 1, "without Texts, quotes mean nothing")
}

// A letter is the same however it is composed, or was before it was in lower case.
func TestPlainIsComposed(t *testing.T) {
	long := strings.Repeat("b", 63)
	for _, c := range [][2]string{
		{"J\u030Cabc", "ǰabc"}, {"ΠΑ\u0342Σ", "πᾶσ"}, {"Ϊ\u0301", "ΐ"}, {"H\u0331", "ẖ"}, {"e\u00ad\u0301", "é"}, {long + "\u00e9", long + "e\u0301"},
	} {
		require.Equal(t, terms(Plain(), c[1]), terms(Plain(), c[0]), "%+q", c)
		require.Equal(t, terms(nil, c[1]), terms(nil, c[0]), "%+q", c)
	}
}

// Whatever the text, tokens stand in it in order, are UTF-8 of a length, and come
// out the same again.
func FuzzAnalyze(f *testing.F) {
	f.Add("The quick\nbrown fox's e\u0301 日本go語 ｶﾀ \xff l'avion ß s' 's '")
	f.Add("GPU서버’s USB_포트 々ＡＢＣ צה\"ל")
	f.Add("''' \ufffd\xe2\x82 ἀἁ ẗ \u0301\u0301 ﾞ ﷺ İ ŉ")
	f.Add("Hélène ḗ Ǖ ΰ Йод がパー 한국어 ấy ẞ Ω Å क़लम שּׁלום آب")
	f.Fuzz(func(t *testing.T, text string) {
		for code, a := range languages {
			var c counter
			c.begin(a)
			last := 0
			c.scan(text, func(tok token) {
				if tok.term == "" || len(tok.term) > 2*maxToken || !utf8.ValidString(tok.term) || tok.from >= tok.to || tok.to > len(text) || tok.from < last {
					t.Fatalf("%s: %+v after %d in %q", code, tok, last, text)
				}
				if utf8.ValidString(text) && !utf8.ValidString(text[tok.from:tok.to]) {
					t.Fatalf("%s: %+v cuts a rune of %q", code, tok, text)
				}
				last = tok.from
			})
			require.Equal(t, terms(a, text), terms(a, text))
			if !strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Cf, r) }) { // of which UAX 29 makes exceptions
				require.Equal(t, terms(a, norm.NFC.String(text)), terms(a, norm.NFD.String(text)), "%s: %+q", code, text)
			}
		}
		for _, p := range (*Analyzer)(nil).Places(text, Options{Prefix: true}, slices.Values([]string{text})) {
			_ = text[p.From:p.To]
		}
	})
}
