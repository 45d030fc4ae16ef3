package paper

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// unknown is drawn for what the fonts do not have, so that a reader sees that something stands there.
const unknown = '\uFFFD'

// longest bounds the characters of one text that are drawn: nothing that is written on a document is longer, and one
// without end must not become a document without end.
const longest = 20_000

// isMark reports whether a character is drawn onto the letter before it.
func isMark(r rune) bool { return unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) }

// partOfEmoji reports whether a character only changes the picture before it: its colour, or how it is drawn.
func partOfEmoji(r rune) bool {
	return r >= 0x1F3FB && r <= 0x1F3FF || r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0000 && r <= 0xE01EF || r == 0x20E3
}

// clean makes one paragraph of a text that can be drawn: one form of each letter, spaces for all that separates, no
// characters that control a program or turn the direction of the text, and a sign for letters that the font lacks.
// Joiners of letters stay for joined.
func clean(text string, f *face) []rune {
	text = norm.NFC.String(strings.ToValidUTF8(text, string(unknown)))
	out := make([]rune, 0, len(text))
	picture, glued := false, false // the last one is a picture that the font lacks; the next one is a part of it
	for _, r := range text {
		switch {
		case len(out) == longest:
			return out
		case unicode.IsSpace(r):
			r, picture, glued = ' ', false, false
		case partOfEmoji(r):
			continue
		case picture && r == joiner: // families and jobs are several pictures that are joined to one
			glued = true
			continue
		case glued:
			glued = false
			continue
		case r == joiner || r == nonJoiner:
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			continue
		case !f.has(r):
			r, picture = unknown, true
		default:
			picture = false
		}
		out = append(out, r)
	}
	return out
}

// paragraphs are the parts of a text between its ends of lines, without empty ones.
func paragraphs(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r\u2028\u2029", r) })
}

// lines breaks a text into lines that are at most so wide, in points, each from left to right as it is drawn. A word
// that is wider is broken between two letters. An empty text has no line.
func (f *face) lines(text string, size, width float64) [][]rune {
	var out [][]rune
	for _, p := range paragraphs(text) {
		rest := leveled(joined(clean(p, f), f))
		for rest = trimmed(rest); len(rest) > 0; rest = trimmed(rest) {
			end := f.fitting(rest, size, width)
			out = append(out, ordered(endTrimmed(rest[:end])))
			rest = rest[end:]
		}
	}
	return out
}

// trimmed is a line without the spaces before it.
func trimmed(l []letter) []letter {
	for len(l) > 0 && l[0].r == ' ' {
		l = l[1:]
	}
	return l
}

// endTrimmed is a line without the spaces behind it.
func endTrimmed(l []letter) []letter {
	for len(l) > 0 && l[len(l)-1].r == ' ' {
		l = l[:len(l)-1]
	}
	return l
}

// fitting is how many characters fit into a line: up to its last space, or else as many as there is room for, but at
// least one with its marks.
func (f *face) fitting(rest []letter, size, width float64) int {
	sum, space := 0.0, 0
	for i, l := range rest {
		if l.r == ' ' {
			space = i + 1
			sum += f.width([]rune{' '}, size)
			continue
		}
		sum += f.width([]rune{l.r}, size)
		if sum <= width || i == 0 || isMark(l.r) {
			continue
		}
		if space > 0 {
			return space
		}
		return i
	}
	return len(rest)
}
