package mobilemoney

import "testing"

// TestTakesInRow_ACommaBehindALineBreakIsPartOfItsCell, while a row that a stray quote has taken in is found.
func TestTakesInRow_ACommaBehindALineBreakIsPartOfItsCell(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]bool{
		"Plot 4\n, Ngong Rd": false, "Acc. 10000016\r\n,": false, "one line, and a comma": false, "two\nlines": false,
		"rent, may\nSAB1CD2EF3,2026-05-01 10:00:00": true, "x\nSAB1CD2EF3": false, "x\n0711000001, Amina": false,
	} {
		if got := takesInRow(cell, ','); got != want {
			t.Errorf("%q: %v", cell, got)
		}
	}
}
