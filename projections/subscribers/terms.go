package subscribersviews

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
)

// termsOf lists the words that find a subscriber: the words of the name, the phones, the e-mail address, and the
// account numbers of before.
func termsOf(d events.SubscriberDetails) []string {
	seen := map[string]bool{}
	terms := []string{}
	add := func(term string) {
		if term = searchterm.Cut(term); term != "" && !seen[term] {
			seen[term] = true
			terms = append(terms, term)
		}
	}
	for _, name := range []string{d.FirstName.Reveal(), d.LastName.Reveal()} {
		for _, word := range searchterm.Words(name) {
			add(word)
		}
	}
	add(phoneTerm(d.Phone.Reveal()))
	add(phoneTerm(d.SecondPhone.Reveal()))
	add(strings.ToLower(d.Email.Reveal()))
	for _, alias := range d.AccountAliases {
		add(strings.ToLower(alias.Reveal()))
	}
	return terms
}

// kenya is the country code of Kenya, where people write a phone without it. kenyan is the first character of the terms
// of its phones, with which no word of a search begins.
const (
	kenya  = "254"
	kenyan = ":"
)

// phoneTerm is the term of a phone: the digits of a foreign one, and those behind the country code of a Kenyan one,
// which is found in each way that people write it.
func phoneTerm(phone string) string {
	digits := searchterm.Digits(phone)
	if local, ok := strings.CutPrefix(digits, kenya); ok {
		return kenyan + strings.TrimPrefix(local, "0")
	}
	return digits
}

// kenyanBegins is the beginning of the term of a Kenyan phone of which the first digits are typed: with the country
// code, with a 0 in its place or behind it, or with neither. It is "" for a text that is not of digits.
func kenyanBegins(typed string) string {
	digits := searchterm.Digits(typed)
	switch {
	case digits == "":
		return ""
	case strings.HasPrefix(kenya, digits):
		return kenyan
	}
	return kenyan + strings.TrimPrefix(strings.TrimPrefix(digits, kenya), "0")
}

// typed are the words of a search as they are looked up. Digits can begin a Kenyan phone, too.
func typed(q string) []searchterm.Word {
	var words []searchterm.Word
	for _, text := range searchWords(q) {
		words = append(words, searchterm.Word{Text: text, Or: kenyanBegins(text)})
	}
	return words
}

// prefixed is an account number behind the prefix of its organization, as people type it when they pay.
var prefixed = regexp.MustCompile(`^[A-Za-z0-9]{2,6}-?[0-9]{8}$`)

// accountLength is the length of account numbers. Source: docs/rules/subscribers.md#account-number.
const accountLength = 8

// searchWords splits a search into words; each must begin a term of the subscriber. A text with "@" or of digits alone
// is one word, and so is an account number behind a prefix. A whole IP address has none. Words after the fourth are
// ignored.
func searchWords(q string) []string {
	q = strings.TrimSpace(q)
	if searchterm.Address(q).IsValid() {
		return nil // each of its numbers begins the telephone or the account of half of all customers
	}
	if strings.Contains(q, "@") {
		return []string{searchterm.Cut(strings.ToLower(q))}
	}
	if digits := searchDigits(q); digits != "" {
		return []string{searchterm.Cut(digits)}
	}
	if prefixed.MatchString(q) {
		return []string{q[len(q)-accountLength:]}
	}
	return searchterm.Typed(q)
}

// searchDigits are the digits of a search that has nothing else, "" for any other one. The 00 before a country code
// goes when there are more digits than a Kenyan phone has: with fewer, it can begin a number of an account.
func searchDigits(q string) string {
	digits := searchterm.Digits(q)
	if len(digits) > len("254712345678") {
		digits = strings.TrimPrefix(digits, "00")
	}
	return digits
}

// minTail is the smallest number of digits that are looked for at the end of a phone.
const minTail = 4

// searchTail gives the digits of a search that a phone may end with, "" when there are too few. The 0 with which people
// begin a number at home is no part of it.
func searchTail(q string) string {
	digits := searchDigits(q)
	if len(digits) > accountLength {
		digits = strings.TrimPrefix(digits, "0")
	}
	if len(digits) < minTail || len(digits) > len("+254712345678") {
		return ""
	}
	return digits
}

// reversed turns digits around, as the column phone_reversed has them.
func reversed(digits string) string {
	list := []byte(digits)
	slices.Reverse(list)
	return string(list)
}
