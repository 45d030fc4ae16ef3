package paper_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/internal/paper/papertest"
)

// press is shared, since reading the fonts takes longer than the tests.
var press = paper.NewPress()

// about names the documents of the tests.
var about = paper.About{
	Title: "Invoice A-0001", Author: "Acme", Running: "Acme - Invoice A-0001",
	At: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
}

// columns are those of the tables of the tests.
var columns = []paper.Column{
	{Title: "Description", Share: 60}, {Title: "Quantity", Share: 15, Right: true},
	{Title: "Amount", Share: 25, Right: true},
}

// draw makes a document of the tests and reads it back.
func draw(t *testing.T, write func(*paper.Sheet)) papertest.Pieces {
	t.Helper()
	pdf, err := press.Draw(t.Context(), about, write)
	if err != nil {
		t.Fatal(err)
	}
	return papertest.Read(t, pdf)
}

func TestDraw_TheSameContentHasTheSameBytes(t *testing.T) {
	t.Parallel()
	one := func() []byte {
		pdf, err := press.Draw(t.Context(), about, func(s *paper.Sheet) {
			s.Text("Fibre, שלום and سلام", paper.Style{Bold: true})
			s.Table(columns, slices.Values([][]string{{"Fibre", "1", "1,500.00"}}))
		})
		if err != nil {
			t.Fatal(err)
		}
		return pdf
	}
	first := one()
	for range 3 {
		if !bytes.Equal(first, one()) {
			t.Fatal("the bytes differ")
		}
	}
}

func TestTable_HasItsHeadOnEveryPageAndPagesAreNumbered(t *testing.T) {
	t.Parallel()
	const rows = 120
	got := draw(t, func(s *paper.Sheet) {
		s.Table(columns, func(yield func([]string) bool) {
			for n := range rows {
				if !yield([]string{fmt.Sprintf("Line %d", n), "1", fmt.Sprintf("%d.00", n)}) {
					return
				}
			}
		})
		s.Sums([]paper.Sum{{Name: "Total", Amount: "KES 7,140.00", Strong: true}})
	})
	pages := got.Pages()
	if pages < 3 {
		t.Fatalf("%d pages", pages)
	}
	heads := strings.Count(got.Text(), "Description | Quantity | Amount")
	if heads != pages {
		t.Errorf("%d heads on %d pages", heads, pages)
	}
	for n := 1; n <= pages; n++ {
		if !got.Has(fmt.Sprintf("Page %d of %d", n, pages)) {
			t.Errorf("page %d has no number", n)
		}
	}
	for n := range rows {
		if !got.Has(fmt.Sprintf("Line %d", n), "1", fmt.Sprintf("%d.00", n)) {
			t.Errorf("row %d is missing", n)
		}
	}
	if strings.Count(got.Text(), about.Running) != pages-1 || !got.Has("Total", "KES 7,140.00") {
		t.Errorf("head or sum is missing:\n%s", got.Text())
	}
}

func TestDraw_StaysInsideThePageWhateverIsWritten(t *testing.T) {
	t.Parallel()
	hostile := map[string]string{
		"one long word": strings.Repeat("x", 500), "long": strings.Repeat("Fibre to the home ", 40),
		"script": "<script>alert(1)</script>", "controls": "a\x00b\x07c\x1b[31md\u202Ee\u2066f",
		"emoji": "Ann 👩‍👩‍👧‍👦 🇰🇪 👍🏽 ok", "broken": "a\xff\xfeb", "parentheses": `((\)`, "marks": "a" +
			strings.Repeat("\u0301", 300) + "b", "lines": strings.Repeat("line\n", 200), "empty": "", "spaces": "   ",
		"private": "\uE000\uFFFF", "arabic": strings.Repeat("محمد ", 100), "tabs": "a\tb",
	}
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := draw(t, func(s *paper.Sheet) {
				large := paper.Style{Size: 18, Bold: true}
				s.Sides([]paper.Line{{Text: text}}, []paper.Line{{Text: text, Style: large}})
				s.Table(columns, slices.Values([][]string{{text, text, text}, {"behind", "1", "2.00"}}))
				s.Sums([]paper.Sum{{Name: text, Amount: text}})
				s.Text(text, paper.Style{})
			})
			for _, p := range got {
				if p.X < 40 || p.X > 560 || p.Y < 20 || p.Y > 820 {
					t.Fatalf("%q is at %.0f, %.0f", p.Text, p.X, p.Y)
				}
			}
			if !got.Has("behind", "1", "2.00") {
				t.Errorf("what comes after it is missing:\n%s", got.Text())
			}
		})
	}
}

