package documentscases

import (
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// figure writes an amount without its currency, with commas between the thousands: "1,740.00".
func figure(a money.Amount) string {
	digits, fraction, has := strings.Cut(a.Decimal(), ".")
	digits, negative := strings.CutPrefix(digits, "-")
	var out strings.Builder
	if negative {
		out.WriteByte('-')
	}
	for i, r := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(r)
	}
	if has {
		out.WriteString("." + fraction)
	}
	return out.String()
}

// amount writes an amount with its currency: "KES 1,740.00".
func amount(a money.Amount) string { return string(a.Currency) + " " + figure(a) }

// day writes a date: "3 March 2026"; "" for none.
func day(d calendar.Date) string {
	if d.IsZero() {
		return ""
	}
	return d.Start(time.UTC).Format("2 January 2006")
}

// dayText writes a date of a read model, YYYY-MM-DD; "" for none.
func dayText(text string) string {
	d, err := calendar.ParseDate(text)
	if err != nil {
		return ""
	}
	return day(d)
}

// dayOf writes the date of an instant in the zone of the document; "" for none.
func (f frame) dayOf(at *time.Time) string {
	if at == nil {
		return ""
	}
	return day(calendar.On(*at, f.zone))
}

// momentOf writes an instant in the zone of the document: "3 March 2026, 00:30".
func (f frame) momentOf(at time.Time) string { return at.In(f.zone).Format("2 January 2006, 15:04") }

// percent writes a rate in basis points: "16 %", "7.5 %".
func percent(basisPoints int64) string { return money.Percent(basisPoints) + " %" }

// span writes a time by its days, the last one included, or by its moments when it is shorter than a day.
func (f frame) span(from, to time.Time) string {
	if to.Sub(from) < 24*time.Hour {
		return f.momentOf(from) + " to " + f.momentOf(to)
	}
	last := to.Add(-time.Second)
	return f.dayOf(&from) + " to " + f.dayOf(&last)
}
