package inputtext

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// kenya is the country of a number that is written without one.
const kenya = "254"

// international is E.164 with the leading plus.
var international = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// betweenDigits removes what people write between the digits of a phone number.
var betweenDigits = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "", "/", "")

// Phone gives the E.164 form of a phone number as people type it. A number without a country is taken as Kenyan, and a
// 0 behind the code of a country is removed, as in "+254 (0) 711", unless numbers of that country begin with one. Any
// other text comes back without spaces and signs. PhoneFault says whether a phone can have the number.
func Phone(text string) string {
	digits := betweenDigits.Replace(Code(text))
	bare := strings.TrimPrefix(digits, "+")
	if bare == "" || strings.Trim(bare, "0123456789") != "" {
		return digits
	}
	switch {
	case bare != digits:
		return withoutTrunk(bare)
	case strings.HasPrefix(bare, "00"):
		return withoutTrunk(bare[2:])
	case bare[0] == '0' && len(bare) >= 8 && len(bare) <= 11:
		return "+" + kenya + bare[1:]
	case strings.HasPrefix(bare, kenya) && len(bare) >= 11 && len(bare) <= 13:
		return withoutTrunk(bare)
	case len(bare) == 9 && isMobile(bare):
		return "+" + kenya + bare
	}
	return bare
}

// withoutTrunk is the E.164 form of a number with its country, without the 0 that is dialled at home.
func withoutTrunk(digits string) string {
	code := CountryCode(digits)
	national := digits[len(code):]
	if code != "" && !withZero[code] {
		national = strings.TrimPrefix(national, "0")
	}
	return "+" + code + national
}

// CountryCode is the country calling code with which the digits of an international number begin, "" for none.
func CountryCode(digits string) string {
	for length := 1; length <= min(3, len(digits)); length++ { // no code begins another one
		if _, known := countries[digits[:length]]; known {
			return digits[:length]
		}
	}
	return ""
}

// isMobile reports whether a Kenyan number without its country is one of a mobile.
func isMobile(national string) bool {
	return strings.HasPrefix(national, "7") || strings.HasPrefix(national, "1")
}

// phoneHelp says which forms Phone reads.
const phoneHelp = "must be a phone number with its country, such as +254712345678, or a Kenyan one, such as 0712345678"

// PhoneFault says what is wrong with a number that Phone gave, as the message of a fault without the number itself; ""
// for one that a phone can have. Lengths are those of the country's numbering plan.
func PhoneFault(number string) string {
	if !international.MatchString(number) {
		return phoneHelp
	}
	code := CountryCode(number[1:])
	if code == "" {
		return phoneHelp
	}
	national, lengths := number[1+len(code):], countries[code]
	if code == kenya && isMobile(national) {
		lengths = []int{9}
	}
	switch {
	case !slices.Contains(lengths, len(national)):
		return fmt.Sprintf("must have %s digits after +%s", listLengths(lengths), code)
	case national[0] == '0' && !withZero[code]:
		return fmt.Sprintf("must have no 0 after +%s", code)
	}
	return ""
}

// listLengths lists lengths as people say them: "9", "7 or 8", "7, 8 or 9".
func listLengths(lengths []int) string {
	words := make([]string, len(lengths))
	for i, n := range lengths {
		words[i] = fmt.Sprint(n)
	}
	if last := len(words) - 1; last > 0 {
		return strings.Join(words[:last], ", ") + " or " + words[last]
	}
	return words[0]
}
