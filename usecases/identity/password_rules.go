package identitycases

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Lengths of passwords in characters (docs/rules/identity.md#passwords). The upper bound keeps hashing cheap.
const (
	minPassword = 10
	maxPassword = 128
)

// commonList has words that many people choose, one in a line, in the form of plainForm. It is a list of our own
// making: words, keyboard rows, names and brands of the places where the platform is used.
//
//go:embed common_passwords.txt
var commonList string

// commonWords is the list as a set. It is read at the first use and never changes.
var commonWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(commonList) {
		words[word] = true
	}
	return words
})

// checkPassword adds a fault when a password that somebody chose is too short, too long, or one of the common ones.
func checkPassword(faults *failure.Faults, field string, password secrets.Text) {
	n := utf8.RuneCountInString(password.Reveal())
	faults.Check(n >= minPassword && n <= maxPassword, field, "must have %d to %d characters", minPassword, maxPassword)
	faults.Check(n < minPassword || !common(password.Reveal()), field,
		"is one of the passwords that are tried first; choose several words")
}

// common reports whether a password is guessed at once: a word of the list, alone or repeated, with digits or signs
// around it or in place of letters, or a run of characters such as 1234567890.
func common(password string) bool {
	plain := plainForm(password)
	spelled := plainForm(strings.NewReplacer("@", "a", "$", "s").Replace(password))
	for _, form := range []string{plain, strings.Trim(plain, "0123456789"), unwritten(plain), unwritten(spelled)} {
		if form == "" || commonWords()[form] || commonWords()[repeated(form)] {
			return true
		}
	}
	return utf8.RuneCountInString(repeated(plain)) <= 3 || inRow(plain)
}

// plainForm is a text in lower case, with letters and digits only.
func plainForm(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// unwritten turns the digits that people write for letters back, after digits at the end are cut.
func unwritten(plain string) string {
	return strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t").
		Replace(strings.TrimRight(plain, "0123456789"))
}

// repeated is the shortest text that gives the whole when it is written one or several times.
func repeated(text string) string {
	for size := 1; size <= len(text)/2; size++ {
		if len(text)%size == 0 && strings.Repeat(text[:size], len(text)/size) == text {
			return text[:size]
		}
	}
	return text
}

// inRow reports whether each character follows the one before it by the same step of -1, 0 or 1; 0 follows 9.
func inRow(plain string) bool {
	var before rune
	steps := map[rune]bool{}
	for i, r := range []rune(plain) {
		if i > 0 {
			step := r - before
			if before == '9' && r == '0' {
				step = 1
			}
			steps[step] = true
		}
		before = r
	}
	return len(steps) <= 1 && (steps[-1] || steps[0] || steps[1])
}
