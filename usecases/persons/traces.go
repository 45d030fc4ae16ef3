package personscases

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// traces are the words and ids by which a text is known to be about a person.
type traces struct {
	words  map[string]bool // in small letters
	digits map[string]bool // of phones, without the country
	ids    map[string]bool
	// addresses are those to which messages go, as they are recorded.
	addresses map[string]bool
}

// newTraces knows nothing yet.
func newTraces() traces {
	return traces{
		words: map[string]bool{}, digits: map[string]bool{}, ids: map[string]bool{}, addresses: map[string]bool{},
	}
}

// Lengths from which on a text says who is meant: a shorter one stands in the texts of others as well.
const (
	shortestWord   = 5
	shortestDigits = 7
	nationalDigits = 9 // of a phone number of Kenya without 0 or country
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
	if digits := national(number.Reveal()); len(digits) >= shortestDigits {
		t.digits[digits] = true
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
	t.add(d.ExternalRef, d.TaxPIN)
	t.add(d.AccountAliases...)
	if d.FirstName.Reveal() != "" && d.LastName.Reveal() != "" {
		t.add(personal.Of(d.FirstName.Reveal() + " " + d.LastName.Reveal()))
	}
}

// id notes the id of the person or of something that is the person's alone.
func (t traces) id(of interface{ String() string }) { t.ids[of.String()] = true }

// names reports whether a text is about the person.
func (t traces) names(text []byte) bool {
	lower := bytes.ToLower(text)
	for _, found := range uuidForm.FindAll(lower, -1) {
		if t.ids[string(found)] {
			return true
		}
	}
	for word := range t.words {
		if bytes.Contains(lower, []byte(word)) {
			return true
		}
	}
	for digits := range t.digits {
		if containsDigits(string(lower), digits) {
			return true
		}
	}
	return false
}

// written are the characters that people write between the digits of a phone number.
var written = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "")

// national is a phone number without the country.
func national(number string) string {
	digits := strings.TrimLeft(written.Replace(number), "+0")
	return digits[max(0, len(digits)-nationalDigits):]
}

// containsDigits reports whether a phone number stands in a text, however it is written.
func containsDigits(text, number string) bool {
	digits := national(number)
	return len(digits) >= shortestDigits && strings.Contains(written.Replace(text), digits)
}
