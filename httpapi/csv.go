package httpapi

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// contentCSV is the type of tables for spreadsheets.
const contentCSV = "text/csv; charset=utf-8"

// SendCSV answers with a table as a file of a name. Texts that a spreadsheet would take for a formula are disarmed
// (docs/rules/http.md#tables).
func (c *Call) SendCSV(file string, header []string, rows [][]string) error {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true // RFC 4180
	if err := w.Write(header); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, text := range row {
			cells[i] = disarmed(text)
		}
		if err := w.Write(cells); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	w.Flush()
	c.Writer.Header().Set("Content-Disposition", `attachment; filename="`+file+`"`)
	c.SendBytes(200, contentCSV, out.Bytes())
	return nil
}

// formula are the characters with which a text begins that a spreadsheet would calculate: those of a formula, in their
// full width as Asian keyboards write them too, and those that a spreadsheet skips or takes for the end of a cell.
const formula = "=+-@＝＋－＠\t\r\n;"

// disarmed puts an apostrophe before a text that a spreadsheet would calculate, also behind spaces. Plain numbers stay
// numbers.
func disarmed(text string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, " \u00a0\u3000"))
	if first == utf8.RuneError || !strings.ContainsRune(formula, first) || plainNumber(text) {
		return text
	}
	return "'" + text
}

// plainNumber reports whether a text is digits with a sign and a point at most.
func plainNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && strings.Trim(text, "+-.0123456789") == ""
}
