package mobilemoney

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Bounds of a file: of one line in bytes, of its rows, and of the lines above its header.
const (
	maxLine  = 16 << 10
	maxRows  = 200_000
	maxAbove = 60
)

// table is a file with a header: its rows by the titles of its columns.
type table struct {
	above [][]string // the lines above the header
	rows  []tableRow
}

// tableRow is one row below the header.
type tableRow struct {
	number int // of the line in the file where it begins, from 1
	cells  []string
	column map[string]int
}

// cell gives the content of a column, trimmed; "" for a column that the file does not have. The apostrophe with which
// tables keep programs from reading a formula is no part of it.
func (r tableRow) cell(title string) string {
	at, ok := r.column[title]
	if !ok || at >= len(r.cells) {
		return ""
	}
	return harmless(strings.TrimPrefix(strings.TrimSpace(r.cells[at]), "'"))
}

// titleKey is the title of a column in small letters, without anything else.
func titleKey(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// readTable reads CSV in UTF-8, UTF-16 or Windows-1252, with commas, semicolons, tabs or bars, that has a header with
// the needed columns. It fails with failure.Invalid.
func readTable(file []byte, columns map[string]bool) (table, error) {
	text, err := decodeText(file)
	if err != nil {
		return table{}, err
	}
	if err := checkLines(text); err != nil {
		return table{}, err
	}
	var missing []string
	for _, separator := range ",;\t|" {
		t, without, err := parseTable(text, separator, columns)
		if err != nil || without == nil {
			return t, err
		}
		if missing == nil || len(without) < len(missing) {
			missing = without
		}
	}
	var faults failure.Faults
	for _, title := range []string{"Receipt No.", "Completion Time", "Paid In", "Withdrawn"} {
		for _, key := range missing {
			if titleKey(title) == key {
				faults.Add("file", fmt.Sprintf("has no column %q", title))
			}
		}
	}
	return table{}, faults.Err()
}

// checkLines refuses a file of one endless line, or of too many, before anything is read.
func checkLines(text string) error {
	rows := 0
	for rest := text; rest != ""; rows++ {
		line, after, _ := strings.Cut(rest, "\n")
		if len(line) > maxLine {
			return failure.NewInvalid("invalid_input", fmt.Sprintf("file has a line of more than %d bytes: row %d",
				maxLine, rows+1))
		}
		rest = after
	}
	if rows > maxRows {
		return failure.NewInvalid("invalid_input", fmt.Sprintf("file has more than %d rows", maxRows))
	}
	return nil
}

// parseTable reads the file with one separator. missing has the needed columns that no line near the top has; nil = the
// header was found.
func parseTable(text string, separator rune, columns map[string]bool) (t table, missing []string, err error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = separator, true, -1, false
	var column map[string]int
	best := needed(columns, nil)
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			return t, nil, failure.NewInvalid("invalid_input", fmt.Sprintf("file cannot be read as CSV: row %d", line))
		}
		if column != nil {
			t.rows = append(t.rows, tableRow{number: line, cells: cells, column: column})
			continue
		}
		titles := map[string]int{}
		for i, cell := range cells {
			key := titleKey(cell)
			if _, wanted := columns[key]; wanted {
				if _, twice := titles[key]; !twice {
					titles[key] = i
				}
			}
		}
		without := needed(columns, titles)
		if len(without) == 0 {
			column, best = titles, nil
			continue
		}
		if len(without) < len(best) {
			best = without
		}
		if t.above = append(t.above, cells); len(t.above) > maxAbove {
			break
		}
	}
	return t, best, nil
}

// needed lists the needed columns that are not among the titles.
func needed(columns map[string]bool, titles map[string]int) (list []string) {
	for key, must := range columns {
		if _, has := titles[key]; must && !has {
			list = append(list, key)
		}
	}
	return list
}

// decodeText gives the file in UTF-8: by its byte order mark, as UTF-8, or else as Windows-1252, which every byte is.
func decodeText(file []byte) (string, error) {
	switch {
	case bytes.HasPrefix(file, []byte{0xef, 0xbb, 0xbf}):
		file = file[3:]
	case bytes.HasPrefix(file, []byte{0xff, 0xfe}):
		return fromUTF16(file[2:], binary.LittleEndian), nil
	case bytes.HasPrefix(file, []byte{0xfe, 0xff}):
		return fromUTF16(file[2:], binary.BigEndian), nil
	}
	if bytes.IndexByte(file, 0) >= 0 {
		return "", failure.NewInvalid("invalid_input", "file is no text: save it as CSV")
	}
	if utf8.Valid(file) {
		return string(file), nil
	}
	var b strings.Builder
	for _, c := range file {
		if c >= 0x80 && c < 0xa0 {
			b.WriteRune(windows1252[c-0x80])
		} else {
			b.WriteRune(rune(c))
		}
	}
	return b.String(), nil
}

// fromUTF16 decodes two bytes each.
func fromUTF16(file []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(file)/2)
	for i := range units {
		units[i] = order.Uint16(file[2*i:])
	}
	return string(utf16.Decode(units))
}

// windows1252 has the characters from 0x80 to 0x9f, where that encoding differs from the first block of Unicode.
var windows1252 = [32]rune{
	'€', utf8.RuneError, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', utf8.RuneError, 'Ž', utf8.RuneError,
	utf8.RuneError, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', utf8.RuneError, 'ž', 'Ÿ',
}
