package commands_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// TestReadIdentifier_APastedAddressIsTheTypedOne: a customer who pastes an address signs in with it, and one whose
// number lacks a digit is told so, since no code can come.
func TestReadIdentifier_APastedAddressIsTheTypedOne(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\u202a+254 711\u2011000\u2011100\u202c": "+254711000100", "+254 (0) 711 000100": "+254711000100",
		"\ufeffAmina@Example.com\u200b": "amina@example.com", "\u00a0amina@example.com ": "amina@example.com",
	} {
		if got, _, err := commands.ReadIdentifier(text); got != want || err != nil {
			t.Errorf("%+q is %q, %v", text, got, err)
		}
	}
	_, _, err := commands.ReadIdentifier("+25471100010")
	if failure.CodeOf(err) != "invalid_input" || !strings.Contains(err.Error(), "must have 9 digits after +254") {
		t.Errorf("a number that lacks a digit: %v", err)
	}
}

// TestNormal_WhatIsPastedIsWhatIsTyped: the forms in which the values of a customer are compared and stored.
func TestNormal_WhatIsPastedIsWhatIsTyped(t *testing.T) {
	t.Parallel()
	for form, c := range map[string]struct {
		normal     func(string) string
		text, want string
	}{
		"alias": {commands.NormalAlias, "\u200eold\u2011１２3\u202c", "OLD123"},
		"pin":   {commands.NormalTaxPIN, "\ufeffa0 12\u00a034z", "A01234Z"},
		"mac":   {commands.NormalMAC, "\u202aaa\u2013bb\u2013cc\u2013dd\u2013ee\u20130f\u202c", "AA:BB:CC:DD:EE:0F"},
		"cash":  {commands.CashReference, "\u200bRB\u00a0 7\ufeff", "RB 7"},
	} {
		if got := c.normal(c.text); got != c.want {
			t.Errorf("%s: %+q is %+q; want %+q", form, c.text, got, c.want)
		}
	}
}
