package httpapi

import (
	"github.com/lastmile-isp/lastmile/internal/sheet"
)

// contentCSV is the type of tables for spreadsheets.
const contentCSV = "text/csv; charset=utf-8"

// SendCSV answers with a table as a file of a name. Texts that a spreadsheet would take for a formula are disarmed
// (docs/rules/http.md#tables).
func (c *Call) SendCSV(file string, header []string, rows [][]string) error {
	table, err := sheet.Written(header, rows)
	if err != nil {
		return err
	}
	c.Writer.Header().Set("Content-Disposition", `attachment; filename="`+file+`"`)
	c.SendBytes(200, contentCSV, table)
	return nil
}