func TestDraw_WhatCannotBeDrawnIsASignAndWhatControlsIsNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\x00b\x07c\u202Ed\u200Be": "abcde",
		"Ann 👩‍👩‍👧‍👦 ok":            "Ann \uFFFD ok",
		"like 👍🏽!":                  "like \uFFFD!",
		"a\xffb":                    "a\uFFFDb",
		"one\ttwo\u00a0three":       "one two three",
		"Łukasz Ñandú Ωmega Жук":    "Łukasz Ñandú Ωmega Жук",
		"e\u0301":                   "é",
		`a(b)c\d`:                   `a(b)c\d`,
	} {
		got := draw(t, func(s *paper.Sheet) { s.Text(text, paper.Style{}) })
		if got[0].Text != want {
			t.Errorf("%q is drawn as %q, want %q", text, got[0].Text, want)
		}
	}
}

func TestDraw_TextFromTheRightIsInTheOrderOfReading(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"שלום":             "םולש",
		"Ms שלום כהן":      "Ms ןהכ םולש",
		"שלום 123":         "123 םולש",
		"abc שלום 123 def": "abc 123 םולש def",
		"שלום (abc)":       "(abc) םולש",
		"abc (שלום)":       "abc (םולש)",
		// joined: meem at the beginning, hah and meem in the middle, dal at the end
		"محمد": "\uFEAA\uFEE4\uFEA4\uFEE3",
		// lam and alef make one letter; seen at the beginning, meem alone behind an alef
		"سلام":     "\uFEE1\uFEFC\uFEB3",
		"علي":      "\uFEF2\uFEE0\uFECB",
		"Ali علي!": "Ali \uFEF2\uFEE0\uFECB!",
	} {
		got := draw(t, func(s *paper.Sheet) { s.Text(text, paper.Style{}) })
		if got[0].Text != want {
			t.Errorf("%q is drawn as %+q, want %+q", text, got[0].Text, want)
		}
	}
}

func TestDraw_AStampIsOnEveryPage(t *testing.T) {
	t.Parallel()
	stamped := about
	stamped.Stamp = "VOIDED"
	pdf, err := press.Draw(t.Context(), stamped, func(s *paper.Sheet) {
		s.Text(strings.Repeat("line\n", 100), paper.Style{})
	})
	if err != nil {
		t.Fatal(err)
	}
	got := papertest.Read(t, pdf)
	stamps := 0
	for _, p := range got {
		if p.Text == "VOIDED" {
			stamps++
		}
	}
	if got.Pages() != 2 || stamps != 2 {
		t.Errorf("%d stamps on %d pages", stamps, got.Pages())
	}
}

func TestDraw_TheNamesOfAFileMayHaveAnyLetters(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Net 👍🏽", "a\xf0", "a\xe2\x82", "(شبكة)", "a\x00\\b", ""} {
		named := paper.About{Title: name, Author: name, Running: name}
		pdf, err := press.Draw(t.Context(), named, func(s *paper.Sheet) {
			s.Text(name+"\nbehind", paper.Style{})
		})
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if !papertest.Read(t, pdf).Has("behind") {
			t.Errorf("%q: the text is missing", name)
		}
	}
}

func TestDraw_NothingIsDrawnForACallerWhoHasGone(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	drawn := false
	if _, err := press.Draw(gone, about, func(*paper.Sheet) { drawn = true }); err == nil || drawn {
		t.Errorf("drawn: %t, %v", drawn, err)
	}
}

// BenchmarkDraw_Statement draws a statement of 5,000 lines.
func BenchmarkDraw_Statement(b *testing.B) {
	for b.Loop() {
		pdf, err := press.Draw(b.Context(), about, func(s *paper.Sheet) {
			s.Table(columns, func(yield func([]string) bool) {
				for n := range 5000 {
					if !yield([]string{fmt.Sprintf("Payment QGH%07d by paybill", n), "1", "1,500.00"}) {
						return
					}
				}
			})
		})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(pdf)), "bytes")
	}
}
