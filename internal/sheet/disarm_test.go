package sheet_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/sheet"
)

// TestMeant_GivesWhatATableWasMadeOf, and takes no other apostrophe.
func TestMeant_GivesWhatATableWasMadeOf(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"=cmd|' /C calc'!A0", "+254712345678", "-5", "@home", "  =1", "'Abdi", "''", "'", "", "plain", "= ", "-",
		"＝1",
	} {
		table, err := sheet.Written([]string{"name"}, [][]string{{text}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := sheet.Open(table)
		if err != nil {
			t.Fatal(err)
		}
		cells, _, err := r.Next()
		if text == "" { // an empty line is no row
			continue
		}
		if err != nil || len(cells) != 1 || sheet.Meant(cells[0]) != text {
			t.Errorf("%q became %q, %v", text, strings.Join(cells, "|"), err)
		}
	}
}
