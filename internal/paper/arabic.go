package paper

import "unicode"

// Letters of Arabic have up to four forms, by whether they are joined to the letter before them and to the one behind.
// Unicode has each form as a character of its own, in this order, which a font draws without further rules.
const (
	isolated = iota
	final    // joined to the letter before
	initial  // joined to the letter behind
	medial   // to both
)

// letterForms are the forms of one letter: those that follow the first one, and how many there are. One with two forms
// is never joined to the letter behind it.
type letterForms struct {
	first rune
	count int
}

// Characters that have a part in joining and no forms.
const (
	tatweel   = '\u0640' // is joined on both sides
	joiner    = '\u200D' // asks for a joined form, and is not drawn
	nonJoiner = '\u200C' // asks for no joined form, and is not drawn
	lam       = '\u0644' // makes one letter with an alef behind it
)

// lamAlefs are the letters that a lam makes with an alef, by the alef. They have two forms.
var lamAlefs = map[rune]letterForms{
	'\u0622': {'\uFEF5', 2}, '\u0623': {'\uFEF7', 2}, '\u0625': {'\uFEF9', 2}, '\u0627': {'\uFEFB', 2},
}

// arabicForms are the letters of Arabic, Persian, Urdu, Sindhi and Uyghur that have forms in Unicode.
var arabicForms = map[rune]letterForms{
	'\u0621': {'\uFE80', 1}, '\u0622': {'\uFE81', 2}, '\u0623': {'\uFE83', 2}, '\u0624': {'\uFE85', 2},
	'\u0625': {'\uFE87', 2}, '\u0626': {'\uFE89', 4}, '\u0627': {'\uFE8D', 2}, '\u0628': {'\uFE8F', 4},
	'\u0629': {'\uFE93', 2}, '\u062A': {'\uFE95', 4}, '\u062B': {'\uFE99', 4}, '\u062C': {'\uFE9D', 4},
	'\u062D': {'\uFEA1', 4}, '\u062E': {'\uFEA5', 4}, '\u062F': {'\uFEA9', 2}, '\u0630': {'\uFEAB', 2},
	'\u0631': {'\uFEAD', 2}, '\u0632': {'\uFEAF', 2}, '\u0633': {'\uFEB1', 4}, '\u0634': {'\uFEB5', 4},
	'\u0635': {'\uFEB9', 4}, '\u0636': {'\uFEBD', 4}, '\u0637': {'\uFEC1', 4}, '\u0638': {'\uFEC5', 4},
	'\u0639': {'\uFEC9', 4}, '\u063A': {'\uFECD', 4}, '\u0641': {'\uFED1', 4}, '\u0642': {'\uFED5', 4},
	'\u0643': {'\uFED9', 4}, '\u0644': {'\uFEDD', 4}, '\u0645': {'\uFEE1', 4}, '\u0646': {'\uFEE5', 4},
	'\u0647': {'\uFEE9', 4}, '\u0648': {'\uFEED', 2}, '\u0649': {'\uFEEF', 2}, '\u064A': {'\uFEF1', 4},
	'\u0671': {'\uFB50', 2}, '\u0679': {'\uFB66', 4}, '\u067A': {'\uFB5E', 4}, '\u067B': {'\uFB52', 4},
	'\u067E': {'\uFB56', 4}, '\u067F': {'\uFB62', 4}, '\u0680': {'\uFB5A', 4}, '\u0683': {'\uFB76', 4},
	'\u0684': {'\uFB72', 4}, '\u0686': {'\uFB7A', 4}, '\u0687': {'\uFB7E', 4}, '\u0688': {'\uFB88', 2},
	'\u068C': {'\uFB84', 2}, '\u068D': {'\uFB82', 2}, '\u068E': {'\uFB86', 2}, '\u0691': {'\uFB8C', 2},
	'\u0698': {'\uFB8A', 2}, '\u06A4': {'\uFB6A', 4}, '\u06A6': {'\uFB6E', 4}, '\u06A9': {'\uFB8E', 4},
	'\u06AD': {'\uFBD3', 4}, '\u06AF': {'\uFB92', 4}, '\u06B1': {'\uFB9A', 4}, '\u06B3': {'\uFB96', 4},
	'\u06BA': {'\uFB9E', 2}, '\u06BB': {'\uFBA0', 4}, '\u06BE': {'\uFBAA', 4}, '\u06C0': {'\uFBA4', 2},
	'\u06C1': {'\uFBA6', 4}, '\u06C5': {'\uFBE0', 2}, '\u06C6': {'\uFBD9', 2}, '\u06C7': {'\uFBD7', 2},
	'\u06C8': {'\uFBDB', 2}, '\u06C9': {'\uFBE2', 2}, '\u06CB': {'\uFBDE', 2}, '\u06CC': {'\uFBFC', 4},
	'\u06D0': {'\uFBE4', 4}, '\u06D2': {'\uFBAE', 2}, '\u06D3': {'\uFBB0', 2},
}

// joinsBehind reports whether a character is joined to a letter behind it.
func joinsBehind(r rune) bool { return r == tatweel || r == joiner || arabicForms[r].count == 4 }

// joinsBefore reports whether a character is joined to a letter before it.
func joinsBefore(r rune) bool { return r == tatweel || r == joiner || arabicForms[r].count >= 2 }

// joined replaces the letters of Arabic by the forms that they have beside each other. A form that the font lacks
// stays the plain letter. Joiners are taken out.
func joined(text []rune, f *face) []rune {
	out := make([]rune, 0, len(text))
	before := rune(0) // the last character that is no mark
	for i := 0; i < len(text); i++ {
		r := text[i]
		if unicode.Is(unicode.Mn, r) {
			out = append(out, r)
			continue
		}
		if alef, at := behind(text, i); r == lam && lamAlefs[alef].count > 0 {
			if form := formed(lamAlefs[alef], joinsBehind(before), false); f.has(form) {
				out = append(append(out, form), text[i+1:at]...) // with the marks in between
				i, before = at, alef
				continue
			}
		}
		if r != joiner && r != nonJoiner {
			next, _ := behind(text, i)
			form := formed(arabicForms[r], joinsBehind(before), joinsBefore(next))
			if form == 0 || !f.has(form) {
				form = r
			}
			out = append(out, form)
		}
		before = r
	}
	return out
}

// behind is the next character that is no mark, and its place; 0 at the end.
func behind(text []rune, i int) (rune, int) {
	for at := i + 1; at < len(text); at++ {
		if !unicode.Is(unicode.Mn, text[at]) {
			return text[at], at
		}
	}
	return 0, len(text)
}

// formed chooses a form of a letter by what it is joined to; 0 when the letter has none.
func formed(l letterForms, before, behind bool) rune {
	form := isolated
	switch behind = behind && l.count == 4; {
	case l.count == 0:
		return 0
	case before && behind:
		form = medial
	case behind:
		form = initial
	case before && l.count >= 2:
		form = final
	}
	return l.first + rune(form) //nolint:gosec // at most 3
}
