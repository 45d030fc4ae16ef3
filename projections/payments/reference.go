package paymentsviews

import "strings"

// maxReference is the longest reference that is looked up, in bytes. The provider allows 20 characters; a longer text
// is none of ours.
const maxReference = 64

// Lengths of invoice prefixes in characters. Source: docs/rules/billing.md#invoice-numbers.
const (
	minPrefix = 2
	maxPrefix = 6
)

// referenceKey reduces a typed reference to capitals A-Z and digits, without spaces, dashes or slashes, for comparing.
func referenceKey(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, text)
}

// usernameKey reduces a network login to lower case without outer spaces, for comparing.
func usernameKey(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// phoneKey returns the digits of a phone with its country code, "" for a text that is no phone. A number without a
// country code is taken as Kenyan.
func phoneKey(text string) string {
	digits := strings.NewReplacer(" ", "", "-", "", "(", "", ")", "").Replace(strings.TrimSpace(text))
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

// prefixesOf lists the beginnings of a key that can be an invoice prefix, shortest first; never nil.
func prefixesOf(key string) []string {
	list := []string{}
	for n := minPrefix; n <= maxPrefix && n < len(key); n++ {
		list = append(list, key[:n])
	}
	return list
}
