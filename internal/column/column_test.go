package column_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/internal/column"
)

// TestTitle_OfOneMeaningIsEqual whatever currency, case, brackets, spaces and invisible signs it has.
func TestTitle_OfOneMeaningIsEqual(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Paid In": "paidin", "PAID IN (KSHs)": "paidin", "paid_in": "paidin", " Paid\u00a0In [KES] ": "paidin",
		"\ufeffPaid\u200b In": "paidin", "Paid-In (Ksh.)": "paidin", "Paid In KES": "paidin", "PaidIn(USD)": "paidin",
		"A/C No.": "acno", "Address 2": "address2", "": "", "(KES)": "", "Cash": "cash", "Share": "share",
		"Paid In (gross)": "paidingross", "Débit": "débit",
	} {
		if got := column.Title(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestClean_LeavesWhatAPersonSees.
func TestClean_LeavesWhatAPersonSees(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		" a \t b ": "a b", "\u202a0711\u2011500\u202f001\u202c": "0711-500 001",
		"\ufeff\u200b": "", "5 \u2212 3": "5 - 3",
	} {
		if got := column.Clean(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
