package commands_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Numbers of taxpayers differ by country: Kenya, Tanzania, Uganda and Rwanda.
func TestTaxPIN_IsOneOfAnyCountryAndNoSentence(t *testing.T) {
	t.Parallel()
	for typed, ok := range map[string]bool{
		"": true, " p051234567x ": true, "123-456-789": true, "100 012 3456": true, "40/2021/7": true,
		"A1": false, "none yet!": false, "=1+1": false, "0123456789012345678901234567890": false, "Ä1234": false,
	} {
		register := commands.RegisterSubscriber{
			AccountNumber: commands.AccountNumber(1), Details: events.SubscriberDetails{
				FirstName: personal.Of("Amina"), Phone: personal.Of("+254712345678"),
				TaxPIN: personal.Of(commands.NormalTaxPIN(typed)),
			},
		}
		want := ""
		if !ok {
			want = "invalid_input"
		}
		if err := register.Validate(); failure.CodeOf(err) != want {
			t.Errorf("%q: %v", typed, err)
		}
	}
}
