// Package column reads the values of a column in a file that somebody uploads: its title, its dates and its amounts. A
// cell alone often has two meanings, as 02/03/2026 and 1,500 have, so dates and amounts are read in two passes: the
// first one adds all cells of the column, the second one reads each of them by what all of them show.
package column

import (
	"strings"
	"unicode"

	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// MaxLength bounds the text of a date and of an amount, in bytes, before anything of it is read.
const MaxLength = 64

// Clean gives a cell as a person sees it: as inputtext.Code writes it, with one plain space for each run of spaces.
func Clean(text string) string { return strings.Join(strings.Fields(inputtext.Code(text)), " ") }

// Title gives the title of a column in a form in which titles of one meaning are equal: small letters and digits,
// without spaces, brackets and other signs, and without the sign of a currency. "Paid In (KSHs)" is "paidin".
func Title(text string) string {
	var b strings.Builder
	for _, word := range titleWords(text) {
		if _, is := currencyNamed(word); !is {
			b.WriteString(word)
		}
	}
	return b.String()
}

// TitleCurrency gives the currency that the title of a column names, such as KES for "Paid In (KSHs)"; "" for none.
func TitleCurrency(text string) money.Currency {
	for _, word := range titleWords(text) {
		if c, is := currencyNamed(word); is && c != "" {
			return c
		}
	}
	return ""
}

// titleWords are the words of a title in small letters.
func titleWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(Clean(text)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// currencyNamed reports whether a word in small letters is the sign of a currency, and of which one; "" for a shilling
// of any country.
func currencyNamed(word string) (c money.Currency, is bool) {
	switch word {
	case "sh", "shs":
		return "", true
	case "ksh", "kshs":
		return "KES", true
	case "tsh", "tshs":
		return "TZS", true
	case "ush", "ushs":
		return "UGX", true
	}
	c = money.Currency(strings.ToUpper(word))
	return c, c.Known()
}
