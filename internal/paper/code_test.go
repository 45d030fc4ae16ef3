package paper_test

import (
	"math"
	"strings"
	"testing"

	"rsc.io/qr"

	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/internal/paper/papertest"
)

// Each black module is drawn in its place, and nothing else is black: a phone reads what was encoded.
func TestCode_HasEveryModuleInItsPlace(t *testing.T) {
	t.Parallel()
	const side = 84.0
	const text = "https://tax.example/verify?pin=P051234567A&control=KRACU040001-000123"
	pdf, err := press.Draw(t.Context(), about, func(s *paper.Sheet) {
		s.Code(text, side, []paper.Line{{Text: "Control number: KRACU040001-000123"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	want, err := qr.Encode(text, qr.M)
	if err != nil {
		t.Fatal(err)
	}
	module := side / float64(want.Size+8)
	boxes := papertest.Boxes(t, pdf)
	if len(boxes) == 0 {
		t.Fatal("nothing was drawn")
	}
	left, top := math.Inf(1), math.Inf(-1)
	for _, b := range boxes {
		left, top = min(left, b.X), max(top, b.Y, b.Y+b.Height)
	}
	black := map[[2]int]bool{}
	for _, b := range boxes {
		x, row := int(math.Round((b.X-left)/module)), int(math.Round((top-max(b.Y, b.Y+b.Height))/module))
		for n := range int(math.Round(b.Width / module)) {
			black[[2]int{x + n, row}] = true
		}
	}
	for row := range want.Size {
		for x := range want.Size {
			if black[[2]int{x, row}] != want.Black(x, row) {
				t.Fatalf("module %d of row %d is wrong", x, row)
			}
		}
	}
	if got := papertest.Read(t, pdf); !got.Has("Control number: KRACU040001-000123") {
		t.Errorf("no line beside it: %s", got.Text())
	}
}

// What no code can hold leaves the lines, and the document is made.
func TestCode_OfATextThatIsTooLongLeavesItsLines(t *testing.T) {
	t.Parallel()
	pdf, err := press.Draw(t.Context(), about, func(s *paper.Sheet) {
		s.Code(strings.Repeat("x", 5000), 84, []paper.Line{{Text: "Control number: C1"}})
	})
	if err != nil || len(papertest.Boxes(t, pdf)) > 0 || !papertest.Read(t, pdf).Has("Control number: C1") {
		t.Errorf("%v, %d boxes", err, len(papertest.Boxes(t, pdf)))
	}
}
