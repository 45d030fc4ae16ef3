package messagingcases

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
)

func TestOpens_WithinTheMessageHoursAndOutsideTheQuietHours(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	day := events.MessageHours{From: 8 * 60, To: 20 * 60}
	quiet := func(from, to calendar.TimeOfDay) *events.QuietHours {
		return &events.QuietHours{From: from * 60, To: to * 60}
	}
	for name, c := range map[string]struct {
		at, want string // local; "" = never
		hours    events.MessageHours
		quiet    *events.QuietHours
	}{
		"at once":                        {"2026-03-02 09:30", "2026-03-02 09:30", day, nil},
		"in the morning":                 {"2026-03-02 03:00", "2026-03-02 08:00", day, nil},
		"the end is not within":          {"2026-03-02 20:00", "2026-03-03 08:00", day, nil},
		"quiet hours over midnight":      {"2026-03-02 06:00", "2026-03-02 09:00", day, quiet(18, 9)},
		"in the evening of quiet hours":  {"2026-03-02 18:30", "2026-03-03 09:00", day, quiet(18, 9)},
		"quiet hours at noon":            {"2026-03-02 12:30", "2026-03-02 14:00", day, quiet(12, 14)},
		"quiet hours that leave nothing": {"2026-03-02 12:30", "", day, quiet(7, 21)},
		"the night of summer time":       {"2026-03-28 21:00", "2026-03-29 08:00", day, nil},
		"an hour that summer time skips": {
			"2026-03-28 21:00", "2026-03-29 03:00", events.MessageHours{From: 2 * 60, To: 5 * 60}, nil,
		},
		"the night of winter time": {"2026-10-24 21:00", "2026-10-25 08:00", day, nil},
		"the whole day":            {"2026-03-02 00:30", "2026-03-02 00:30", events.MessageHours{To: 24 * 60}, nil},
	} {
		at, err := time.ParseInLocation("2006-01-02 15:04", c.at, zone)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if o := opens(at, zone, c.hours, c.quiet); !o.IsZero() {
			got = o.In(zone).Format("2006-01-02 15:04")
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestTemplates_FitIntoOneTextAndABrokenOneIsFound(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"org": "Twenty Letters Fibre", "amount": "KES 12500.00", "account": "10000016", "due": "28 Feb 2026",
		"plan": "Home 20", "shortcode": "4001234", "link": "https://twenty.lastmile.example/pay",
		"portal": "https://twenty-letters.lastmile.example/portal/",
		"pay":    "Paybill 4001234 or https://twenty.lastmile.example/pay",
		"used":   "999.9 GB", "allowed": "100.0 GB", "resets": "28 Feb 2026 00:00", "then": "is slower",
		"number": "TWENTY-0012345", "control": "KRACU0400012345-001234", "verification": "https://tax.example/verify",
		"since": "28 Feb 23:59", "what": "A title of forty letters, at the longest",
	}
	values["otp"], values["host"] = "482916", "twenty-letters.lastmile.example"
	values["code"], values["until"] = "SJK4H7L2P9", "Paid until 28 Feb 2026 23:59."
	values["rest"] = "KES 12500.00 stays on your account."
	for _, language := range events.Languages() {
		usual := UsualTemplates(language)
		for _, name := range events.Templates() {
			texts := usual[name]
			_, text, err := render(texts, events.ChannelSMS, values)
			if name.HasCode() {
				text += "\n\n@twenty-letters.lastmile.example #482916"
			}
			if err != nil || len(text) == 0 || len(text) > 160 {
				t.Errorf("%s: %d characters, %v: %s", name, len(text), err, text)
			}
			subject, body, err := render(texts, events.ChannelEmail, values)
			if err != nil || subject == "" || body == "" {
				t.Errorf("%s: %q %q, %v", name, subject, body, err)
			}
			if err := commands.CheckMessageTexts(name, texts); err != nil {
				t.Errorf("%s in %s: %v", name, language, err)
			}
		}
		if len(usual) != len(events.Templates()) || phrases[language] == (phrasing{}) {
			t.Errorf("%s has %d texts, and %+v", language, len(usual), phrases[language])
		}
	}
	if _, _, err := render(events.MessageTexts{SMS: "{amont} is due"}, events.ChannelSMS, values); err == nil {
		t.Error("a word without a value was accepted")
	}
}
