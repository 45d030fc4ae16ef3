// Package loginname says which names customers may have on the network, and which of them are equal. Source:
// docs/rules/subscribers.md#usernames.
package loginname

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of a name. The bytes are those that an index of names stores (internal/searchterm).
const (
	MaxCharacters = 64
	MaxBytes      = 100
)

// Fault says what is wrong with a name, as the end of a sentence about it; "" when it may be used.
func Fault(name string) string {
	switch {
	case name == "":
		return "is required"
	case !utf8.ValidString(name) || strings.ContainsFunc(name, hidden):
		return "has a character that cannot be seen, such as a tab or a special space; type it again"
	case strings.TrimSpace(name) != name:
		return "must not begin or end with a space"
	case utf8.RuneCountInString(name) > MaxCharacters || len(name) > MaxBytes:
		return "must have at most 64 characters and 100 bytes"
	}
	return ""
}

// hidden reports whether nobody sees a character, or nobody sees which one it is. The one space that is typed is not.
func hidden(r rune) bool {
	if r == ' ' {
		return false
	}
	return r == utf8.RuneError || !unicode.IsGraphic(r) || unicode.IsSpace(r) ||
		unicode.In(r, unicode.Zs, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Fold gives the form in which equal names are the same text: names that look the same, and a MAC address in any of its
// notations. Capital letters count, because routers tell them apart.
func Fold(name string) string {
	if IsFolded(name) {
		return name
	}
	name = strings.Join(strings.Fields(norm.NFKC.String(name)), " ")
	if digits, ok := macDigits(name); ok {
		pairs := make([]string, len(digits)/2)
		for i := range pairs {
			pairs[i] = string(digits[2*i : 2*i+2])
		}
		return strings.Join(pairs, ":")
	}
	return name
}

// IsFolded reports whether a name is its own folded form for certain, without making another text. It is false for
// some that are, too.
func IsFolded[T string | []byte](name T) bool {
	for i := range len(name) {
		if name[i] > unicode.MaxASCII || name[i] <= ' ' {
			return false
		}
	}
	_, isMAC := macDigits(name)
	return !isMAC
}

// IsMAC reports whether a folded name is a MAC address.
func IsMAC(folded string) bool {
	_, isMAC := macDigits(folded)
	return isMAC
}

// macDigits gives the twelve capital digits of a MAC address in any notation: with colons, dashes or dots between
// them, or with nothing.
func macDigits[T string | []byte](name T) (digits [12]byte, ok bool) {
	n := 0
	for i := range len(name) {
		b := name[i]
		switch {
		case b == ':' || b == '-' || b == '.':
			continue
		case b >= 'a' && b <= 'f':
			b -= 'a' - 'A'
		case b >= '0' && b <= '9', b >= 'A' && b <= 'F':
		default:
			return digits, false
		}
		if n == len(digits) {
			return digits, false
		}
		digits[n] = b
		n++
	}
	return digits, n == len(digits)
}

// WithoutRealm removes the realm of a name: "DOMAIN\" before the user, or "@realm" behind it. A name that would be
// empty stays.
func WithoutRealm(name string) string {
	user := name
	if at := strings.LastIndexByte(user, '\\'); at >= 0 {
		user = user[at+1:]
	} else if at := strings.LastIndexByte(user, '@'); at >= 0 {
		user = user[:at]
	}
	if user == "" {
		return name
	}
	return user
}
