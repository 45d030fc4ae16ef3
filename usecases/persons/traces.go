package personscases

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// traces are the words and ids by which a text is known to be about a person. People of the organization have chosen
// the words, so they count for its own rows alone (docs/rules/subscribers.md#traces).
type traces struct {
	words  map[string]bool // in small letters
	phones map[string]bool // digits, with the country and without
	ids    map[string]bool
	// receipts are numbers that the provider gave, by the shortcode that took the money.
	receipts map[providerNumber]bool
	// checkouts are the provider's ids of prompts.
	checkouts map[string]bool
	// addresses are those to which messages go, as they are recorded.
	addresses map[string]bool
}

// providerNumber is the number of a receipt on a shortcode, in small letters. The number alone is not enough: an
// organization can write any number into a statement of its own shortcode.
type providerNumber struct{ number, shortcode string }

// newTraces knows nothing yet.
func newTraces() traces {
	return traces{
		words: map[string]bool{}, phones: map[string]bool{}, ids: map[string]bool{},
		receipts: map[providerNumber]bool{}, checkouts: map[string]bool{}, addresses: map[string]bool{},
	}
}

// Lengths from which on a text says who is meant: a shorter one stands in the texts of others as well.
const (
	shortestWord   = 5
	shortestDigits = 7
	nationalDigits = 9 // of a phone number of Kenya without 0 or country
	country        = "254"
	longestPhone   = 18 // digits, zeros before the country among them
)

// uuidForm finds ids in a text.
var uuidForm = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// add notes words that only this person has.
func (t traces) add(texts ...personal.Text) {
	for _, text := range texts {
		if word := strings.ToLower(strings.TrimSpace(text.Reveal())); len(word) >= shortestWord {
			t.words[word] = true
		}
	}
}

// phone notes a number, which people and providers write in several ways.
func (t traces) phone(number personal.Text) {
	digits := strings.TrimLeft(onlyDigits(number.Reveal()), "0")
	if len(digits) < shortestDigits {
		return
	}
	t.phones[digits] = true
	if national := digits[max(0, len(digits)-nationalDigits):]; len(national) == nationalDigits {
		before := strings.TrimSuffix(digits, national)
		if before == "" {
			before = country
		}
		t.phones[national], t.phones[before+national], t.phones[before+"0"+national] = true, true, true
	}
}

// contact notes an address to which messages go; either can be empty.
func (t traces) contact(phone, email personal.Text) {
	t.phone(phone)
	t.add(email)
	for _, address := range []personal.Text{phone, email} {
		if !address.IsZero() {
			t.addresses[address.Reveal()] = true
		}
	}
}

// details notes what names the customer alone. First names and tags do not.
func (t traces) details(d events.SubscriberDetails) {
	t.contact(d.Phone, d.Email)
	t.contact(d.SecondPhone, personal.Text{})
	t.add(d.ExternalRef, d.TaxPIN)
	t.add(d.AccountAliases...)
	if d.FirstName.Reveal() != "" && d.LastName.Reveal() != "" {
		t.add(personal.Of(d.FirstName.Reveal() + " " + d.LastName.Reveal()))
	}
}

// id notes the id of the person or of something that is the person's alone.
func (t traces) id(of interface{ String() string }) { t.ids[of.String()] = true }

// receipt notes the number that the provider gave to money of the person.
func (t traces) receipt(number, shortcode string) {
	if number = strings.ToLower(strings.TrimSpace(number)); len(number) < shortestWord {
		return
	}
	t.words[number] = true
	t.receipts[providerNumber{number, strings.ToLower(shortcode)}] = true
}

// checkout notes the provider's id of a prompt.
func (t traces) checkout(of string) {
	if of = strings.ToLower(of); len(of) >= shortestWord {
		t.checkouts[of] = true
	}
}

// names reports whether a text of the person's organization is about the person.
func (t traces) names(text []byte) bool {
	return eachValue(text, func(value string, number bool) bool {
		return t.hasID(value) || t.hasPhone(value) || !number && (hasAny(value, t.words) || hasAny(value, t.checkouts))
	})
}

// namesShared reports whether a text that belongs to no organization is about the person: only what we or the provider
// have given counts, since anybody can type the rest into a customer of an organization. A receipt counts when its
// shortcode is that of the row, or stands in the text as well.
func (t traces) namesShared(text []byte, shortcode string) bool {
	found := map[string]bool{} // the numbers that stand in the text
	if eachValue(text, func(value string, number bool) bool {
		if number {
			return false
		}
		for r := range t.receipts {
			if !found[r.number] && holdsWord(value, r.number) {
				found[r.number] = true
			}
		}
		return t.hasID(value) || hasAny(value, t.checkouts)
	}) {
		return true
	}
	shortcode = strings.ToLower(shortcode)
	for r := range t.receipts {
		if found[r.number] && (r.shortcode == shortcode || shortcode == "" && says(text, r.shortcode)) {
			return true
		}
	}
	return false
}

