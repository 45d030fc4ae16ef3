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
	words := strings.FieldsFunc(strings.ToLower(Clean(text)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	var b strings.Builder
	for _, word := range words {
		if !shillings[word] && !money.Currency(strings.ToUpper(word)).Known() {
			b.WriteString(word)
		}
	}
	return b.String()
}

// shillings are the short words for a shilling, in small letters and without a stop.
var shillings = map[string]bool{
	"sh": true, "shs": true, "ksh": true, "kshs": true, "tsh": true, "tshs": true, "ush": true, "ushs": true,
}
