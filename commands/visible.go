package commands

import (
	"strings"
	"unicode"
)

// shows reports whether a text has a character that people see. Spaces, characters without a width, marks of the
// direction and fillers leave a gap where a name or a reason should be; accents alone stand on nothing.
// Source: docs/rules/http.md#texts.
func shows(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unseen...) && r != '\u2800' && r != '\U0001D159'
	})
}

// unseen are the ranges of what has no look of its own. Fillers of the Hangul script are among the last; the empty
// pattern of Braille and the note without a head are in none.
var unseen = []*unicode.RangeTable{
	unicode.Z, unicode.Cc, unicode.Cf, unicode.M, unicode.Other_Default_Ignorable_Code_Point,
}
