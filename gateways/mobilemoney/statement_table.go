package mobilemoney

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
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

// cell gives the content of a column, as a person sees it; "" for a column that the file does not have. The apostrophe
// with which tables keep programs from reading a formula is no part of it.
func (r tableRow) cell(name string) string {
	at, ok := r.column[name]
	if !ok || at >= len(r.cells) {
		return ""
	}
	return harmless(strings.TrimPrefix(column.Clean(r.cells[at]), "'"))
}

// blank reports whether no cell has a character.
func (r tableRow) blank() bool {
	return !slices.ContainsFunc(r.cells, func(s string) bool { return strings.TrimSpace(s) != "" })
}

// readTable reads CSV in UTF-8, UTF-16 or Windows-1252, with commas, semicolons, tabs or bars, that has a header with
// the needed columns. columns has the names of columns by their titles. It fails with failure.Invalid.
func readTable(file []byte, columns map[string]string, needed []string) (table, error) {
	text, err := decodeText(file)
	if err != nil {
		return table{}, err
	}
	if err := checkLines(text); err != nil {
		return table{}, err
	}
	var missing []string
	for _, separator := range ",;\t|" {
		t, without, err := parseTable(text, separator, columns, needed)
		if err != nil || without == nil {
			return t, err
		}
		if missing == nil || len(without) < len(missing) {
			missing = without
		}
	}
	var faults failure.Faults
	for _, name := range missing {
		faults.Add("file", fmt.Sprintf("has no column %q", name))
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
// header was found. Only what is below the header has to be well formed.
func parseTable(
	text string, separator rune, columns map[string]string, needed []string,
) (t table, missing []string, err error) {
	best := needed
	for number, rest := 1, text; rest != "" && len(t.above) <= maxAbove; number++ {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		cells := splitLine(line, separator)
		if cells == nil {
			continue
		}
		titles := titlesOf(cells, columns)
		without := missingOf(needed, titles)
		if len(without) == 0 {
			if currency := foreignCurrency(cells, titles); currency != "" {
				return t, nil, failure.NewInvalid("invalid_input", "file has amounts in "+string(currency))
			}
			t.rows, err = parseRows(rest, separator, tableRow{number: number, cells: cells, column: titles})
			return t, nil, err
		}
		if len(without) < len(best) {
			best = without
		}
		t.above = append(t.above, cells)
	}
	return t, best, nil
}

// splitLine gives the cells of one line at the top of a file, whatever its quotes are like; nil for an empty line.
func splitLine(line string, separator rune) []string {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	r := csv.NewReader(strings.NewReader(line))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = separator, true, -1
	cells, err := r.Read()
	if err != nil {
		return nil
	}
	return cells
}

// titlesOf gives the places of the known columns, by their names; of one that is there twice the first counts.
func titlesOf(cells []string, columns map[string]string) map[string]int {
	titles := map[string]int{}
	for i, cell := range cells {
		if name, wanted := columns[column.Title(cell)]; wanted {
			if _, twice := titles[name]; !twice {
				titles[name] = i
			}
		}
	}
	return titles
}

// foreignCurrency gives a currency other than KES in the title of a column that is read; "" for none.
func foreignCurrency(cells []string, titles map[string]int) money.Currency {
	for _, at := range titles {
		if c := column.TitleCurrency(cells[at]); c != "" && c != money.KES {
			return c
		}
	}
	return ""
}

// parseRows reads what is below a header. A row with more cells than the header, or with a quote that takes in a part
// of the row after it, is told: its amounts could be those of another column or payment. It fails with failure.Invalid.
func parseRows(text string, separator rune, header tableRow) (rows []tableRow, err error) {
	var faults failure.Faults
	fault := func(row int, text string) { faults.Add(fmt.Sprintf("row %d", row), text) }
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord = separator, -1
	for len(faults) <= statementFaults {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if wrong := new(csv.ParseError); errors.As(err, &wrong) {
			fault(header.number+wrong.StartLine, "has a quote that is not closed or stands inside a cell")
			break
		} else if err != nil {
			return nil, fmt.Errorf("read statement: %w", err)
		}
		line, _ := r.FieldPos(0)
		row := tableRow{number: header.number + line, cells: cells, column: header.column}
		switch {
		case row.blank():
			continue
		case len(cells) > len(header.cells):
			fault(row.number, "has more cells than the header")
		case slices.ContainsFunc(cells, func(s string) bool { return takesInRow(s, separator) }):
			fault(row.number, "has a cell that takes in another row")
		}
		rows = append(rows, row)
	}
	return rows, faults.Err()
}

// numberCell is a cell that has a receipt number alone, as each row of a statement has.
var numberCell = regexp.MustCompile(`^[A-Z][A-Z0-9]*[0-9][A-Z0-9]*$`)

// takesInRow reports whether a quote that is not closed where it should be has taken a part of the next row into a
// cell: a line behind a break has separators, and a receipt number between them. An address with line breaks has none.
func takesInRow(cell string, separator rune) bool {
	_, below, _ := strings.Cut(cell, "\n")
	if !strings.ContainsRune(below, separator) {
		return false
	}
	return slices.ContainsFunc(strings.FieldsFunc(below, func(r rune) bool { return r == separator || r == '\n' }),
		func(s string) bool {
			s = strings.TrimSpace(s)
			return len(s) == receiptNumberLength && numberCell.MatchString(s)
		})
}

// receiptNumberLength is the length of the provider's receipt numbers.
const receiptNumberLength = 10

// missingOf lists the needed columns that are not among the titles.
func missingOf(needed []string, titles map[string]int) (list []string) {
	for _, name := range needed {
		if _, has := titles[name]; !has {
			list = append(list, name)
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
