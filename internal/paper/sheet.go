package paper

import (
	"fmt"
	"iter"

	"codeberg.org/go-pdf/fpdf"
)

// Measures of a page in points; A4 is 595.28 wide and 841.89 high.
const (
	pageWidth  = 595.28
	pageHeight = 841.89
	margin     = 48.0
	inside     = pageWidth - 2*margin // the width for content
	bottom     = pageHeight - 60      // where content ends
	footer     = pageHeight - 32      // the base line of the number of the page
	leading    = 1.35                 // the height of a line to the size of its letters
	padding    = 3.0                  // above and below the lines of a row
	gutter     = 8.0                  // between two columns
)

// Style is how a text looks. The zero size is that of the body.
type Style struct {
	Size  float64 // in points
	Bold  bool
	Quiet bool // gray
}

// bodySize is the size of letters where a style does not say another one.
const bodySize = 9

// size is the size of the letters in points.
func (s Style) size() float64 {
	if s.Size == 0 {
		return bodySize
	}
	return s.Size
}

// height of a line in points.
func (s Style) height() float64 { return s.size() * leading }

// Line is a text with its style. One that is too wide becomes several lines.
type Line struct {
	Text  string
	Style Style
}

// Column describes a column of a table.
type Column struct {
	Title string
	Share float64 // of the width, among the shares of all columns
	Right bool    // amounts stand at the right
}

// Sum is a line below a table: a name and an amount.
type Sum struct {
	Name, Amount string
	Strong       bool
}

// Sheet takes the content of one document from top to bottom and begins new pages by itself. Not safe for concurrent
// use.
type Sheet struct {
	pdf   *fpdf.Fpdf
	faces faces
	about About
	y     float64 // the upper end of what comes next
}

// turn begins a page.
func (s *Sheet) turn() {
	s.pdf.AddPage()
	s.stamp()
	s.y = margin
	if s.pdf.PageNo() > 1 && s.about.Running != "" {
		s.Text(s.about.Running, Style{Quiet: true})
		s.y += gutter
	}
}

// stamp puts the stamp across the page, below everything else.
func (s *Sheet) stamp() {
	if s.about.Stamp == "" {
		return
	}
	const size, turned = 110, 50.0
	x, y := pageWidth/2, pageHeight/2
	text := []rune(s.about.Stamp)
	s.pdf.TransformBegin()
	s.pdf.TransformRotate(turned, x, y)
	s.pdf.SetFont(fontName, "B", size)
	s.pdf.SetTextColor(246, 208, 208)
	s.pdf.Text(x-s.faces[true].width(text, size)/2, y+size/3, string(text))
	s.pdf.TransformEnd()
}

// finish numbers the pages, when all of them are there.
func (s *Sheet) finish() {
	pages := s.pdf.PageCount()
	for n := 1; n <= pages; n++ {
		s.pdf.SetPage(n)
		text := []rune(fmt.Sprintf("Page %d of %d", n, pages))
		style := Style{Size: 8, Quiet: true}
		s.put(text, style, pageWidth-margin-s.faces[false].width(text, style.size()), footer)
	}
}

// put draws one line as it is; y is its base line.
func (s *Sheet) put(line []rune, style Style, x, y float64) {
	weight := ""
	if style.Bold {
		weight = "B"
	}
	gray := 20
	if style.Quiet {
		gray = 110
	}
	s.pdf.SetFont(fontName, weight, style.size())
	s.pdf.SetTextColor(gray, gray, gray)
	s.pdf.Text(x, y, string(line))
}

// cell is the room for a line between two columns, in points.
type cell struct {
	x, width float64
	right    bool // the line ends at the right end
}

// place draws one line of a cell; y is its base line.
func (s *Sheet) place(line []rune, style Style, in cell, y float64) {
	x := in.x
	if in.right {
		x += in.width - s.faces[style.Bold].width(line, style.size())
	}
	s.put(line, style, x, y)
}

// room begins a page when the rest of this one is lower than a height, unless no page is that high. It reports whether
// it did.
func (s *Sheet) room(height float64) bool {
	if s.y+height <= bottom || height > bottom-2*margin && s.y+bodySize*leading <= bottom {
		return false
	}
	s.turn()
	return true
}

// wrapped draws a text in as many lines as it takes.
func (s *Sheet) wrapped(text string, style Style, in cell) {
	for _, line := range s.faces[style.Bold].lines(text, style.size(), in.width) {
		s.room(style.height())
		s.place(line, style, in, s.y+style.size())
		s.y += style.height()
	}
}

// Text puts a text over the whole width.
func (s *Sheet) Text(text string, style Style) {
	s.wrapped(text, style, cell{x: margin, width: inside})
}

// Space leaves a gap of a height in points.
func (s *Sheet) Space(height float64) { s.y += height }

// Sides puts lines at the left and others at the right, side by side on one base line.
func (s *Sheet) Sides(left, right []Line) {
	const share = 0.56 // of the left side
	sides := [2]cell{
		{x: margin, width: inside*share - gutter}, {x: margin + inside*share, width: inside * (1 - share), right: true},
	}
	lines := [2][]placed{s.broken(left, sides[0].width), s.broken(right, sides[1].width)}
	for i := range max(len(lines[0]), len(lines[1])) {
		size := 0.0
		for _, side := range lines {
			if i < len(side) {
				size = max(size, side[i].style.size())
			}
		}
		s.room(size * leading)
		for n, side := range lines {
			if i < len(side) {
				s.place(side[i].line, side[i].style, sides[n], s.y+size)
			}
		}
		s.y += size * leading
	}
}

// placed is a line as it is drawn, with its style.
type placed struct {
	line  []rune
	style Style
}

// broken breaks lines that are too wide.
func (s *Sheet) broken(lines []Line, width float64) []placed {
	var out []placed
	for _, l := range lines {
		for _, line := range s.faces[l.Style.Bold].lines(l.Text, l.Style.size(), width) {
			out = append(out, placed{line, l.Style})
		}
	}
	return out
}

// Table puts rows below a head, which is repeated on every page. A row stays on one page when a page has room for it.
func (s *Sheet) Table(columns []Column, rows iter.Seq[[]string]) {
	t := table{sheet: s, columns: columns, widths: widthsOf(columns)}
	s.room(3 * t.height()) // a head alone at the end of a page heads nothing
	t.head()
	for cells := range rows {
		t.row(cells)
	}
	s.y += gutter
}

// Sums puts names and amounts at the right, one below the other and all on one page.
func (s *Sheet) Sums(sums []Sum) {
	s.room(float64(len(sums)) * Style{}.height())
	const names, amounts = 300.0, 130.0
	for _, sum := range sums {
		style := Style{Bold: sum.Strong}
		top := s.y
		s.wrapped(sum.Amount, style, cell{pageWidth - margin - amounts, amounts, true})
		after := s.y
		s.y = top
		s.wrapped(sum.Name, style, cell{pageWidth - margin - amounts - names - gutter, names, true})
		s.y = max(s.y, after)
	}
}
