package subscribersviews

import (
	"strings"
	"unicode"

	"github.com/lastmile-isp/lastmile/events"
)

// maxTermBytes bounds a search word, in the index and in a query.
const maxTermBytes = 100

// termsOf lists the words that find a subscriber: the parts of the name, the phone as people write it, the e-mail
// address.
func termsOf(d events.SubscriberDetails) []string {
	seen := map[string]bool{}
	terms := []string{}
	add := func(term string) {
		if term = cut(term); term != "" && !seen[term] {
			seen[term] = true
			terms = append(terms, term)
		}
	}
	for _, name := range []string{d.FirstName.Reveal(), d.LastName.Reveal()} {
		for _, word := range words(name) {
			add(word)
		}
	}
	phone := strings.TrimPrefix(d.Phone.Reveal(), "+")
	add(phone)
	if local, kenyan := strings.CutPrefix(phone, "254"); kenyan {
		add("0" + local)
		add(local)
	}
	add(strings.ToLower(d.Email.Reveal()))
	return terms
}

// words splits a text into lower-case words of letters and digits; a phone's plus sign, spaces and dashes fall away.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

// searchWords is what a query asks for: each must begin some term of the subscriber. Words past the fourth are ignored.
func searchWords(q string) []string {
	q = strings.TrimSpace(q)
	if strings.Contains(q, "@") {
		return []string{cut(strings.ToLower(q))}
	}
	if digits := strings.NewReplacer(" ", "", "-", "", "+", "").Replace(q); digits != "" &&
		strings.IndexFunc(digits, notDigit) < 0 {
		return []string{cut(digits)}
	}
	found := words(q)
	for i := range found {
		found[i] = cut(found[i])
	}
	return found[:min(len(found), 4)]
}

// notDigit tells whether a rune is no ASCII digit.
func notDigit(r rune) bool { return r < '0' || r > '9' }

// cut bounds a term without splitting a character.
func cut(term string) string {
	if len(term) <= maxTermBytes {
		return term
	}
	return strings.ToValidUTF8(term[:maxTermBytes], "")
}

// prefixEnd is the first text after all texts with the prefix, in byte order.
func prefixEnd(prefix string) string { return prefix + "\U0010FFFF" }
