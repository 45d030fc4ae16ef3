package paper

import (
	"slices"

	"golang.org/x/text/unicode/bidi"
)

// letter is one drawn character with its level: even = written from the left, odd = from the right.
type letter struct {
	r     rune
	level uint8
}

// leveled finds the direction of each character of a paragraph, by the Unicode Bidirectional Algorithm (UAX #9). The
// paragraph goes from the right when its first letter does. Characters that embed or isolate a direction are not known
// here: clean takes them out, and each text of a document is a paragraph of its own.
func leveled(text []rune) []letter {
	classes := make([]bidi.Class, len(text))
	base := uint8(0)
	strong := false
	for i, r := range text {
		p, _ := bidi.LookupRune(r)
		classes[i] = p.Class()
		if from := classes[i]; !strong && (from == bidi.L || from == bidi.R || from == bidi.AL) {
			strong = true
			if from != bidi.L {
				base = 1
			}
		}
	}
	around := bidi.L // the direction at both ends
	if base == 1 {
		around = bidi.R
	}
	resolveWeak(classes, around)
	resolveNeutral(classes, around)
	out := make([]letter, len(text))
	for i, r := range text {
		out[i] = letter{r, levelOf(classes[i], base)}
	}
	return out
}

// levelOf is the level of a resolved class in a paragraph of a level (UAX #9, I1 and I2).
func levelOf(class bidi.Class, base uint8) uint8 {
	switch {
	case class == bidi.R:
		return 1
	case class == bidi.L && base == 0:
		return 0
	default: // numbers, and what goes from the left in a paragraph from the right
		return 2
	}
}

// resolveWeak decides about marks, numbers and their signs (UAX #9, W1 to W7).
func resolveWeak(classes []bidi.Class, around bidi.Class) {
	before, letters := around, around // the class before, and the last one of a letter
	for i, class := range classes {
		switch class {
		case bidi.NSM:
			class = before
		case bidi.EN:
			if letters == bidi.AL {
				class = bidi.AN
			}
		case bidi.L, bidi.R, bidi.AL:
			letters = class
		}
		classes[i], before = class, class
	}
	for i, class := range classes {
		if class == bidi.AL {
			classes[i] = bidi.R
		}
	}
	for i := 1; i+1 < len(classes); i++ {
		one, two := classes[i-1], classes[i+1]
		sign := classes[i] == bidi.ES && one == bidi.EN || classes[i] == bidi.CS && (one == bidi.EN || one == bidi.AN)
		if sign && one == two {
			classes[i] = one
		}
	}
	resolveSigns(classes)
	letters = around
	for i, class := range classes {
		switch {
		case class == bidi.EN && letters == bidi.L:
			classes[i] = bidi.L
		case class == bidi.L || class == bidi.R:
			letters = class
		}
	}
}

// resolveSigns makes signs of currency and percent beside a number a part of it, and other signs neutral (W5 and W6).
func resolveSigns(classes []bidi.Class) {
	for i := 0; i < len(classes); {
		if classes[i] != bidi.ET {
			if classes[i] == bidi.ES || classes[i] == bidi.CS {
				classes[i] = bidi.ON
			}
			i++
			continue
		}
		end := i
		for end < len(classes) && classes[end] == bidi.ET {
			end++
		}
		as := bidi.ON
		if i > 0 && classes[i-1] == bidi.EN || end < len(classes) && classes[end] == bidi.EN {
			as = bidi.EN
		}
		for ; i < end; i++ {
			classes[i] = as
		}
	}
}

// directed reports whether a class has a direction after the weak ones were resolved; numbers count as from the right.
func directed(class bidi.Class) (bidi.Class, bool) {
	switch class {
	case bidi.L:
		return bidi.L, true
	case bidi.R, bidi.EN, bidi.AN:
		return bidi.R, true
	}
	return 0, false
}

// resolveNeutral gives spaces and other characters without a direction that of both their neighbours, or else that of
// the paragraph (UAX #9, N1 and N2).
func resolveNeutral(classes []bidi.Class, around bidi.Class) {
	for i := 0; i < len(classes); {
		if _, has := directed(classes[i]); has {
			i++
			continue
		}
		end := i
		for end < len(classes) {
			if _, has := directed(classes[end]); has {
				break
			}
			end++
		}
		before, behind := around, around
		if i > 0 {
			before, _ = directed(classes[i-1])
		}
		if end < len(classes) {
			behind, _ = directed(classes[end])
		}
		as := around
		if before == behind {
			as = before
		}
		for ; i < end; i++ {
			classes[i] = as
		}
	}
}

// mirrored are the characters that are drawn turned round in text from the right.
var mirrored = map[rune]rune{
	'(': ')', ')': '(', '[': ']', ']': '[', '{': '}', '}': '{', '<': '>', '>': '<', '«': '»', '»': '«', '‹': '›',
	'›': '‹',
}

// ordered gives the characters of one line from left to right, as they are drawn (UAX #9, L2 to L4). A mark is drawn
// after its letter.
func ordered(line []letter) []rune {
	line = slices.Clone(line)
	highest := uint8(0)
	for _, l := range line {
		highest = max(highest, l.level)
	}
	for level := highest; level >= 1; level-- {
		for i := 0; i < len(line); i++ {
			end := i
			for end < len(line) && line[end].level >= level {
				end++
			}
			slices.Reverse(line[i:end])
			i = max(i, end)
		}
	}
	out := make([]rune, len(line))
	for i, l := range line {
		out[i] = l.r
		if turned, is := mirrored[l.r]; is && l.level%2 == 1 {
			out[i] = turned
		}
	}
	return marksBehind(out, line)
}

// marksBehind moves the marks of text from the right, which stand before their letters after the reversal, behind them.
func marksBehind(out []rune, line []letter) []rune {
	for i := 0; i < len(out); {
		end := i
		for end < len(out) && line[end].level%2 == 1 && isMark(out[end]) {
			end++
		}
		if end == i || end == len(out) {
			i = end + 1
			continue
		}
		base := out[end]
		copy(out[i+1:end+1], out[i:end])
		out[i] = base
		i = end + 1
	}
	return out
}
