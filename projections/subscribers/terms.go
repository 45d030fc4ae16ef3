package subscribersviews

import (
	"strings"
	"unicode"

	"github.com/lastmile-isp/lastmile/events"
)

// maxTermBytes is the longest search term in bytes, in the index and in a query. A longer one is cut.
const maxTermBytes = 100

// termsOf lists the words that find a subscriber: the words of the name, the phone in each way that people write it,
// and the e-mail address.
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

// words splits a text into lower-case words of letters and digits. All other characters, such as dashes, separate
// words.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

// searchWords splits a search into words; each must begin a term of the subscriber. A text with "@" or of digits alone
// is one word. Words after the fourth are ignored.
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

// notDigit reports whether a rune is outside 0-9.
func notDigit(r rune) bool { return r < '0' || r > '9' }

// cut shortens a term to maxTermBytes without splitting a character.
func cut(term string) string {
	if len(term) <= maxTermBytes {
		return term
	}
	return strings.ToValidUTF8(term[:maxTermBytes], "")
}

// prefixEnd is an exclusive upper bound, in byte order, of the texts that begin with a prefix.
func prefixEnd(prefix string) string { return prefix + "\U0010FFFF" }
