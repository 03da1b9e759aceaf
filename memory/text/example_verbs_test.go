package text_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/memory/text"
)

// keys returns the keys of the hits, the best first.
func keys(hits []text.Hit, err error) (found []string, _ error) {
	for _, h := range hits {
		found = append(found, h.Key)
	}
	return found, err
}

// one returns a text as Tokenize takes it.
func one(s string) iter.Seq[string] { return slices.Values([]string{s}) }

// Words are found by their stems, in the language of the Analyzer.
func ExampleLanguage() {
	french, err := text.Language("fr")
	if err != nil {
		fmt.Println(err)
	}
	var x *text.Index
	x = x.Set("1", french.Tokenize(one("Les chevaux de la reine")))
	// the query is analyzed as the documents are
	fmt.Println(keys(x.Search("un cheval", text.Options{})))
	_, err = text.Language("tlh")
	fmt.Println("ErrLanguage:", errors.Is(err, text.ErrLanguage))
	// Output:
	// [1] <nil>
	// ErrLanguage: true
}

// Plain words are found as they are, but for upper case.
func ExamplePlain() {
	var x *text.Index
	x = x.Set("1", text.Plain().Tokenize(one("The Horses")))
	fmt.Println(keys(x.Search("horse", text.Options{})))
	fmt.Println(keys(x.Search("HORSES", text.Options{})))
	fmt.Println(keys(x.Search("the", text.Options{}))) // there are no stop words
	// Output:
	// [] <nil>
	// [1] <nil>
	// [1] <nil>
}

// What tokens are may be up to the program: here, what stands between commas.
func ExampleFunc() {
	commas := func(s string) iter.Seq[string] { return strings.SplitSeq(s, ",") }
	list := text.Func(commas)
	var x *text.Index
	x = x.Set("1", list.Tokenize(one("New York,San Francisco")))
	fmt.Println(keys(x.Search("New York", text.Options{})))
	fmt.Println(keys(x.Search("York", text.Options{})))
	// Output:
	// [1] <nil>
	// [] <nil>
}

// Tokenize takes the strings of one document. What has no tokens is not stored.
func ExampleTokenize() {
	var x *text.Index
	trip := []string{"Night train", "from Paris to Lyon"}
	x = x.Set("trip", text.Tokenize(slices.Values(trip)))
	fmt.Println(keys(x.Search("trains to Lyon", text.Options{})))
	x = x.Set("trip", text.Tokenize(one(" … ")))
	fmt.Println(x.Len(), x == nil) // the nil Index is the empty one
	// Output:
	// [trip] <nil>
	// 0 true
}

// A word of a title may count for more than one of the text.
func ExampleAnalyzer_TokenizeWeighted() {
	var english *text.Analyzer // nil is English
	document := func(title, body string) text.Words {
		return english.TokenizeWeighted(func(yield func(string, int) bool) {
			_ = yield(title, 3) && yield(body, 1)
		})
	}
	var x *text.Index
	x = x.Set("1", document("Travels", "tea on the train"))
	x = x.Set("2", document("Tea", "travels by train"))
	fmt.Println(keys(x.Search("tea", text.Options{})))
	// Output: [2 1] <nil>
}

// Places says where a text matches, to be shown to a person.
func ExampleAnalyzer_Places() {
	var english *text.Analyzer
	body := "Ada rode two horses."
	query := "the horse of Ada"
	for _, p := range english.Places(query, text.Options{}, one(body)) {
		fmt.Println(body[p.From:p.To], p.Term)
	}
	// Output:
	// Ada ada
	// horses hors
}

// Words fit an Index if one Analyzer has made them all.
func ExampleIndex_Analyzer() {
	french, err := text.Language("fr")
	var x *text.Index
	x = x.Set("1", french.Tokenize(one("Les chevaux de la reine")))
	add := func(key, s string, ahead text.Words) {
		if x != nil && ahead.Analyzer() != x.Analyzer() {
			ahead = x.Analyzer().Tokenize(one(s))
		}
		x = x.Set(key, ahead)
	}
	add("2", "Un cheval", text.Tokenize(one("Un cheval"))) // as English
	fmt.Println(keys(x.Search("cheval", text.Options{})))
	fmt.Println(x.Analyzer() == french, err)
	// Output:
	// [2 1] <nil>
	// true <nil>
}

// To keep an Index below a size, delete its oldest documents.
func ExampleIndex_Bytes() {
	const most = 64 << 10
	var x *text.Index
	oldest := 0
	for i := range 1000 {
		key := fmt.Sprint(i)
		x = x.Set(key, text.Tokenize(one("about train "+key)))
		for ; x.Bytes() > most; oldest++ {
			x = x.Delete(fmt.Sprint(oldest))
		}
	}
	fmt.Println("small enough:", x.Bytes() <= most)
	fmt.Println(keys(x.Search("0", text.Options{})))
	fmt.Println(keys(x.Search("999", text.Options{})))
	// Output:
	// small enough: true
	// [] <nil>
	// [999] <nil>
}

// A document need not have all words. Options narrow what is found.
func ExampleIndex_Search() {
	var x *text.Index
	x = x.Set("ann/1", text.Tokenize(one("green tea from Kyoto")))
	x = x.Set("ann/2", text.Tokenize(one("green grass")))
	x = x.Set("bob/1", text.Tokenize(one("green tea")))
	fmt.Println(keys(x.Search("tea in Kyoto", text.Options{})))
	fmt.Println(keys(x.Search("tea in Kyoto", text.Options{K: 1})))
	bob := func(key string) bool { return strings.HasPrefix(key, "bob/") }
	fmt.Println(keys(x.Search("tea in Kyoto", text.Options{Accept: bob})))
	// stop words find nothing
	fmt.Println(keys(x.Search("where is it", text.Options{})))
	// Output:
	// [ann/1 bob/1] <nil>
	// [ann/1] <nil>
	// [bob/1] <nil>
	// [] <nil>
}

// With Prefix the last word may be the beginning of one.
func ExampleIndex_Search_prefix() {
	var x *text.Index
	x = x.Set("1", text.Tokenize(one("the night train to Lyon")))
	fmt.Println(keys(x.Search("ly", text.Options{})))
	fmt.Println(keys(x.Search("ly", text.Options{Prefix: true})))
	// Output:
	// [] <nil>
	// [1] <nil>
}

// Quotes ask for a phrase, if the Index is told the texts.
func ExampleIndex_Search_phrase() {
	texts := map[string]string{"1": "the night train", "2": "a train at night"}
	var x *text.Index
	for key, s := range texts {
		x = x.Set(key, text.Tokenize(one(s)))
	}
	o := text.Options{
		Texts: func(key string) iter.Seq[string] { return one(texts[key]) },
	}
	fmt.Println(keys(x.Search(`"night train"`, o)))
	fmt.Println(keys(x.Search(`night train`, o)))
	// Output:
	// [1] <nil>
	// [1 2] <nil>
}

// Several indexes are searched as one. Part says which one a hit is of.
func ExampleSearchAll() {
	var ann, bob *text.Index
	ann = ann.Set("drink", text.Tokenize(one("green tea")))
	bob = bob.Set("drink", text.Tokenize(one("coffee, or tea with milk and sugar")))
	both := []text.Part{{Index: ann}, {Index: bob}}
	hits, err := text.SearchAll(both, "green tea", text.Options{})
	for _, h := range hits {
		fmt.Println(h.Part, h.Key)
	}
	fmt.Println(err)
	// Output:
	// 0 drink
	// 1 drink
	// <nil>
}
