// Package sheet reads tables of text as spreadsheets and other programs write them, in any usual encoding and with any
// usual separator. It knows nothing of what the columns mean.
package sheet

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// Limits of a table. What is longer is no table that somebody can look at.
const (
	MaxColumns = 200
	MaxCell    = 10_000 // bytes
)

// Faults of a whole table, and of single rows.
var (
	// ErrUnreadable is for bytes that are no text in a known encoding.
	ErrUnreadable = errors.New("no text in a known encoding")
	// ErrEmpty is for a table without a header.
	ErrEmpty = errors.New("no header")
	// ErrQuotes is for a row with a quote that is not closed, or that stands inside a cell.
	ErrQuotes = errors.New("a quote that is not closed or stands inside a cell")
	// ErrTooWide is for a row with too many cells or too long ones.
	ErrTooWide = errors.New("too many cells, or a cell that is too long")
)

// Reader gives the rows of a table in their order. Not safe for concurrent use.
type Reader struct {
	Header []string // without spaces around the names
	rows   records
	row    int
}

// separators are the characters that separate cells, in the order in which equal counts are decided.
const separators = ",;\t|"

// Open finds encoding and separator and reads the header, which is the first row that is not empty, or the one after a
// line such as "sep=;", in which Excel has its separator. Fails: ErrUnreadable, ErrEmpty, ErrQuotes,
// ErrTooWide.
func Open(body []byte) (*Reader, error) {
	text, err := decoded(body)
	if err != nil {
		return nil, err
	}
	separator, declared := separatorOf(text)
	r := &Reader{rows: records{text: lineEnds(text), separator: separator}}
	header, _, err := r.Next()
	if declared && err == nil {
		header, _, err = r.Next()
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, ErrEmpty
	case err != nil:
		return nil, err
	}
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	r.Header = header
	return r, nil
}

// Next gives the cells of the next row that is not empty, and its number as a spreadsheet counts. io.EOF ends the
// table; after another fault the rows that follow can still be read.
func (r *Reader) Next() (cells []string, row int, err error) {
	for {
		cells, err := r.rows.next()
		if errors.Is(err, io.EOF) {
			return nil, r.row, err
		}
		r.row++
		if err != nil || !blank(cells) {
			return cells, r.row, err
		}
	}
}

// blank reports whether no cell has a character.
func blank(cells []string) bool {
	for _, c := range cells {
		if strings.TrimSpace(c) != "" {
			return false
		}
	}
	return true
}

// separatorOf is the character that occurs most often in the first line outside of quotes, as far as a row can be long,
// or the one that the first line declares.
func separatorOf(text []byte) (separator byte, declared bool) {
	text = bytes.TrimLeft(text, " \r\n")
	for i := range len(separators) {
		line := "sep=" + separators[i:i+1]
		if len(text) > len(line) && strings.EqualFold(string(text[:len(line)]), line) && bytes.IndexByte(
			[]byte("\r\n"), text[len(line)]) >= 0 {
			return separators[i], true
		}
	}
	var counts [256]int
	quoted := false
	for _, b := range text[:min(len(text), MaxColumns*MaxCell)] {
		if b == '"' {
			quoted = !quoted
		}
		if !quoted && (b == '\n' || b == '\r') {
			break
		}
		if !quoted {
			counts[b]++
		}
	}
	best := separators[0]
	for i := range len(separators) {
		if counts[separators[i]] > counts[best] {
			best = separators[i]
		}
	}
	return best, false
}

// lineEnds makes a line feed of each carriage return that stands alone, as old spreadsheets write it.
func lineEnds(text []byte) []byte {
	if bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte{'\r'}, []byte{'\n'})
}

// decoded is the text in UTF-8, without a mark of its encoding. A text without a mark that is not UTF-8 is taken as
// Windows-1252, the encoding of spreadsheets that do not ask.
func decoded(body []byte) ([]byte, error) {
	utf16 := utf16Of(body)
	switch {
	case bytes.HasPrefix(body, []byte{0xEF, 0xBB, 0xBF}):
		body = body[3:]
	case utf16 != nil:
		text, err := fromUTF16(body, utf16)
		if err != nil {
			return nil, err
		}
		body = text
	}
	if !utf8.Valid(body) {
		body = fromWindows1252(body)
	}
	if bytes.IndexByte(body, 0) >= 0 {
		return nil, ErrUnreadable
	}
	return body, nil
}
