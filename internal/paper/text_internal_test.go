package paper

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

func TestArabicForms_AreThoseOfUnicodeAndTheFontsHaveThem(t *testing.T) {
	t.Parallel()
	fonts, err := readFaces()
	if err != nil {
		t.Fatal(err)
	}
	for plain, l := range arabicForms {
		for n := range l.count {
			form := l.first + rune(n)
			if got := []rune(norm.NFKD.String(string(form))); string(got) != norm.NFKD.String(string(plain)) {
				t.Errorf("form %d of U+%04X, U+%04X, is of %+q", n, plain, form, got)
			}
			for bold, f := range fonts {
				if common := plain <= '\u064A'; common && !f.has(form) {
					t.Errorf("the font (bold %t) has no U+%04X", bold, form)
				}
			}
		}
	}
	for alef, l := range lamAlefs {
		for n := range l.count {
			form := l.first + rune(n)
			plain := norm.NFKD.String(string([]rune{lam, alef}))
			if norm.NFKD.String(string(form)) != plain || !fonts[false].has(form) {
				t.Errorf("U+%04X is not lam and U+%04X", form, alef)
			}
		}
	}
}

// TestLeveled_AgreesWithTheRulesOfUnicode compares the directions with those of the library, which has no levels, on
// texts without brackets, about which it has a further rule.
func TestLeveled_AgreesWithTheRulesOfUnicode(t *testing.T) {
	t.Parallel()
	seed := [2]uint64{rand.Uint64(), rand.Uint64()} //nolint:gosec // of a test
	r := rand.New(rand.NewPCG(seed[0], seed[1]))    //nolint:gosec // of a test
	signs := []rune("ab זח عل 12 ٣٤ .,:/+-%$ !\u0301")
	for range 20_000 {
		text := make([]rune, 1+r.IntN(12))
		for i := range text {
			text[i] = signs[r.IntN(len(signs))]
		}
		var p bidi.Paragraph
		if _, err := p.SetString(string(text)); err != nil {
			t.Fatal(err)
		}
		order, err := p.Order()
		if err != nil {
			t.Fatal(err)
		}
		want := make([]bool, len(text)) // from the right
		for i := range order.NumRuns() {
			run := order.Run(i)
			first, last := run.Pos()
			for at := first; at <= last; at++ {
				want[at] = run.Direction() == bidi.RightToLeft
			}
		}
		for i, l := range leveled(text) {
			if l.level%2 == 1 != want[i] {
				t.Fatalf("seed %v: %+q at %d: level %d, from the right %t", seed, string(text), i, l.level, want[i])
			}
		}
	}
}
