package commands_test

import (
	"strings"
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

// TestSecondPhone_IsAnotherPhone: it has the form of the first, and messages go to it only where there is one.
func TestSecondPhone_IsAnotherPhone(t *testing.T) {
	t.Parallel()
	const first = "+254712345678"
	for name, c := range map[string]struct {
		second  string
		message bool
		field   string
	}{
		"none": {}, "another": {second: "+254733000111"}, "abroad, messages": {"+447123456789", true, ""},
		"no phone": {second: "x", field: "secondPhone"}, "as typed": {second: "0733000111", field: "secondPhone"},
		"the first": {second: first, field: "secondPhone"}, "messages to none": {message: true, field: "messageSecond"},
	} {
		err := commands.CorrectSubscriberDetails{Details: events.SubscriberDetails{
			FirstName: personal.Of("Amina"), Phone: personal.Of(first), SecondPhone: personal.Of(c.second),
			MessageSecond: c.message,
		}}.Validate()
		if (err == nil) != (c.field == "") || err != nil && !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