// says reports whether a word stands in a text as a value, or as a word of one.
func says(text []byte, word string) bool {
	return word != "" && eachValue(text, func(value string, _ bool) bool { return holdsWord(value, word) })
}

// eachValue gives the values of a JSON text to found, in small letters, until it returns true; number says that one is
// a number and no string. Names of fields are none, for they are ours, except where an id is used as one. A text that
// is no JSON, such as a table, is one value.
func eachValue(text []byte, found func(value string, number bool) bool) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var of any
	if !json.Valid(text) || d.Decode(&of) != nil {
		return found(strings.ToLower(string(text)), false)
	}
	return eachOf(of, found)
}

// eachOf does so with a decoded value.
func eachOf(of any, found func(value string, number bool) bool) bool {
	switch v := of.(type) {
	case string:
		return found(strings.ToLower(v), false)
	case json.Number:
		return found(v.String(), true)
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return eachOf(one, found) })
	case map[string]any:
		for name, one := range v {
			if uuidForm.MatchString(name) && found(name, false) || eachOf(one, found) {
				return true
			}
		}
	default: // true, false and null name nobody
	}
	return false
}

// hasID reports whether an id of the person stands in a text.
func (t traces) hasID(text string) bool {
	return slices.ContainsFunc(uuidForm.FindAllString(text, -1), func(found string) bool { return t.ids[found] })
}

// hasAny reports whether a text holds one of some words.
func hasAny(text string, words map[string]bool) bool {
	for word := range words {
		if holdsWord(text, word) {
			return true
		}
	}
	return false
}

// holdsWord reports whether a word stands in a text by itself, and not within a longer one.
func holdsWord(text, word string) bool {
	for at := 0; ; {
		found := strings.Index(text[at:], word)
		if found < 0 {
			return false
		}
		begin := at + found
		before, after := text[:begin], text[begin+len(word):]
		if endsWord(reversed(before)) && endsWord(firstTwo(after)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[begin:])
		at = begin + size
	}
}

// endsWord reports whether a word ends before the two characters that follow it, or begins after them. A dot or the
// like between two letters or digits joins them: 10023 is no word of 10023.50, of ACME-10023 or of 10023@isp.test.
func endsWord(next [2]rune) bool {
	if inWord(next[0]) {
		return false
	}
	return !strings.ContainsRune(".-_+@", next[0]) || !inWord(next[1])
}

// inWord reports whether a character can stand within a word.
func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// firstTwo are the first two characters of a text; a missing one is a space.
func firstTwo(text string) [2]rune {
	out, n := [2]rune{' ', ' '}, 0
	for _, r := range text {
		if n == len(out) {
			break
		}
		out[n] = r
		n++
	}
	return out
}

// reversed are the last two characters of a text, the last one first.
func reversed(text string) [2]rune {
	out := [2]rune{' ', ' '}
	for n := range out {
		r, size := utf8.DecodeLastRuneInString(text)
		if size == 0 {
			break
		}
		out[n], text = r, text[:len(text)-size]
	}
	return out
}

// group is a row of digits in a text.
type group struct{ begin, end int }

// hasPhone reports whether a phone of the person stands in a text, however it is written: groups of digits with at most
// two of the characters between them that people write there.
func (t traces) hasPhone(text string) bool {
	if len(t.phones) == 0 {
		return false
	}
	var near []group // whose digits can be the beginning of one number
	for at := 0; at < len(text); {
		if !digit(text[at]) {
			at++
			continue
		}
		next := group{at, at}
		for next.end < len(text) && digit(text[next.end]) {
			next.end++
		}
		at = next.end
		if len(near) > 0 && !joins(text[near[len(near)-1].end:next.begin]) {
			near = near[:0]
		}
		near = append(near, next)
		near = near[max(0, len(near)-longestPhone):]
		if t.endsIn(text, near) {
			return true
		}
	}
	return false
}

// endsIn reports whether some of the last groups together are a phone of the person. None of them is a part of a word.
func (t traces) endsIn(text string, near []group) bool {
	if end := near[len(near)-1].end; end < len(text) && letter(text[end]) {
		return false
	}
	digits := ""
	for n := len(near) - 1; n >= 0; n-- {
		g := near[n]
		if digits = text[g.begin:g.end] + digits; len(digits) > longestPhone {
			return false
		}
		if t.phones[strings.TrimLeft(digits, "0")] && (g.begin == 0 || !letter(text[g.begin-1])) {
			return true
		}
	}
	return false
}

// digit reports whether a character is one.
func digit(b byte) bool { return '0' <= b && b <= '9' }

// letter reports whether a character is a small letter, as they stand in ids.
func letter(b byte) bool { return 'a' <= b && b <= 'z' }

// joins reports whether people write such a text between two groups of digits of one number.
func joins(between string) bool { return len(between) <= 2 && strings.Trim(between, " -().") == "" }

// onlyDigits leaves all other characters of a text out.
func onlyDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}
