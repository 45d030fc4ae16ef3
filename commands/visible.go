package commands

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// shows reports whether a text has a character that people see. Spaces, characters without a width, marks of the
// direction and fillers leave a gap where a name or a reason should be; accents alone stand on nothing.
// Source: docs/rules/http.md#texts.
func shows(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unseen...) && r != '\u2800' && r != '\U0001D159'
	})
}

// hasControl reports whether a text has a character that no name has: a control character, such as a line break, a line
// or paragraph separator, a character that embeds, overrides or isolates a direction of writing, and what is no UTF-8.
// They would end the header of a mail, a line of a log, or a command on a router. Source: docs/rules/http.md#texts.
func hasControl(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || turnsDirection(r)
	})
}

// turnsDirection reports whether a character embeds, overrides or isolates a direction of writing.
func turnsDirection(r rune) bool {
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// noControl is the fault of a text with characters that it must not have.
const noControl = "must not have control characters"

// checkLine checks a name, or another text of one line: every field of a command that a mail's header, a file's name, a
// log or a router's comment may show.
func checkLine(f *failure.Faults, field, text string) { f.Check(!hasControl(text), field, noControl) }

// checkLines checks a text that may have several lines.
func checkLines(f *failure.Faults, field, text string) {
	checkLine(f, field, strings.NewReplacer("\r\n", "", "\n", "", "\t", "").Replace(text))
}

// unseen are the ranges of what has no look of its own. Fillers of the Hangul script are among the last; the empty
// pattern of Braille and the note without a head are in none.
var unseen = []*unicode.RangeTable{
	unicode.Z, unicode.Cc, unicode.Cf, unicode.M, unicode.Other_Default_Ignorable_Code_Point,
}
