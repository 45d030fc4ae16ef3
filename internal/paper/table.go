package paper

// table is a table while it is drawn.
type table struct {
	sheet   *Sheet
	columns []Column
	widths  []float64 // of the columns without their gutters, in points
}

// widthsOf shares the width of a page among columns.
func widthsOf(columns []Column) []float64 {
	all := 0.0
	for _, c := range columns {
		all += c.Share
	}
	widths := make([]float64, len(columns))
	free := inside - gutter*float64(len(columns)-1)
	for i, c := range columns {
		widths[i] = free * c.Share / all
	}
	return widths
}

// height of a row of one line.
func (t table) height() float64 { return Style{}.height() + 2*padding }

// head draws the titles of the columns.
func (t table) head() {
	s := t.sheet
	titles := make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.Title
	}
	cells, rows := t.cells(titles, true)
	high := float64(rows)*Style{}.height() + 2*padding
	s.pdf.SetFillColor(238, 238, 238)
	s.pdf.Rect(margin-padding, s.y, inside+2*padding, high, "F")
	s.y += padding
	for i := range rows {
		t.line(cells, i, Style{Bold: true})
	}
	s.y += padding
}

// cells breaks the texts of a row into lines, and counts the lines of the longest one.
func (t table) cells(texts []string, bold bool) (cells [][][]rune, rows int) {
	cells = make([][][]rune, len(t.columns))
	for i := range t.columns {
		cells[i] = t.sheet.faces[bold].lines(texts[i], bodySize, t.widths[i])
		rows = max(rows, len(cells[i]))
	}
	return cells, rows
}

// line draws one line of all cells.
func (t table) line(cells [][][]rune, n int, style Style) {
	x := margin
	for i, lines := range cells {
		if n < len(lines) {
			t.sheet.place(lines[n], style, cell{x, t.widths[i], t.columns[i].Right}, t.sheet.y+style.size())
		}
		x += t.widths[i] + gutter
	}
	t.sheet.y += style.height()
}

// row draws a row with a rule below it. One that is higher than a page goes on, below the head, on the next one.
func (t table) row(texts []string) {
	s := t.sheet
	cells, rows := t.cells(texts, false)
	if s.room(float64(rows)*Style{}.height() + 2*padding) {
		t.head()
	}
	s.y += padding
	for i := range rows {
		if s.room(Style{}.height()) {
			t.head()
			s.y += padding
		}
		t.line(cells, i, Style{})
	}
	s.y += padding
	s.pdf.SetDrawColor(215, 215, 215)
	s.pdf.SetLineWidth(0.4)
	s.pdf.Line(margin-padding, s.y, pageWidth-margin+padding, s.y)
}
