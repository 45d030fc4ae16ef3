package paymentsviews

import (
	"regexp"
	"slices"
	"strings"
)

// maxReference is the longest reference that is looked up, in bytes. The provider allows 20 characters; a longer text
// is none of ours.
const maxReference = 64

// Lengths of invoice prefixes in characters. Source: docs/rules/billing.md#invoice-numbers.
const (
	minPrefix = 2
	maxPrefix = 6
)

// dashes are the characters that people take for a dash.
const dashes = "-\u2010\u2011\u2012\u2013\u2014\u2212"

// referenceKey reduces a typed reference to capitals A-Z, digits and single dashes. Spaces are dropped, because people
// put them anywhere; every other separator counts as the dash between prefix and number, which they often replace.
func referenceKey(text string) string {
	var b strings.Builder
	for _, r := range strings.ToUpper(text) {
		switch {
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case strings.ContainsRune(dashes+"/_.:#", r) && b.Len() > 0 &&
			!strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimSuffix(b.String(), "-")
}

// Shapes of references. A prompt's reference may end in a dash and two or three letters (suffixed), which say nothing
// about the payer and which people leave out (docs/rules/payments.md#account-reference).
var (
	suffixed = regexp.MustCompile(`^(.*[0-9])-?[A-Z]{2,3}$`)
	digits   = regexp.MustCompile(`^[0-9]{1,12}$`)
	letter   = regexp.MustCompile(`[A-Z]`)
	printed  = regexp.MustCompile(`^[^A-Z0-9]*[A-Z0-9]+[` + dashes + `][0-9]`) // without spaces
)

// parted is one way to read a reference: an invoice prefix and the digits after it.
type parted struct{ prefix, digits string }

// named has the meanings that a reference may have: several readings when the dash is missing, since prefixes may end
// in digits ("ACME10007" is invoice 10007 of ACME, or invoice 0007 of ACME1).
type named struct {
	account   string   // digits alone: an account number; "" when the text is none
	parts     []parted // prefix and number of an invoice, or of an account
	separated bool     // a dash, or what counts as one, stands between prefix and number
	exact     bool     // an invoice number as it is printed: one dash, and all zeros before its digits
}

// readReference gives the meanings that a typed text may have.
func readReference(text string) named {
	key := referenceKey(text)
	if m := suffixed.FindStringSubmatch(key); m != nil {
		key = m[1]
	}
	if flat := strings.ReplaceAll(key, "-", ""); digits.MatchString(flat) {
		return named{account: flat}
	}
	if prefix, number, dashed := strings.Cut(key, "-"); dashed {
		n := named{parts: partsOf(prefix, number), separated: true}
		n.exact = dashedAsPrinted(text) && slices.Contains(n.numbers(), key)
		return n
	}
	var n named
	for at := minPrefix; at <= maxPrefix && at < len(key); at++ {
		n.parts = append(n.parts, partsOf(key[:at], key[at:])...)
	}
	return n
}

// reading is all that a typed text may mean.
type reading struct {
	named
	inside inside // zero for a text that is one number
	phone  bool
	digits int
}

// read gives all that a typed text may mean.
func read(text string) reading {
	r := reading{named: readReference(text), phone: phoneKey(text) != "", digits: digitsIn(text)}
	if r.phone || r.numeric() {
		text = ""
	}
	r.inside = readInside(text)
	return r
}

// saysMore reports whether the text has a number that is no phone and may be somebody's account number, or several
// numbers. When nobody has it, the payer meant an account that only a person can find: their own phone says less than
// what they typed.
func (r reading) saysMore() bool {
	return r.numeric() && !r.phone || r.inside.any() || len(r.inside.phones) > 1
}

// any reports whether digits stand among the words that may be somebody's account number.
func (in inside) any() bool { return len(in.accounts) > 0 || len(in.spelt) > 0 }

// near lists the account numbers that are one slip away from what was typed; never nil.
func (r reading) near() []string {
	list := nearAccounts(r.account)
	for _, number := range r.inside.spelt[:min(len(r.inside.spelt), mostSpelt)] {
		list = append(list, nearAccounts(number)...)
	}
	return list
}

// mostSpelt bounds how many numbers of one text are compared with account numbers that are one slip away.
const mostSpelt = 4

// dashedAsPrinted reports whether a dash and no other character stands between the prefix and the first digit after it.
// Spaces do not count.
func dashedAsPrinted(text string) bool {
	return printed.MatchString(strings.ToUpper(strings.Join(strings.Fields(text), "")))
}

// partsOf is one reading, or none when prefix or number have another form.
func partsOf(prefix, number string) []parted {
	if len(prefix) < minPrefix || len(prefix) > maxPrefix || !letter.MatchString(prefix) ||
		!digits.MatchString(number) {
		return nil
	}
	return []parted{{prefix, number}}
}

// numbers are the invoice numbers that the reference may name, as they are issued: at least four digits. Never nil.
func (n named) numbers() []string {
	list := []string{}
	for _, p := range n.parts {
		number := strings.TrimLeft(p.digits, "0")
		if missing := 4 - len(number); missing > 0 {
			number = strings.Repeat("0", missing) + number
		}
		list = append(list, p.prefix+"-"+number)
	}
	return list
}

// prefixes and accounts are the two columns of the readings; never nil.
func (n named) prefixes() (prefixes, accounts []string) {
	prefixes, accounts = []string{}, []string{}
	for _, p := range n.parts {
		prefixes, accounts = append(prefixes, p.prefix), append(accounts, p.digits)
	}
	return prefixes, accounts
}

// accountLength is the length of account numbers. Source: docs/rules/subscribers.md#account-number.
const accountLength = 8

// numeric reports whether the text has the digits of an account number, at most one too many or too few.
func (n named) numeric() bool {
	return len(n.account) >= accountLength-1 && len(n.account) <= accountLength+1
}

// nearAccounts lists the account numbers that one slip away from the typed digits: a wrong, missing or additional
// digit, or two neighbours exchanged. Never nil.
func nearAccounts(typed string) []string {
	list := []string{}
	const all = "0123456789"
	switch len(typed) {
	case accountLength:
		for i := range typed {
			for _, d := range all {
				list = append(list, typed[:i]+string(d)+typed[i+1:])
			}
			if i > 0 {
				list = append(list, typed[:i-1]+typed[i:i+1]+typed[i-1:i]+typed[i+1:])
			}
		}
	case accountLength - 1:
		for i := range len(typed) + 1 {
			for _, d := range all {
				list = append(list, typed[:i]+string(d)+typed[i:])
			}
		}
	case accountLength + 1:
		for i := range typed {
			list = append(list, typed[:i]+typed[i+1:])
		}
	}
	return list
}

// nearAliases lists the old account numbers of digits that one slip away from the typed ones: a wrong digit, or two
// neighbours exchanged. Never nil.
func nearAliases(typed string) []string {
	list := []string{}
	if !digits.MatchString(typed) || len(typed) < 4 || len(typed) > 12 {
		return list
	}
	for i := range typed {
		for _, d := range "0123456789" {
			if near := typed[:i] + string(d) + typed[i+1:]; near != typed {
				list = append(list, near)
			}
		}
		if i > 0 && typed[i] != typed[i-1] {
			list = append(list, typed[:i-1]+typed[i:i+1]+typed[i-1:i]+typed[i+1:])
		}
	}
	return list
}

// aliasKey reduces a typed text to capitals and digits, the form in which old account numbers are stored.
func aliasKey(text string) string { return strings.ReplaceAll(referenceKey(text), "-", "") }

// usernameKey reduces a network login to lower case without outer spaces, for comparing.
func usernameKey(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// betweenDigits takes out what people write between the digits of a phone number.
var betweenDigits = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "")

// phoneKey returns the digits of a phone with its country code, "" for a text that is no phone. A number without a
// country code is taken as Kenyan.
func phoneKey(text string) string {
	digits := betweenDigits.Replace(strings.TrimSpace(text))
	digits, plus := strings.CutPrefix(digits, "+")
	if strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	switch {
	case plus && len(digits) >= 8 && len(digits) <= 15:
		return digits
	case len(digits) == 12 && strings.HasPrefix(digits, "254"):
		return digits
	case len(digits) == 10 && digits[0] == '0':
		return "254" + digits[1:]
	case len(digits) == 9 && (digits[0] == '7' || digits[0] == '1'):
		return "254" + digits
	}
	return ""
}
