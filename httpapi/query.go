package httpapi

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
)

// maxFilter bounds a query parameter, in bytes.
const maxFilter = 200

// Parameters lists the names of the query parameters that the route takes, in the order of the OpenAPI document.
func (r *Route) Parameters() []string {
	var names []string
	for _, p := range r.Query {
		names = append(names, p.Name)
	}
	if r.Row != nil {
		names = append(names, "limit", "cursor")
	}
	return names
}

// checkParameters refuses a query parameter that the route does not take: a misspelt filter would otherwise be answered
// with the list of everything, as if all of it matched. Addresses that need no sign-in take any parameter, because
// providers, health checks and links in messages add their own. Fails: unknown_parameter.
func (c *Call) checkParameters() error {
	if c.route.Access.Role() == "" {
		return nil
	}
	allowed := c.route.Parameters()
	for _, name := range slices.Sorted(maps.Keys(c.Request.URL.Query())) {
		if slices.Contains(allowed, name) {
			continue
		}
		if len(name) > maxFilter || !utf8.ValidString(name) {
			name = "of this name"
		}
		return failure.NewMalformed("unknown_parameter", "There is no parameter %q here. Allowed: %s.", name,
			cmp.Or(strings.Join(allowed, ", "), "none"))
	}
	return nil
}

// Filters reads query parameters and collects their faults; call Err at the end.
type Filters struct {
	values url.Values
	faults failure.Faults
}

// Filters begins reading the call's query parameters.
func (c *Call) Filters() *Filters {
	f := &Filters{}
	var err error
	if f.values, err = url.ParseQuery(c.Request.URL.RawQuery); err != nil {
		f.faults.Add("query", "is not well formed")
	}
	return f
}

// Add notes a fault of a parameter.
func (f *Filters) Add(name, text string, args ...any) { f.faults.Add(name, text, args...) }

// Err is Invalid with all faults, nil without.
func (f *Filters) Err() error { return f.faults.Err() }

// Text is a parameter without what nobody sees and the spaces around it, "" when it is absent or has a fault.
func (f *Filters) Text(name string) string {
	given := f.values.Get(name)
	text := inputtext.Text(given)
	switch {
	case len(f.values[name]) > 1:
		f.faults.Add(name, "is given twice")
	case len(text) > maxFilter:
		f.faults.Add(name, "is longer than %d bytes", maxFilter)
	case !utf8.ValidString(given) || strings.ContainsRune(given, 0):
		f.faults.Add(name, "is not a valid text")
	default:
		return text
	}
	return ""
}

// OneOf is a parameter that must be one of the words, "" when it is absent or has a fault.
func (f *Filters) OneOf(name string, words ...string) string {
	text := f.Text(name)
	if text != "" && !slices.Contains(words, text) {
		f.faults.Add(name, "must be one of %s", strings.Join(words, ", "))
		return ""
	}
	return text
}

// Bool is a parameter that must be true or false, nil when absent.
func (f *Filters) Bool(name string) *bool {
	text := f.OneOf(name, "true", "false")
	if text == "" {
		return nil
	}
	value := text == "true"
	return &value
}

// Date is a parameter of the form YYYY-MM-DD, the zero date when absent.
func (f *Filters) Date(name string) calendar.Date {
	text := f.Text(name)
	if text == "" {
		return calendar.Date{}
	}
	date, err := calendar.ParseDate(text)
	if err != nil {
		f.faults.Add(name, "must be a date, YYYY-MM-DD")
	}
	return date
}

// Instant is a parameter in RFC 3339, or a date, which means its first moment in a zone; the zero time when absent. The
// result is UTC.
func (f *Filters) Instant(name string, zone *time.Location) time.Time {
	text := f.Text(name)
	if text == "" {
		return time.Time{}
	}
	if date, err := calendar.ParseDate(text); err == nil {
		return f.possible(name, date.Start(zone))
	}
	return f.instant(name, text)
}

// End is like Instant, but a date means its end, which is the first moment of the next one: from D to D is the whole
// day D, as in reports.
func (f *Filters) End(name string, zone *time.Location) time.Time {
	text := f.Text(name)
	if text == "" {
		return time.Time{}
	}
	if date, err := calendar.ParseDate(text); err == nil {
		return f.possible(name, date.AddDays(1).Start(zone))
	}
	return f.instant(name, text)
}

// instant is a text in RFC 3339. The + of an offset may have become a space, which it is in a query that was typed by
// hand.
func (f *Filters) instant(name, text string) time.Time {
	at, err := time.Parse(time.RFC3339, strings.Replace(text, " ", "+", 1))
	if err != nil {
		f.faults.Add(name, "must be a time in RFC 3339, or a date")
		return time.Time{}
	}
	return f.possible(name, at)
}

// possible is an instant in UTC that can be written again, and is not the zero time, which means that none was given.
func (f *Filters) possible(name string, at time.Time) time.Time {
	if at = at.UTC(); !at.After(time.Time{}) || at.Year() > 9999 {
		f.faults.Add(name, "must be a time after the beginning of the year 1 and before the year 10000, in UTC")
		return time.Time{}
	}
	return at
}

// FilterID is a parameter that must be an id, the zero id when absent.
func FilterID[I ~[16]byte](f *Filters, name string) I {
	var none I
	text := f.Text(name)
	if text == "" {
		return none
	}
	v, err := id.Parse[I](text)
	if err != nil || v == none { // the zero id would be no filter at all
		f.faults.Add(name, "must be an id")
	}
	return v
}

// zoned says where days begin and end.
const zoned = "in the organization's zone"

// SpanParams are the parameters from and to of a list, by an instant of its rows. what names the instant.
func SpanParams(what string) []Param {
	return []Param{
		{Name: "from", Type: "date-time", Doc: what + " at or after; a date means its beginning " + zoned},
		{Name: "to", Type: "date-time", Doc: what + " before; a date means its end " + zoned},
	}
}

// Span reads the parameters from and to; zero times without them. The zone is looked up when one is given.
func (f *Filters) Span(zone func() (*time.Location, error)) (from, to time.Time, err error) {
	if !f.values.Has("from") && !f.values.Has("to") {
		return from, to, nil
	}
	in, err := zone()
	if err != nil {
		return from, to, err
	}
	return f.Instant("from", in), f.End("to", in), nil
}
