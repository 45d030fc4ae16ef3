package paper

import (
	"fmt"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// em is the size of a letter in the units of face.widths.
const em = 1000

// letters bounds the letters that can be drawn: PDF's text here has two bytes for each.
const letters = 0x10000

// absent stands for the width of a letter that the font does not have.
const absent = -1

// face says which letters a font has, and how wide they are in thousandths of its size.
type face struct{ widths []int16 }

// newFace reads a TrueType font.
func newFace(ttf []byte) (*face, error) {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	out := &face{widths: make([]int16, letters)}
	var buffer sfnt.Buffer
	for r := range out.widths {
		glyph, err := f.GlyphIndex(&buffer, rune(r))
		if err != nil {
			return nil, fmt.Errorf("find U+%04X: %w", r, err)
		}
		if glyph == 0 {
			out.widths[r] = absent
			continue
		}
		advance, err := f.GlyphAdvance(&buffer, glyph, fixed.I(em), font.HintingNone)
		if err != nil {
			return nil, fmt.Errorf("measure U+%04X: %w", r, err)
		}
		out.widths[r] = int16(advance.Round()) //nolint:gosec // a few thousand at most
	}
	return out, nil
}

// has reports whether the font can draw a letter.
func (f *face) has(r rune) bool { return r >= 0 && r < letters && f.widths[r] != absent }

// width of a text in points, at a size in points.
func (f *face) width(text []rune, size float64) float64 {
	sum := 0
	for _, r := range text {
		if f.has(r) {
			sum += int(f.widths[r])
		}
	}
	return float64(sum) * size / em
}
