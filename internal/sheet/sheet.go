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
	// Guessed says that the bytes are no Unicode and no encoding was given: they are read as Windows-1252, which has a
	// character for nearly every byte. Names may be wrong.
	Guessed bool
	rows    records
	row     int
}

// separators are the characters that separate cells, in the order in which equal counts are decided.
const separators = ",;\t|"

// Open is OpenIn without an encoding.
func Open(body []byte) (*Reader, error) { return OpenIn(body, "") }

// OpenIn finds encoding and separator and reads the header, which is the first row that is not empty, or the one after
// a line such as "sep=;", in which Excel has its separator. encoding is that of a text that is no Unicode; "" = not
// known. Fails: ErrUnreadable, ErrEmpty, ErrQuotes, ErrTooWide.
func OpenIn(body []byte, encoding Encoding) (*Reader, error) {
	text, foreign, err := decoded(body, encoding)
	if err != nil {
		return nil, err
	}
	separator, declared := separatorOf(text)
	r := &Reader{
		rows: records{text: lineEnds(text), separator: separator}, Guessed: foreign && encoding == "",
	}
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

// decoded is the text in UTF-8, without a mark of its encoding. foreign says that it has no mark and is no UTF-8: then
// it is read in the given encoding, or in Windows-1252, that of spreadsheets that do not ask.
func decoded(body []byte, encoding Encoding) (text []byte, foreign bool, err error) {
	utf16 := utf16Of(body)
	switch {
	case bytes.HasPrefix(body, []byte{0xEF, 0xBB, 0xBF}):
		body = body[3:]
	case utf16 != nil:
		if body, err = fromUTF16(body, utf16); err != nil {
			return nil, false, err
		}
	}
	if foreign = !utf8.Valid(body); foreign {
		if body, err = fromEncoding(body, encoding); err != nil {
			return nil, true, ErrUnreadable
		}
	}
	if bytes.IndexByte(body, 0) >= 0 {
		return nil, foreign, ErrUnreadable
	}
	return body, foreign, nil
}
