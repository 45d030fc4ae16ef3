package commands_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// TestCheckMessageTexts_ACodeStandsAloneAndBesideNoAddress: who previews a message opens what looks like a link in it.
func TestCheckMessageTexts_ACodeStandsAloneAndBesideNoAddress(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"{org}: your code is {otp}. It is valid for 5 minutes.": true,
		"{otp} is your code for {host}.":                        true,
		"Msimbo wako:\n{otp}\nHatukuombi kamwe, hadi 5.30!":     true,
		"(#{otp})": true,
		"Your invoice: https://evil.example/i/{otp}": false,
		"Open evil.example/{otp}":                    false,
		"Open {host}/{otp}":                          false,
		"{otp}.evil.example":                         false,
		"{otp}{host}":                                false,
		"{org}{otp}":                                 false,
		"Type {otp} at www.evil":                     false,
		"Type {otp} at evil.example, now":            false,
		"Type {otp} at evil。example":                 false,
		"Type {otp} at {host}.evil":                  false,
		"Type {otp} at 192.0.2.1/x":                  false,
		"Type {otp} at javascript://x":               false,
	} {
		for _, of := range []events.MessageTemplate{events.CodeToSignIn, events.CodeOfAddress} {
			for name, texts := range map[string]events.MessageTexts{
				"sms":    {SMS: text, Subject: "Your code", Text: "{otp}"},
				"e-mail": {SMS: "{otp}", Subject: "Your code", Text: text},
			} {
				if err := commands.CheckMessageTexts(of, texts); (err == nil) != ok {
					t.Errorf("%s of %s, %q: %v", name, of, text, err)
				}
			}
		}
	}
}
