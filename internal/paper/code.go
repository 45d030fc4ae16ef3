package paper

import "rsc.io/qr"

// quietZone is the free room around a square code, in modules, without which no camera finds it.
const quietZone = 4

// Code puts a square code of a text at the left, with a side of a length in points, and lines beside it. A text that no
// square code can hold gives the lines alone.
func (s *Sheet) Code(text string, side float64, beside []Line) {
	x := margin
	s.room(side)
	top := s.y
	if code, err := qr.Encode(text, qr.M); err == nil {
		s.modules(code, x, top, side)
		x += side + gutter
	}
	s.y += side / 6
	for _, l := range beside {
		s.wrapped(l.Text, l.Style, cell{x: x, width: pageWidth - margin - x})
	}
	s.y = max(s.y, top+side)
}

// modules draws the black parts of a code as rectangles, which stay sharp in every size: one for each run in a row.
func (s *Sheet) modules(code *qr.Code, x, y, side float64) {
	module := side / float64(code.Size+2*quietZone)
	s.pdf.SetFillColor(0, 0, 0)
	for row := range code.Size {
		for from := 0; from < code.Size; from++ {
			to := from
			for to < code.Size && code.Black(to, row) {
				to++
			}
			if to > from {
				s.pdf.Rect(x+float64(quietZone+from)*module, y+float64(quietZone+row)*module,
					float64(to-from)*module, module, "F")
				from = to
			}
		}
	}
}
