package subscriberscases

import (
	"regexp"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Forms of numbers in spreadsheets beside "1500.50". The first group of thousands does not begin with zero: "0,500" may
// be a half.
var (
	commaGroups   = regexp.MustCompile(`^-?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?$`)                 // 1,500.50
	dotGroups     = regexp.MustCompile(`^-?[1-9][0-9]{0,2}((\.[0-9]{3})+,[0-9]+|(\.[0-9]{3}){2,})$`) // 1.500,50
	spaceGroups   = regexp.MustCompile(`^-?[1-9][0-9]{0,2}( [0-9]{3})+([.,][0-9]+)?$`)               // 1 500.50
	commaDecimals = regexp.MustCompile(`^-?[0-9]+,([0-9]{1,2}|[0-9]{4,})$`)                          // 1500,50
)

// Replacers that leave the digits and the decimal point of a number that has one of the forms.
var (
	withoutCommas   = strings.NewReplacer(",", "")
	withoutDots     = strings.NewReplacer(".", "", ",", ".")
	withoutSpacings = strings.NewReplacer(" ", "", ",", ".")
)

// figureOf reads an amount as spreadsheets write it, with the code of its currency or without: "KES 1,500.50" is the
// figure 1500.50. A lone comma before three digits separates thousands, a lone dot never does. A text of another form
// is no number afterwards either.
func figureOf(text string, currency money.Currency) usecases.Figure {
	number := withoutCode(inputtext.Code(text), currency)
	switch {
	case commaGroups.MatchString(number):
		number = withoutCommas.Replace(number)
	case dotGroups.MatchString(number):
		number = withoutDots.Replace(number)
	case spaceGroups.MatchString(number), commaDecimals.MatchString(number):
		number = withoutSpacings.Replace(number)
	}
	return usecases.Figure(number)
}

// withoutCode takes the code of a currency off one side of an amount, and the space between them; the sign may stand
// before the code.
func withoutCode(text string, currency money.Currency) string {
	code := string(currency)
	rest := strings.TrimPrefix(text, "-")
	sign := text[:len(text)-len(rest)]
	if len(rest) <= len(code) {
		return text
	}
	first, last := len(code), len(rest)-len(code)
	number := ""
	switch {
	case strings.EqualFold(rest[:first], code):
		number = strings.TrimLeft(rest[first:], " ")
	case strings.EqualFold(rest[last:], code):
		number = strings.TrimRight(rest[:last], " ")
	}
	if number == "" {
		return text
	}
	return sign + number
}
