// Package papertest reads the texts of documents back, as they were put on their pages.
package papertest

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// Piece is a text that was drawn at once, such as a line of a cell. Its characters are in the order from left to right.
type Piece struct {
	Page int     // from 1
	X, Y float64 // of its beginning, in points from the lower left corner
	Text string
}

// Pieces are the texts of a document in the order in which they were drawn.
type Pieces []Piece

// stream matches the beginning of a stream of bytes with its length.
var stream = regexp.MustCompile(`/Length (\d+)[^\n]*>>\nstream\n`)

// Read takes the texts out of a document of package paper. It knows only the form in which that package writes.
func Read(t testing.TB, pdf []byte) Pieces {
	t.Helper()
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || !bytes.Contains(pdf, []byte("%%EOF")) {
		t.Fatalf("no PDF: %.40q", pdf)
	}
	var out Pieces
	page := 0
	for _, at := range stream.FindAllSubmatchIndex(pdf, -1) {
		length, err := strconv.Atoi(string(pdf[at[2]:at[3]]))
		if err != nil || at[1]+length > len(pdf) {
			t.Fatalf("a stream of %q bytes", pdf[at[2]:at[3]])
		}
		content := unpacked(pdf[at[1] : at[1]+length])
		if !bytes.Contains(content, []byte(" Tf ET")) {
			continue // a font, or an image
		}
		page++
		out = append(out, pieces(page, content)...)
	}
	return out
}

// Box is a filled rectangle, in points from the lower left corner; its height goes downwards when it is negative.
type Box struct{ X, Y, Width, Height float64 }

// filled matches a filled rectangle.
var filled = regexp.MustCompile(`(?m)^(-?[\d.]+) (-?[\d.]+) (-?[\d.]+) (-?[\d.]+) re f$`)

// Boxes takes the filled rectangles out of a document of package paper, in the order in which they were drawn.
func Boxes(t testing.TB, pdf []byte) (boxes []Box) {
	t.Helper()
	for _, at := range stream.FindAllSubmatchIndex(pdf, -1) {
		for _, m := range filled.FindAllSubmatch(unpacked(pdf[at[1]:]), -1) {
			var n [4]float64
			for i := range n {
				n[i], _ = strconv.ParseFloat(string(m[i+1]), 64)
			}
			boxes = append(boxes, Box{n[0], n[1], n[2], n[3]})
		}
	}
	return boxes
}

// unpacked is the content of a stream, nil for one of another kind.
func unpacked(packed []byte) []byte {
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	return content
}

// drawn matches a drawn text up to its characters.
var drawn = regexp.MustCompile(`BT (-?[\d.]+) (-?[\d.]+) Td \(`)

// pieces reads the texts of a page.
func pieces(page int, content []byte) (out Pieces) {
	for _, at := range drawn.FindAllSubmatchIndex(content, -1) {
		x, _ := strconv.ParseFloat(string(content[at[2]:at[3]]), 64)
		y, _ := strconv.ParseFloat(string(content[at[4]:at[5]]), 64)
		out = append(out, Piece{Page: page, X: x, Y: y, Text: characters(content[at[1]:])})
	}
	return out
}

// characters reads UTF-16 up to the closing parenthesis.
func characters(text []byte) string {
	var plain []byte
	for i := 0; i < len(text) && text[i] != ')'; i++ {
		if text[i] == '\\' {
			i++
			if text[i] == 'r' {
				plain = append(plain, '\r')
				continue
			}
		}
		plain = append(plain, text[i])
	}
	units := make([]uint16, len(plain)/2)
	for i := range units {
		units[i] = uint16(plain[2*i])<<8 | uint16(plain[2*i+1])
	}
	return string(utf16.Decode(units))
}

// Pages is how many pages there are.
func (p Pieces) Pages() int {
	most := 0
	for _, piece := range p {
		most = max(most, piece.Page)
	}
	return most
}

// Text is all text, with the pieces of one height on one line.
func (p Pieces) Text() string {
	sorted := slices.Clone(p)
	slices.SortStableFunc(sorted, func(a, b Piece) int {
		switch {
		case a.Page != b.Page:
			return a.Page - b.Page
		case a.Y != b.Y:
			return int(100 * (b.Y - a.Y))
		}
		return int(100 * (a.X - b.X))
	})
	var out strings.Builder
	for i, piece := range sorted {
		switch {
		case i == 0:
		case piece.Page == sorted[i-1].Page && piece.Y == sorted[i-1].Y:
			out.WriteString(" | ")
		default:
			out.WriteString("\n")
		}
		out.WriteString(piece.Text)
	}
	return out.String()
}

// Has reports whether a line has these cells side by side.
func (p Pieces) Has(cells ...string) bool {
	want := strings.Join(cells, " | ")
	for line := range strings.SplitSeq(p.Text(), "\n") {
		if line == want || strings.HasPrefix(line, want+" | ") || strings.HasSuffix(line, " | "+want) ||
			strings.Contains(line, " | "+want+" | ") {
			return true
		}
	}
	return false
}
