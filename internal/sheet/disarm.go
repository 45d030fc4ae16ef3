package sheet

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// formula are the characters with which a text begins that a spreadsheet would calculate: those of a formula, in their
// full width as Asian keyboards write them too, and those that a spreadsheet skips or takes for the end of a cell.
const formula = "=+-@＝＋－＠\t\r\n;"

// Disarmed puts an apostrophe before a text that a spreadsheet would calculate, also behind spaces. Plain numbers stay
// numbers.
func Disarmed(text string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, " \u00a0\u3000"))
	if first == utf8.RuneError || !strings.ContainsRune(formula, first) || plainNumber(text) {
		return text
	}
	return "'" + text
}

// Meant gives the text of a cell without the apostrophe that Disarmed has put before it; another one stays.
func Meant(cell string) string {
	if rest, is := strings.CutPrefix(cell, "'"); is && Disarmed(rest) == cell {
		return rest
	}
	return cell
}

// plainNumber reports whether a text is digits with a sign and a point at most.
func plainNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && strings.Trim(text, "+-.0123456789") == ""
}
