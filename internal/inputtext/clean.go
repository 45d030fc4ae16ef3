// Package inputtext reads texts that people type or paste. Copied from a chat, a web page or a spreadsheet, a phone
// number or an account number often has a mark of the writing direction, a space of no width, or a hyphen that only
// looks like one. The rules are in docs/rules/engineering.md#pasted-text. Secrets never go through here: each character
// of a password counts.
package inputtext

import (
	"strings"
	"unicode"
)

// Text cleans a text for people to read, such as a name: characters that nobody sees are removed, each kind of space is
// a plain one, and spaces at the ends go. Line breaks stay. The joiners of Persian and Indian scripts change how a word
// looks, so they stay too, except at the ends.
func Text(text string) string {
	return strings.TrimFunc(strings.Map(visible, text), func(r rune) bool { return unicode.IsSpace(r) || joiner(r) })
}

// Code cleans a text that a program compares or calculates with, such as a phone, an account number, an e-mail address
// or an amount. It is Text without joiners, where every dash is "-", and letters, digits and signs of full width and
// digits of other scripts are those of ASCII.
func Code(text string) string {
	return strings.TrimSpace(strings.Map(plain, text))
}

// visible is a character as Text writes it; -1 removes it.
func visible(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case unseen(r):
		return -1
	case unicode.Is(unicode.Zs, r), r == '\u2028', r == '\u2029':
		return ' '
	case r == '\u2010', r == '\u2011': // the hyphen, and the one at which no line ends
		return '-'
	}
	return r
}

// plain is a character as Code writes it; -1 removes it.
func plain(r rune) rune {
	if r = visible(r); r < 0x80 {
		return r
	}
	switch {
	case joiner(r):
		return -1
	case unicode.Is(unicode.Pd, r), r == '\u2212': // dashes, the minus sign
		return '-'
	case r >= '\uff01' && r <= '\uff5e': // ASCII in full width, as keyboards of Asia write it
		return r - '\uff01' + '!'
	case unicode.Is(unicode.Nd, r):
		return '0' + digit(r)
	}
	return r
}

// digit is the value of a decimal digit of any script. Unicode has the digits of a script in a row, from zero to nine;
// a range of its table is one such row, or several.
func digit(r rune) rune {
	for _, row := range unicode.Nd.R16 {
		if lo, hi := rune(row.Lo), rune(row.Hi); r >= lo && r <= hi {
			return (r - lo) % 10
		}
	}
	for _, row := range unicode.Nd.R32 {
		if lo, hi := rune(row.Lo), rune(row.Hi); r >= lo && r <= hi {
			return (r - lo) % 10
		}
	}
	return 0
}

// unseen reports whether a character has no width and no meaning of its own: marks of the writing direction, the mark
// of an encoding, spaces of no width, and the hyphen that shows only at the end of a line.
func unseen(r rune) bool {
	switch {
	case r == '\u00ad', r == '\u034f', r == '\u061c', r == '\u180e', r == '\u200b', r == '\u200e', r == '\u200f',
		r >= '\u202a' && r <= '\u202e', r >= '\u2060' && r <= '\u206f', r == '\ufeff',
		r >= '\ufff9' && r <= '\ufffb':
		return true
	}
	return false
}

// joiner reports whether a character joins or separates its neighbours, without a look of its own.
func joiner(r rune) bool { return r == '\u200c' || r == '\u200d' || r >= '\ufe00' && r <= '\ufe0f' }
