package httpapi

import (
	"bytes"
	"encoding/csv"
	"fmt"

	"github.com/lastmile-isp/lastmile/internal/sheet"
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
			cells[i] = sheet.Disarmed(text)
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
