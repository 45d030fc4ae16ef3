// Package paper puts texts, tables and sums on pages of A4, as PDF (docs/adr/0026-documents-are-drawn-by-a-library.md).
// It draws letters of any direction in the order in which people read them, and the same content gives the same bytes.
package paper

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-fonts/dejavu/dejavusans"
	"github.com/go-fonts/dejavu/dejavusansbold"
)

// Press draws documents. Its fonts are read with the first one. It draws as many at a time as are asked for: whoever
// lets others ask bounds them before the content is read. Safe for concurrent use.
type Press struct{ faces func() (faces, error) }

// NewPress makes a press that has drawn nothing.
func NewPress() *Press {
	return &Press{faces: sync.OnceValues(readFaces)}
}

// faces are the fonts of a document, by Style.Bold.
type faces map[bool]*face

// readFaces reads which letters the fonts have, and how wide they are.
func readFaces() (faces, error) {
	plain, err := newFace(dejavusans.TTF)
	if err != nil {
		return nil, fmt.Errorf("read the plain font: %w", err)
	}
	bold, err := newFace(dejavusansbold.TTF)
	if err != nil {
		return nil, fmt.Errorf("read the bold font: %w", err)
	}
	return faces{false: plain, true: bold}, nil
}

// About says what a document is, beside its pages.
type About struct {
	Title   string    // also of the window in which it is shown
	Author  string    // the organization
	Running string    // at the head of every page but the first
	Stamp   string    // across every page, such as VOIDED; "" = none
	At      time.Time // from which the file has its date: the same document has the same bytes whenever it is drawn
}

// Draw makes a document: write puts its content on the sheet, from top to bottom. Nothing is drawn for a caller who has
// gone.
func (p *Press) Draw(ctx context.Context, about About, write func(*Sheet)) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("draw a document: %w", context.Cause(ctx))
	}
	fonts, err := p.faces()
	if err != nil {
		return nil, err
	}
	// The library takes letters of two bytes alone, in the names of a file too.
	about.Title = string(clean(about.Title, fonts[false]))
	about.Author = string(clean(about.Author, fonts[false]))
	s := &Sheet{pdf: newFile(about), faces: fonts, about: about}
	s.turn()
	write(s)
	s.finish()
	var out bytes.Buffer
	if err := s.pdf.Output(&out); err != nil {
		return nil, fmt.Errorf("write the document: %w", err)
	}
	return out.Bytes(), nil
}

// fontName is the name of both fonts in the file; the bold one is its style "B".
const fontName = "text"

// newFile begins a file of A4 pages, measured in points from the upper left corner.
func newFile(about About) *fpdf.Fpdf {
	pdf := fpdf.New("P", "pt", "A4", "")
	pdf.SetCatalogSort(true) // the order of a map would change the bytes
	pdf.SetCreationDate(about.At.UTC())
	pdf.SetModificationDate(about.At.UTC())
	pdf.SetProducer("Lastmile", true)
	pdf.SetTitle(about.Title, true)
	pdf.SetAuthor(about.Author, true)
	pdf.SetLang("en")
	pdf.SetAutoPageBreak(false, 0)
	pdf.SetMargins(0, 0, 0)
	pdf.AddUTF8FontFromBytes(fontName, "", dejavusans.TTF)
	pdf.AddUTF8FontFromBytes(fontName, "B", dejavusansbold.TTF)
	return pdf
}
