package sheet

import (
	"bytes"
	"encoding/csv"
	"fmt"
)

// Written makes a table for spreadsheets, with CRLF at the ends of its lines (RFC 4180). Texts that a spreadsheet would
// take for a formula are disarmed.
func Written(header []string, rows [][]string) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	if err := w.Write(header); err != nil {
		return nil, fmt.Errorf("write table: %w", err)
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, text := range row {
			cells[i] = Disarmed(text)
		}
		if err := w.Write(cells); err != nil {
			return nil, fmt.Errorf("write table: %w", err)
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}
